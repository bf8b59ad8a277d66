import type { StudyInput } from '../../server/study-file/study-input.js';

/** The questions that a new study file can ask. */
export const questions = [
  'mean', 'skewed-mean', 'median', 'total', 'share', 'histogram', 'percentile', 'distribution',
  'covariance', 'count-by-group', 'running-total', 'mean-by-group', 'median-by-group',
  'unknown-groups', 'several',
] as const;
export type Question = typeof questions[number];

/** Each question as a sentence. */
export const questionTitles: Readonly<Record<Question, string>> = {
  mean: 'A mean of each column.',
  'skewed-mean': 'A mean of each column, where some honest values are far out on one side.',
  median: 'The median of each column.',
  total: 'The total of each column over all people.',
  share: 'The share of people from some value on.',
  histogram: 'How many people are in each bin of values.',
  percentile: 'Percentiles of a column.',
  distribution: 'How the values of a column are spread, and any quantile of it.',
  covariance: 'How the columns vary together.',
  'count-by-group': 'How many people there are under each name.',
  'running-total': 'How many people there were under each name, in all epochs so far.',
  'mean-by-group': 'The mean of a column for each name.',
  'median-by-group': 'The median of a column for each name.',
  'unknown-groups': 'How many people there are under each name, also of names that nobody listed.',
  several: 'Several questions about the same rows.',
};

/** Questions that make a file with a list of questions, split by the names in a column. */
export const keyedQuestions = [
  'count-by-group', 'running-total', 'mean-by-group', 'median-by-group', 'unknown-groups',
  'several',
] as const;
export type KeyedQuestion = typeof keyedQuestions[number];
/** Questions that make a file with one estimator. */
export type PlainQuestion = Exclude<Question, KeyedQuestion>;

export function isKeyed(question: Question): question is KeyedQuestion {
  return keyedQuestions.some((each) => each === question);
}

/** The questions that three servers answer which see no row. */
export const sealedQuestions: ReadonlySet<Question> =
  new Set<Question>(['mean', 'histogram', 'percentile', 'count-by-group', 'several']);

/** Nearly all honest values lie between these two. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

export type Server = NonNullable<StudyInput['sealed']>['servers'][number];

/** The facts of a study that flags give. The study file checks the rest. */
export interface Facts {
  /** Columns of which a row may have no value. */
  readonly optional: readonly string[];
  /** The three servers of a sealed study; null: the one server reads rows. */
  readonly servers: readonly Server[] | null;
  /** How far a key's rows may be from answers, in spreads; null: nobody is compared. */
  readonly quarantine: number | null;
}

/** The values that a study file is made from. */
export interface Answers extends Facts {
  readonly study: string;
  /** The study's name for people; null where nobody gave one. */
  readonly title: string | null;
  readonly question: Question;
  /**
   * Columns of numbers. Exactly one for share, histogram, percentile, distribution, mean-by-group,
   * median-by-group and several. None for count-by-group, running-total and unknown-groups.
   */
  readonly columns: readonly string[];
  /** The columns that hold names, by all of which an answer is split. */
  readonly by: readonly string[];
  /** The public list of the names in each of them; null where nobody has one. */
  readonly keys: readonly (readonly string[])[] | null;
  /**
   * One for each column; null if they are not known, for a mean, a median, a percentile or a
   * covariance.
   */
  readonly ranges: readonly Range[] | null;
  /** For a share: it counts people whose value is at least this. */
  readonly threshold: number | null;
  readonly cohort: number;
  readonly epsilon: number;
  readonly delta: number;
  /** The epsilon of all releases together. */
  readonly budget: number;
  /** For how many answers the budget must last; null where nobody said so. */
  readonly releases: number | null;
  /** A duration in the form of a study file. */
  readonly every: string;
}

/** The parts of a study file that depend on its questions. */
export interface AskedParts {
  /** The key `columns`, with its comment. */
  readonly columns: string;
  /** The keys from `contribution` on that state the questions. */
  readonly asked: string;
}

/** The columns of numbers, as lines below the key `columns`, each with its range if it has one. */
export function numberColumns({ columns, ranges, optional }: Answers): readonly string[] {
  return columns.map((name, i) => {
    const range = ranges?.[i];
    return `  ${yamlText(name)}: { type: number`
      + (range === undefined ? '' : `, low: ${range.low}, high: ${range.high}`)
      + `${optional.includes(name) ? ', optional: true' : ''} }`;
  });
}

/** Words that YAML would not read as text. */
const reserved = /^(true|false|null|yes|no|on|off|y|n)$/i;

/** A name in YAML: in quotes, unless it is a plain word. */
export function yamlText(name: string): string {
  return /^[a-z_][a-z0-9_-]*$/i.test(name) && !reserved.test(name) ? name : JSON.stringify(name);
}
