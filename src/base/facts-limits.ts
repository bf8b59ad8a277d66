/**
 * The limits of a study's facts. They have a file of their own, so that a page for contributors
 * loads no other limits.
 */
export const factsLimits = {
  /**
   * The estimators keep d x d matrices. Larger ones would not fit into the memory that we plan for.
   */
  columns: 1_024,
  /** Name of a study or column. */
  nameLength: 64,
  /**
   * Length of a parameter's text in a study: enough for two thousand distributions, and little
   * beside a frame.
   */
  parameterText: 512 * 1024,
  /**
   * The largest size of a number in a row: every integer of 64 bits, with or without sign, is
   * within it. A larger number is refused wherever rows come in, and none is cut. The sum of a
   * contributor's rows, of which there are fewer than 2^53, is finite: it is below 2^117. Nothing
   * else relies on this limit. Estimators clip to bounds of their own, or count in whole steps of
   * them, and hold for all finite numbers.
   */
  valueMax: 2 ** 64,
  /** Nominal contributors per epoch. */
  cohortMax: 10_000_000,
  /** The greatest number of people of an epoch: 16 times the largest cohort. */
  peopleMax: 160_000_000,
  /** The most releases that a budget may be made to last for. */
  budgetReleasesMax: 1_000_000,
  /** Periods of blind tokens that a study's facts list. */
  tokenPeriods: 128,
} as const;

/** `valueMax` in messages. */
export const valueMaxText = '2^64 (1.8e19)';

/** A bound in messages. `valueMax` has too many digits to be read. */
export function boundText(bound: number): string {
  if (Math.abs(bound) !== factsLimits.valueMax) return String(bound);
  return bound < 0 ? '-2^64' : valueMaxText;
}

/** Words of visible characters, with one plain space between two words. */
const words = /^(?![\p{M} ])(?:[^\p{C}\p{Z}\p{DI}\u2800]| (?! |$))+$/u;

/** The rule that `isName` checks, for messages. */
export const nameRule = `a name of 1 to ${factsLimits.nameLength} visible characters in NFC, no id`;

/** True if a text is one line of visible words, not longer than this. People only read it. */
export function isLine(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax && words.test(text) && text.normalize() === text;
}

/**
 * True if a text may name a study, a column or a budget. People type names and compare them by eye.
 * So two names must not look alike because of spaces, invisible characters or another way to write
 * an accent. Terminals print names, so control characters are refused. An id is refused, because a
 * study is found by its name or by its id.
 */
export function isName(text: string): boolean {
  return isLine(text, factsLimits.nameLength)
    && !/^[0-9a-f]{64}$/i.test(text);
}
