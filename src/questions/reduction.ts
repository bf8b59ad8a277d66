import { protocolLimits } from '../base/limits.js';
import type { Question } from '../base/questions.js';
import { columnOf, type SentRows, type StudyColumns } from './columns.js';
import { KeptKeys, keyListOf, keyRanks, type KeyList, type KeyRanks } from './keys.js';
import { rowFilter, type RowFilter } from './where.js';

/** What a contributor's rows need besides their values. */
export interface ContributorSecrets {
  /** The secret for the choice of keys, at least 16 bytes. Asked for at most once a question. */
  keySecret(): Uint8Array;
}

/** A batch of one contributor. */
export interface RankedRows extends SentRows {
  /** One number in [0, 1) for each row: `reduce: one` keeps the row with the smallest. */
  readonly ranks: Float64Array | null;
}

/** A number, clipped so that sums of such numbers stay finite. */
export function clipped(value: number): number {
  return Math.min(Math.max(value, -protocolLimits.coarseBox), protocolLimits.coarseBox);
}

/** What the rows of one key gave. */
interface KeyRows {
  readonly values: Float64Array;
  rows: number;
  /** The rank of the row that `reduce: one` keeps. */
  rank: number;
}

/** One contributor's rows for one question, reduced as they come. */
export class QuestionRows {
  readonly kept: KeptKeys<KeyRows>;
  ranks: KeyRanks | null = null;

  constructor(keysMax: number) {
    this.kept = new KeptKeys(keysMax);
  }
}

/**
 * How a contributor's rows become the rows that a question's estimator sees: `where`, then the
 * split by key, then at most `keysMax` keys, then the reduction within each key.
 *
 * Every step looks at the rows of one contributor alone. So a neighbour, in whom one contributor's
 * rows are replaced by anything, changes the estimator's rows of that contributor only: at most one
 * row, or with `by` at most `keysMax` rows of different keys. `where` comes before the reduction
 * and cannot add rows. This is what plans charge for.
 */
export class QuestionReduction {
  /** The public keys; null where the question is not split. */
  readonly keys: KeyList | null;
  /** Entries of a row that the estimator sees. */
  readonly dimension: number;
  /** Whether rows need ranks. */
  readonly needsRanks: boolean;
  readonly #filter: RowFilter;
  readonly #places: readonly number[];

  /** @throws InvalidParameterError when the question does not fit the columns. */
  constructor(private readonly question: Question, study: StudyColumns) {
    const { where, by, columns, reduce } = question;
    this.#filter = rowFilter(where, study);
    this.#places = columns.map((name) => columnOf(study, name).place);
    this.keys = by === undefined ? null : keyListOf(by, study);
    this.dimension = by === undefined ? Math.max(1, columns.length) : 1 + columns.length;
    this.needsRanks = reduce === 'one';
  }

  empty(): QuestionRows {
    return new QuestionRows(this.question.by?.keysMax ?? 1);
  }

  /** Adds a batch; `columns` is the study's number of them. */
  add(
    into: QuestionRows, sent: RankedRows, columns: number, secrets: ContributorSecrets,
  ): void {
    const places = this.#places;
    for (let row = 0; row < sent.rows; row++) {
      const start = row * columns;
      if (!this.#filter(sent, start) || this.#lacksValue(sent.values, start)) continue;
      const place = this.keys === null ? 0 : this.keys.placeOf(sent, start);
      if (place < 0) continue;
      const held = into.kept.at(
        place, (other) => this.#rankOf(into, other, secrets), () => emptyRows(places.length),
      );
      if (held === undefined) continue;
      held.rows += 1;
      if (!this.needsRanks) {
        places.forEach((from, i) => { held.values[i]! += clipped(sent.values[start + from]!); });
      } else if (sent.ranks![row]! < held.rank) {
        held.rank = sent.ranks![row]!;
        places.forEach((from, i) => { held.values[i] = clipped(sent.values[start + from]!); });
      }
    }
  }

  /** The contributor's rows for the estimator, by their keys' places; none if no row counts. */
  rowsOf({ kept }: QuestionRows): readonly Float64Array[] {
    const isMean = this.question.reduce === 'mean';
    const entries = [...kept.entries()].sort(([left], [right]) => left - right);
    return entries.map(([place, { values, rows }]) => {
      const reduced = isMean ? values.map((sum) => sum / rows) : values;
      if (this.keys === null) return reduced.length === 0 ? new Float64Array(1) : reduced;
      return Float64Array.of(place, ...reduced);
    });
  }

  #lacksValue(values: Float64Array, start: number): boolean {
    return this.#places.some((place) => Number.isNaN(values[start + place]!));
  }

  #rankOf(into: QuestionRows, place: number, secrets: ContributorSecrets): number {
    into.ranks ??= keyRanks(secrets.keySecret(), this.question.by!.columns);
    return into.ranks(this.keys!.names[place]!);
  }
}

function emptyRows(columns: number): KeyRows {
  return { values: new Float64Array(columns), rows: 0, rank: Infinity };
}

/** One contributor's rows for all questions of a study. */
export type Contribution = readonly QuestionRows[];

/** The reductions of all questions of a study. */
export class StudyReduction {
  readonly questions: readonly QuestionReduction[];
  /** Whether batches need ranks of their rows. */
  readonly needsRanks: boolean;
  readonly #columns: number;

  /** @throws InvalidParameterError when a question does not fit the columns. */
  constructor(questions: readonly Question[], study: StudyColumns) {
    this.questions = questions.map((question) => new QuestionReduction(question, study));
    this.needsRanks = this.questions.some((question) => question.needsRanks);
    this.#columns = study.columns.length;
  }

  empty(): Contribution {
    return this.questions.map((question) => question.empty());
  }

  /** Adds one batch of the contributor. Time: rows times questions. */
  add(into: Contribution, sent: RankedRows, secrets: ContributorSecrets): void {
    this.questions.forEach((question, i) => question.add(into[i]!, sent, this.#columns, secrets));
  }

  /** The rows that each question's estimator sees of the contributor. */
  rowsOf(contribution: Contribution): readonly (readonly Float64Array[])[] {
    return this.questions.map((question, i) => question.rowsOf(contribution[i]!));
  }
}
