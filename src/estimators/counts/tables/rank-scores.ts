import type { ScoreRuns } from '../../../random/samplers/choice.js';

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

/** Places in order, of which `rankRuns` makes candidates. */
export interface RankedPlaces {
  /** Places are 0 to places - 1. */
  readonly places: number;
  /** How many candidates each place has: they lie side by side. */
  readonly times: number;
  /** The place of a value; -1: below all. It never falls as the value grows. */
  readonly placeOf: (value: number) => number;
  /**
   * True if a value of this place is at it; else it is between this place and the next. Values at a
   * place come before those behind it. Default: all are at their places.
   */
  readonly isAt?: (value: number, place: number) => boolean;
  readonly probability: number;
  /** Aims at so many ranks above the quantile, or below it. A public whole number. Default: 0. */
  readonly offset?: number;
  /** Scores are not below minus this many contributors. Public, a whole number. */
  readonly reach: number;
}

/**
 * Scores as those of `rankScores`, in runs, where each place is a cell of its own: a place that
 * holds people is a run of one cell, and the empty places between two such are one run, since
 * nobody is in them. A score is at least minus `reach`: places farther out are one run on each
 * side.
 *
 * Claim: the score of a place is that of `rankScores` for the numbers of people below it, at it and
 * above it, or -reach if that is more. With an offset h it is that of the rank p N + h: minus the
 * largest of 0, L - p N - h and R - (1 - p) N + h. A public h moves no difference of scores between
 * neighbours. One contributor replaced moves L and R of a place by at most
 * 1 each, and the larger of a score and a public number moves by no more than the score. So the
 * sensitivity is the same, and so is `presenceOfRanks`.
 * Cost: O(reach log people). How many runs there are, of length 0 at the end, is public.
 * @param sorted - the values of the contributors, ascending.
 */
export function rankRuns(
  sorted: Float64Array,
  { places, times, placeOf, isAt, probability, offset = 0, reach }: RankedPlaces,
): ScoreRuns {
  const present = sorted.length;
  const size = 4 * reach + 11;
  const runs = { lengths: new Float64Array(size), scores: new Float64Array(size) };
  const share = Math.round(probability * rankUnit);
  const mostLower = share * present + rankUnit * offset;
  const mostHigher = (rankUnit - share) * present - rankUnit * offset;
  let [run, next] = [0, 0];
  const add = (length: number, lower: number, higher: number): void => {
    const missing = Math.max(0, rankUnit * lower - mostLower, rankUnit * higher - mostHigher);
    runs.lengths[run] = times * length;
    runs.scores[run] = 0 - Math.min(missing, rankUnit * reach);
    run += 1;
  };
  const middle = mostLower / rankUnit;
  // In front of this contributor too many others are behind: all those places are out of reach.
  const first = Math.max(0, Math.floor(middle - reach));
  const firstPlace = first < present ? placeOf(sorted[first]!) : places;
  let lower = firstNot(sorted, 0, (value) => placeOf(value) < firstPlace);
  while (lower < present && lower - middle < reach) {
    const place = placeOf(sorted[lower]!);
    const end = firstNot(sorted, lower, (value) => placeOf(value) <= place);
    if (place >= 0) {
      const at = isAt === undefined ? end
        : firstNot(sorted, lower, (value) => isAt(value, place) && placeOf(value) <= place);
      add(place - next, lower, present - lower);
      add(1, lower, present - at);
      next = place + 1;
    }
    lower = end;
  }
  add(places - next, lower, present - lower);
  return runs;
}

/**
 * The most that a row which only comes or goes moves the scores of these quantiles by, in shares of
 * their sensitivity. Exact: probabilities are whole multiples of 1 / rankUnit, a power of two.
 */
export function presenceOfRanks(probabilities: readonly number[]): number {
  const shares = probabilities.map((probability) => Math.round(probability * rankUnit));
  return Math.max(...shares.map((share) => Math.max(share, rankUnit - share))) / rankUnit;
}

/**
 * The first place from `from` on whose value this no longer holds of; it never holds again.
 * @param sorted - the values, ascending.
 */
export function firstNot(
  sorted: Float64Array, from: number, holds: (value: number) => boolean,
): number {
  let [below, above] = [from - 1, sorted.length];
  while (above - below > 1) {
    const middle = (below + above) >>> 1;
    if (holds(sorted[middle]!)) below = middle;
    else above = middle;
  }
  return above;
}
