import { topEigenpair } from '../numerics/eigen.js';
import type { PointSet } from '../numerics/points.js';
import {
  beginFiltering, endFiltering, keptMoments, keptShareMin, type Filtered, type FilterOptions,
} from './filtering.js';

/** Most passes over the rows. */
const passesMax = 300;
/**
 * An epoch of scores ends when the excess of the variance has fallen to this share of its value at
 * the start.
 */
const epochEnds = 0.5;

/**
 * A filter in many directions at once. Rows are scored by (x - mean)^T U (x - mean). U is the
 * density matrix exp(a sum of (covariance - I)), divided by its trace. It covers all directions in
 * which the variance was too large. Rows lose weight in proportion to their score. The result has
 * the same certificate as `filteredMean`. It takes fewer passes if hostile rows are in many
 * directions, and more if they are in one.
 *
 * A pass takes the rows with the largest scores, until their weights add up to twice the hostile
 * share. It multiplies their weights by 1 - score / (largest score), so the row with the largest
 * score gets weight 0. Hostile rows carry most of the excess among these rows, so hostile weight
 * falls faster than clean weight.
 *
 * Every input has an answer. Deterministic, and rows count by value. O(n d^2 + d^3) per pass, O(n
 * log n) for the scores.
 * Source: Dong, Hopkins and Li (2019), the quantum entropy filter, with soft removal instead of
 * random removal.
 * @throws InvalidParameterError when an option is out of its range.
 */
export function multiplicativeFilter(given: PointSet, options: FilterOptions = {}): Filtered {
  const filtering = beginFiltering(given, options);
  const { count, dimension, kernels, values, weights, allowance } = filtering;
  const scores = new Float64Array(count);
  let excess = new Float64Array(dimension * dimension);
  let first = 0;
  for (let pass = 0; ; pass++) {
    const moments = keptMoments(filtering);
    const { value } = topEigenpair(moments.covariance, dimension);
    const isDone = value <= allowance || moments.total <= keptShareMin * count
      || pass === passesMax;
    if (isDone || count < 3) return endFiltering(filtering, moments, value);
    if (first === 0 || value - 1 <= epochEnds * first) {
      first = value - 1;
      excess = new Float64Array(dimension * dimension);
    }
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j < dimension; j++) {
        excess[i * dimension + j]! +=
          (moments.covariance[i * dimension + j]! - (i === j ? 1 : 0)) / first;
      }
    }
    const density = kernels.exponentialSymmetric(excess, dimension, 'unitTrace');
    kernels.quadraticForms(values, dimension, count, moments.mean, density, scores);
    if (!lowerWeights(scores, weights, 2 * Math.max(filtering.corruption, 1 / count) * count)) {
      return endFiltering(filtering, moments, value);
    }
  }
}

/**
 * Lowers the weights of the rows with the largest scores, about `amount` of weight. Returns false
 * if no weight can be lowered.
 */
function lowerWeights(scores: Float64Array, weights: Float64Array, amount: number): boolean {
  const order = Uint32Array.from(weights.keys()).filter((i) => weights[i]! > 0)
    .sort((left, right) => scores[right]! - scores[left]!);
  const largest = order.length === 0 ? 0 : scores[order[0]!]!;
  if (!(largest > 0)) return false;
  let taken = 0;
  let last = largest;
  for (const i of order) {
    // Rows with equal scores are treated in the same way, in any order.
    if (taken >= amount && scores[i]! < last) break;
    last = scores[i]!;
    taken += weights[i]!;
    weights[i]! *= Math.max(0, 1 - last / largest);
  }
  return true;
}
