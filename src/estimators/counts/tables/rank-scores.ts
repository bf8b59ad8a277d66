/**
 * Probabilities are rounded to integer multiples of 1 / rankUnit. Ranks times probabilities, and
 * with them scores, are then whole numbers that doubles hold exactly for up to 2^32 contributors.
 */
export const rankUnit = 2 ** 20;

/** Public numbers that turn a value into a cell. */
export interface Cells {
  readonly low: number;
  readonly high: number;
  readonly cells: number;
}

/** Width of a cell, in data units. */
export function cellWidth({ low, high, cells }: Cells): number {
  return (high - low) / cells;
}

/** The cell of a value; values beyond the range count in the cell at its end. */
export function cellOf(value: number, cells: Cells): number {
  const cell = Math.floor((value - cells.low) / cellWidth(cells));
  return Math.min(cells.cells - 1, Math.max(0, cell)) + 0;
}

/** The midpoint of a cell. */
export function midpointOf(cell: number, cells: Cells): number {
  return cells.low + (cell + 0.5) * cellWidth(cells);
}

/**
 * The score of every cell for the quantile at `probability`, times rankUnit: minus the number of
 * contributors who would have to move before the cell holds the quantile.
 *
 * With N present, L of them in lower cells and R in higher ones, a cell holds a p-quantile when
 * L <= p N and R <= (1 - p) N. The score is u = -max(0, L - p N, R - (1 - p) N). Some cell always
 * scores 0.
 *
 * Claim: u changes by at most 1 when one contributor is replaced by anything, or goes, or comes.
 * Why: when one is replaced, N stays and L and R change by at most 1 each. One more or less changes
 * L - p N by p or 1 - p, up or down, and R - (1 - p) N by 1 - p or p: less than 1. Each of the
 * three terms moves by at most 1, hence so does their maximum. When a row only comes or goes, each
 * moves by at most max(p, 1 - p), which is `presenceOfRanks`. N is the number present in this data
 * set. A public number in its place would be no cheaper and would shift every answer when fewer
 * come.
 *
 * Exact: with p = k / rankUnit, rankUnit u = -max(0, rankUnit L - k N, rankUnit R - (rankUnit - k)
 * N). All are whole numbers below 2^53, so rounding adds nothing to the sensitivity, which in these
 * units is rankUnit.
 */
export function rankScores(counts: Float64Array, probability: number): Float64Array {
  const share = Math.round(probability * rankUnit);
  const present = counts.reduce((sum, count) => sum + count, 0);
  let lower = 0;
  return counts.map((count) => {
    const higher = present - lower - count;
    const missing = Math.max(
      0, rankUnit * lower - share * present, rankUnit * higher - (rankUnit - share) * present,
    );
    lower += count;
    return 0 - missing;
  });
}

/**
 * The most that a row which only comes or goes moves the scores of these quantiles by, in shares of
 * their sensitivity. Exact: probabilities are whole multiples of 1 / rankUnit, a power of two.
 */
export function presenceOfRanks(probabilities: readonly number[]): number {
  const shares = probabilities.map((probability) => Math.round(probability * rankUnit));
  return Math.max(...shares.map((share) => Math.max(share, rankUnit - share))) / rankUnit;
}
