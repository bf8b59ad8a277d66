import { topEigenpair } from '../numerics/eigen.js';
import { normalUpperTail } from '../numerics/normal.js';
import type { PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import {
  beginFiltering, endFiltering, keptMoments, keptShareMin, type Filtered, type FilterOptions,
} from './filtering.js';

/** Most directions that are examined. Each takes one pass over the rows. */
const passesMax = 200;
/**
 * A tail is trimmed if it holds this many times as much as a normal tail. The first factor trims
 * where most rows are hostile.
 */
const tailFactors = [3, 1.5, 1.1] as const;

/**
 * The mean of the rows that a spectral filter keeps. It filters until no direction has more
 * variance than clean rows have, which certifies the result. This is the non-private ceiling for
 * the private filters. It also works inside a group of many rows.
 *
 * 1. Remove rows that are too far from the columns' medians to be clean.
 * 2. Take the direction of the largest variance. On each side, find the point beyond which the
 *   number of rows exceeds `factor` times that of a normal tail by most, and trim the tail from
 *   there. With factor f, at least a share 1 - 1/f of the trimmed rows is hostile. So at first
 *   clean rows are removed at most half as fast as hostile ones.
 * 3. Repeat until the largest variance is small, no tail is heavier than normal, or half of the
 *   rows are removed.
 *
 * The error is bounded for every corruption below a half that `corruption` covers. If the tails
 * of clean rows are no heavier than normal ones at `spread`, it is of the order of eta sqrt(log(1 /
 * eta)) + sqrt(d / n) spreads.
 * Every input has an answer: rows with a non-finite entry are left out, and no rows give the zero
 * vector. Deterministic. Rows count by value, so their order affects only the last digits. O(n d^2)
 * per direction.
 *
 * Source: the filter of Diakonikolas, Kamath, Kane, Li, Moitra and Stewart (2017), algorithm 2. The
 * tail test follows theirs, with a normal tail and on each side separately.
 * @throws InvalidParameterError when an option is out of its range.
 */
export function filteredMean(given: PointSet, options: FilterOptions = {}): Filtered {
  const filtering = beginFiltering(given, options);
  const { count, dimension, values, weights } = filtering;
  const projections = new Float64Array(count);
  for (let pass = 0; ; pass++) {
    const moments = keptMoments(filtering);
    const { value, vector } = topEigenpair(moments.covariance, dimension);
    const isDone = value <= filtering.allowance || moments.total <= keptShareMin * count
      || pass === passesMax;
    if (isDone || count < 3) return endFiltering(filtering, moments, value);
    for (let i = 0; i < count; i++) {
      let sum = 0;
      for (let j = 0; j < dimension; j++) sum += values[i * dimension + j]! * vector[j]!;
      projections[i] = sum;
    }
    if (!trimTails(projections, weights)) return endFiltering(filtering, moments, value);
  }
}

/** Sets the weights in tails heavier than normal to 0. Returns false if there are none. */
function trimTails(projections: Float64Array, weights: Float64Array): boolean {
  const kept = projections.filter((_, i) => weights[i]! > 0);
  const middle = median(kept);
  const rightward = kept.map((entry) => entry - middle).sort();
  const leftward = rightward.map((entry) => -entry).reverse();
  for (const factor of tailFactors) {
    const right = tailStart(rightward, factor);
    const left = tailStart(leftward, factor);
    if (right === Infinity && left === Infinity) continue;
    for (let i = 0; i < weights.length; i++) {
      const place = projections[i]! - middle;
      if (place >= right || -place >= left) weights[i] = 0;
    }
    return true;
  }
  return false;
}

/**
 * The start of the tail to trim: the row beyond which the rows exceed `factor` times a normal tail
 * by most; Infinity if they never do. Only the outer half is searched.
 */
function tailStart(sorted: Float64Array, factor: number): number {
  const { length } = sorted;
  let [start, most] = [Infinity, 0];
  for (let i = length - 1; i > length / 2; i--) {
    const place = sorted[i]!;
    if (!(place > 0)) break;
    // Rows at the same place are removed together, so only the first of them counts.
    if (sorted[i - 1] === place) continue;
    const excess = (length - i) / length - factor * normalUpperTail(place);
    if (excess > most) [start, most] = [place, excess];
  }
  return start;
}
