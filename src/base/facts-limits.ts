/**
 * The limits of a study's facts: apart from the others, so that a page that contributes carries no more than these.
 */
export const factsLimits = {
  /** The estimators keep d x d matrices; past this they would not fit the machines we plan for. */
  columns: 1_024,
  /** Name of a study or column. */
  nameLength: 64,
  /** A parameter's text in a study: a list of two thousand distributions, and small beside a frame. */
  parameterText: 512 * 1024,
  /** Nominal contributors per epoch. */
  cohortMax: 10_000_000,
} as const;

/** Words of characters that can be seen, one plain space between two of them. */
const words = /^(?![\p{M} ])(?:[^\p{C}\p{Z}\p{DI}\u2800]| (?! |$))+$/u;

/** What `isName` takes, for messages. */
export const nameRule = `a name of 1 to ${factsLimits.nameLength} visible characters in NFC, no id`;

/**
 * Whether a text may name a study, a column or a budget. People type names and compare them by eye, so no two of them look
 * alike because of spaces, characters that cannot be seen, or another way to write an accent; and terminals print them, so
 * they have no control characters. An id is no name, since a study is asked for by either.
 */
export function isName(text: string): boolean {
  return text.length <= factsLimits.nameLength && words.test(text) && text.normalize() === text
    && !/^[0-9a-f]{64}$/i.test(text);
}
