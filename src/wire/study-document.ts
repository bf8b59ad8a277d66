import type { BudgetRuleName } from '../base/budget-rules.js';
import type { ColumnType } from '../base/columns.js';
import type { ColumnWords } from '../base/study-words.js';
import type { ParameterValues, Participation } from '../base/facts.js';
import { onlyQuestion, type Question } from '../base/questions.js';
import type { TokenPeriods } from '../base/token-periods.js';

/**
 * The public facts of a study, as sent in Welcome. Its id is SHA-256 of this object as canonical
 * JSON, so changed facts are a new version of the study with a new id.
 */
export interface StudyDocument extends SharedFacts {
  /** One or more, in the order of the study file, with different names. */
  readonly questions: readonly Question[];
  readonly contribution: { readonly rowsMax: number };
  /**
   * `short`: the facts have the members of `ShortFacts`. Absent: they list the questions. Only the
   * bytes of facts and releases, and the names of events, depend on it.
   */
  readonly wireForm?: 'short';
}

/** The facts of one question over all columns, as they are written without a list of questions. */
export interface ShortFacts extends SharedFacts {
  readonly estimator: string;
  readonly parameters: ParameterValues;
  readonly contribution: { readonly reduce: Question['reduce']; readonly rowsMax: number };
}

/** The study of facts without a list: its question is named `answer`. */
export function ofShortFacts(
  { estimator, parameters, contribution: { reduce, rowsMax }, ...shared }: ShortFacts,
): StudyDocument {
  const { columns } = shared;
  return {
    ...shared, contribution: { rowsMax }, wireForm: 'short',
    questions: [{
      name: onlyQuestion, estimator, parameters, columns, where: [], reduce, part: 100,
    }],
  };
}

/** The facts of a study besides what it asks. */
export interface SharedFacts {
  /** 2 for a study with typed columns or a list of questions, else 1. */
  readonly version: 1 | 2;
  readonly study: string;
  /** The study's name for people: one line of at most 120 characters. */
  readonly title?: string;
  /** The study's description for people: one line of at most 1,000 characters. */
  readonly description?: string;
  /** Names of the columns, in their order. */
  readonly columns: readonly string[];
  /** Version 2: the type of each column, in the same order. Version 1: absent, all are numbers. */
  readonly types?: readonly ColumnType[];
  /**
   * How pages show each column, in the same order. Version 2 only; absent if no column has words.
   */
  readonly columnWords?: readonly ColumnWords[];
  /** Nominal contributors per epoch. */
  readonly cohort: number;
  /**
   * The most people of an epoch, at least the cohort. Absent: `usualPeopleMax`, which it never is.
   */
  readonly peopleMax?: number;
  readonly participation: Participation;
  /**
   * `everyMs`: epochs close on time. `contributors`: epochs close on a count; public participation
   * only.
   */
  readonly epoch: { readonly everyMs: number } | { readonly contributors: number };
  /** The privacy of each release. */
  readonly privacy: { readonly epsilon: number; readonly delta: number };
  readonly budget: {
    readonly epsilon: number;
    readonly delta: number;
    readonly rule: BudgetRuleName;
    readonly scope: 'study' | 'contributor' | 'population';
    /** Name of the shared budget. Only with scope population. */
    readonly population?: string;
    /** The budget renews: a charge counts for this many milliseconds. Absent: forever. */
    readonly perMs?: number;
    /**
     * The number of releases that the budget must last for: in one window if it renews, of one
     * contributor with contributor scope. Absent: as many as releases of `privacy` allow.
     */
    readonly releases?: number;
  };
  /**
   * The noise of all answers, chosen when the study was made (`withLeastNoise`). Set if and only if
   * a budget that keeps two sums states its releases. `laplace` stands for all pure noise.
   */
  readonly noise?: 'laplace' | 'gaussian';
  /**
   * The people who may contribute.
   * - `contributorKeys`: SHA-256 (hex) of the sorted enrolled keys. It fixes the list without
   *   publishing it.
   * - `enrolment`: everybody with a token for their key, signed by the issuer (Ed25519 public key,
   *   hex).
   * - `tokens`: everybody with a blind token for their key, from the issuer of this name.
   * - `rate`: anybody, but at most `contributorKeys` new keys in each `perMs`; public participation
   *   only.
   */
  readonly admission:
    | { readonly kind: 'open' }
    | { readonly kind: 'contributorKeys'; readonly digest: string }
    | { readonly kind: 'enrolment'; readonly issuer: string }
    | ({ readonly kind: 'tokens'; readonly issuer: string } & TokenPeriods)
    | { readonly kind: 'rate'; readonly contributorKeys: number; readonly perMs: number };
  readonly late: 'next' | 'drop';
  /**
   * `release`: rows are deleted once the release is stored. `duration`: they are kept this long
   * after it.
   */
  readonly retention: { readonly kind: 'release' }
    | { readonly kind: 'duration'; readonly keepMs: number };
  /**
   * Keys may be excluded from later epochs if the mean of their own rows in an epoch is farther
   * than `beyond` from a published answer. The distance is in the study's spreads, or in the
   * columns' units if it has none. Absent: nobody is excluded.
   * `automatic`: every such key is excluded when its epoch is released. Otherwise only those that
   * the operator measures.
   */
  readonly quarantine?: { readonly beyond: number; readonly automatic?: true };
  /**
   * Answers that are totals over epochs. A contributor is refused in the `separation` - 1 epochs
   * after one that it was in, and the server keeps the exact values of that many epochs, sealed.
   * Contributor scope and secret participation only. Absent: each answer is about one epoch.
   */
  readonly running?: { readonly separation: number; readonly questions?: readonly string[] };
  /**
   * The rows are sealed: three servers hold shares of them, and no single one sees a row. Budget
   * scope `study`, `late: drop`. Absent: the server reads rows.
   */
  readonly sealed?: SealedFacts;
}

/** One of the three servers of a sealed study. */
export interface SealedServer {
  readonly name: string;
  /** Where the other servers reach it: wss, or ws on the machine itself. */
  readonly url: string;
  /** Its Ed25519 key: 64 digits of lower-case hex. */
  readonly key: string;
}

/** How the rows of a study are sealed, and for which three servers. */
export interface SealedFacts {
  /**
   * Against whom the rows are protected. `reading`: anyone who reads all that one server holds and
   * receives. It is no promise against two servers together, nor against changed code.
   */
  readonly against: 'reading';
  /** Bits of a value on its grid, 8 to 20. */
  readonly bits: number;
  /**
   * Per column: the public range, where an answer needs numbers and not bins. Absent: the types of
   * the columns have it.
   */
  readonly range?: readonly (readonly [low: number, high: number])[];
  /** The first is the one that contributors and readers connect to. */
  readonly servers: readonly [SealedServer, SealedServer, SealedServer];
  /** How long after its close an epoch waits for all three servers. Then it lapses. */
  readonly patienceMs: number;
  /**
   * Only in facts that an earlier version made, from 0 to 1. Their logs can be read and verified,
   * and no server runs such a study any more.
   */
  readonly unusableMax?: number;
}
