/**
 * The square root of the matrix of running sums: the lower-triangular Toeplitz matrix C with
 * c_k = binom(2k, k) / 4^k. With a band, c_k is 0 from some k on. Estimators multiply by C, and
 * readers of a log divide by it.
 */

/** The entries of the factor are integer multiples of this; a power of two. */
export const factorStep = 2 ** -20;

/** Limits of running totals. */
export const runningLimits = {
  /** The largest separation, in epochs: ten years of days. */
  separation: 3_653,
  /** Most numbers that a series keeps: entries of an answer times the separation. */
  kept: 2 ** 18,
} as const;

/** The first `entries` entries of C's first column in steps: rounded to whole numbers. */
export function rootColumn(entries: number): Float64Array {
  const column = new Float64Array(entries);
  let exact = 1;
  for (let k = 0; k < entries; k++) {
    column[k] = Math.round(exact / factorStep);
    exact *= (2 * k + 1) / (2 * k + 2);
  }
  return column;
}

/**
 * The first `entries` entries of the first column of L C^-1, in units of 1; L makes running sums.
 * It is lower-triangular Toeplitz like C, and solves C g = (1, 1, ...).
 * Cost: O(entries * band).
 * @param column of C, in steps; entries past its end are 0.
 */
export function runningColumn(column: Float64Array, entries = column.length): Float64Array {
  const running = new Float64Array(entries);
  for (let i = 0; i < entries; i++) {
    let rest = 1 / factorStep;
    for (let k = 1; k <= i && k < column.length; k++) rest -= column[k]! * running[i - k]!;
    running[i] = rest / column[0]!;
  }
  return running;
}
