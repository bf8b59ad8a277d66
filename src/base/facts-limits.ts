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

/** What names are made of: no control characters, since they are printed to terminals. */
export const printable = /^[^\p{C}]+$/u;
