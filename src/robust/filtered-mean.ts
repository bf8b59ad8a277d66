import { topEigenpair } from '../numerics/eigen.js';
import { normalUpperTail } from '../numerics/normal.js';
import type { PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import {
  beginFiltering, endFiltering, keptMoments, keptShareMin, type Filtered, type FilterOptions,
} from './filtering.js';

/** Directions looked along at most; each is one pass over the rows. */
const passesMax = 200;
/** How much more than a normal tail a tail must hold to be cut: first where most that is cut is hostile. */
const tailFactors = [3, 1.5, 1.1] as const;

/**
 * The mean of what a spectral filter leaves, filtered until a certificate holds: no direction has more variance than
 * clean rows have. The non-private ceiling for the private filters, and good inside a group of many rows.
 *
 * 1. Rows too far from the columns' medians to be clean go.
 * 2. Along the direction of the largest variance, each side's tail is cut from the point on where the rows there exceed
 *    `factor` times those that a normal tail would hold by most. With factor f a cut takes at least (1 - 1/f) hostile
 *    ones, so clean rows go no faster than half the rate of hostile ones at first.
 * 3. Until the largest variance is small, no tail is heavier than normal, or half of the rows are gone.
 *
 * Bounded under any hostile share below a half that `corruption` covers; for clean rows with tails no heavier than
 * normal ones at `scale` the error is of the order of eta sqrt(log(1 / eta)) + sqrt(d / n) scales.
 * Total: rows with a non-finite entry are left out; no row gives the zero vector. Deterministic, and rows count by
 * value, so that their order has a say in the last digits only. O(n d^2) per direction.
 *
 * Source: the filter of Diakonikolas, Kamath, Kane, Li, Moitra and Stewart (2017), algorithm 2, whose tail test this
 * follows with a normal tail and on each side by itself.
 * @throws InvalidParameterError when an option is out of its range.
 */
export function filteredMean(given: PointSet, options: FilterOptions = {}): Filtered {
  const filtering = beginFiltering(given, options);
  const { count, dimension, values, weights } = filtering;
  const projections = new Float64Array(count);
  for (let pass = 0; ; pass++) {
    const moments = keptMoments(filtering);
    const { value, vector } = topEigenpair(moments.covariance, dimension);
    const isDone = value <= filtering.allowance || moments.total <= keptShareMin * count || pass === passesMax;
    if (isDone || count < 3) return endFiltering(filtering, moments, value);
    for (let i = 0; i < count; i++) {
      let sum = 0;
      for (let j = 0; j < dimension; j++) sum += values[i * dimension + j]! * vector[j]!;
      projections[i] = sum;
    }
    if (!cutTails(projections, weights)) return endFiltering(filtering, moments, value);
  }
}

/** Sets the weights in tails that are heavier than normal to 0; false when there are none. */
function cutTails(projections: Float64Array, weights: Float64Array): boolean {
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
 * Where the tail that should go begins: the place of a row from which on the rows exceed `factor` times a normal tail
 * by most; Infinity when they never do. Only the outer half is looked at.
 */
function tailStart(sorted: Float64Array, factor: number): number {
  const { length } = sorted;
  let [start, most] = [Infinity, 0];
  for (let i = length - 1; i > length / 2; i--) {
    const place = sorted[i]!;
    if (!(place > 0)) break;
    // Rows at one place go together, so that only the first of them counts.
    if (sorted[i - 1] === place) continue;
    const excess = (length - i) / length - factor * normalUpperTail(place);
    if (excess > most) [start, most] = [place, excess];
  }
  return start;
}
