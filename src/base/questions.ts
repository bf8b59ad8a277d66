import type { ParameterValues } from './facts.js';

/** A value that a test compares with: a number, true or false, a name of a category, or a text. */
export type TestValue = number | boolean | string;

/**
 * A test of one column of a row. A cell that is absent passes `present: false` and no other test.
 * `in` has 1 to 64 values. `atLeast` and `below` are for numbers.
 */
export type RowTest = { readonly column: string } & (
  | { readonly is: TestValue }
  | { readonly not: TestValue }
  | { readonly in: readonly TestValue[] }
  | { readonly atLeast: number }
  | { readonly below: number }
  | { readonly present: boolean });

/** Splits a question's answer by the values of one to three columns. */
export interface GroupBy {
  readonly columns: readonly string[];
  /** A contributor counts under at most so many keys. */
  readonly groupsMax: number;
  /**
   * The public list of keys where a column is a text: each key has a part for each of `columns`.
   * Absent: all combinations of the columns' public values, or `discover`.
   */
  readonly groups?: readonly (readonly string[])[];
  /** The keys are found among those that contributors send. Then there is no public list. */
  readonly discover?: Discovery;
}

/** How keys are found that nobody listed. */
export interface Discovery {
  /** At most so many keys are shown, those with the largest noisy counts. */
  readonly top: number;
  /** Keys that fewer contributors have are dropped before noise is added. */
  readonly prefilter: number;
  /**
   * So many keys of the newest answer are shown again, whatever their counts are: 1 to `top` - 1.
   * Absent: each release finds its keys anew. See base/remembered-keys.
   */
  readonly remember?: number;
  /**
   * `groups`: the answer is the groups alone, without counts. A person with several keys gives each
   * a smaller weight, so that more keys show. `prefilter` is 1. Absent: each key has its count.
   */
  readonly answer?: 'groups';
}

/** One question of a study. A contribution answers all questions of its study. */
export interface Question {
  /** `a` to `z`, digits and hyphens, at most 32; it begins with a letter. */
  readonly name: string;
  readonly estimator: string;
  readonly parameters: ParameterValues;
  /** The columns that the estimator sees, in its order. Empty: it sees none, and counts people. */
  readonly columns: readonly string[];
  /** A row counts if it passes every test. */
  readonly where: readonly RowTest[];
  readonly by?: GroupBy;
  /** How several rows of a contributor become one. */
  readonly reduce: 'mean' | 'sum' | 'one';
  /** Whole per cent of the study's privacy cost. The parts of a study add up to at most 100. */
  readonly part: number;
}

/** Which answers of a study are totals over epochs. */
export interface RunningFacts {
  /** A contributor may take part in at most one of so many successive epochs: 2 to 3,653. */
  readonly separation: number;
  /** The names of questions of the study, in its order. Absent: all of them. */
  readonly questions?: readonly string[];
}

/** True if the answer to a question is a total over epochs. */
export function isRunningQuestion(running: RunningFacts | undefined, question: string): boolean {
  return running !== undefined && (running.questions?.includes(question) ?? true);
}

/** Limits of questions. */
export const questionLimits = {
  questions: 16,
  nameLength: 32,
  /** Tests of one `where`. */
  tests: 64,
  /** Values of one `in`. */
  values: 64,
  /** Columns of one `by`. */
  byColumns: 3,
  /** Keys of all answers of a study together. */
  keys: 4_096,
  /** Values of an integer column that is in a `by`. */
  integerValues: 1_024,
  /** The largest `prefilter` of discovered keys. */
  prefilter: 1_000,
} as const;

/** The name of the question of a study that lists none. */
export const onlyQuestion = 'answer';
