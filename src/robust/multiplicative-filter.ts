import { topEigenpair } from '../numerics/eigen.js';
import type { PointSet } from '../numerics/points.js';
import {
  beginFiltering, endFiltering, keptMoments, keptShareMin, type Filtered, type FilterOptions,
} from './filtering.js';

/** Passes over the rows at most. */
const passesMax = 300;
/** An epoch of scores ends when the variance has fallen to this share of its excess at the epoch's start. */
const epochEnds = 0.5;

/**
 * A filter in many directions at once: rows are scored by (x - mean)^T U (x - mean), U the density matrix
 * exp(a sum of (covariance - I)) over its trace, which spreads over all directions in which the variance has been too
 * large, and lose weight in proportion to their score. Ends with the same certificate as `filteredMean`; fewer passes
 * when hostile rows stand in many directions, more when they stand in one.
 *
 * A pass takes the rows with the largest scores whose weights make up twice the hostile share, and multiplies their
 * weights by 1 - score / (largest score): the row with the largest score goes. Among these rows hostile ones carry most
 * of the excess, so that hostile weight falls faster than clean weight.
 *
 * Total and deterministic; rows count by value. O(n d^2 + d^3) per pass, O(n log n) for the scores.
 * Source: Dong, Hopkins and Li (2019), the quantum entropy filter, with the removal that is soft rather than random.
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
    const isDone = value <= allowance || moments.total <= keptShareMin * count || pass === passesMax;
    if (isDone || count < 3) return endFiltering(filtering, moments, value);
    if (first === 0 || value - 1 <= epochEnds * first) {
      first = value - 1;
      excess = new Float64Array(dimension * dimension);
    }
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j < dimension; j++) {
        excess[i * dimension + j]! += (moments.covariance[i * dimension + j]! - (i === j ? 1 : 0)) / first;
      }
    }
    const density = kernels.exponentialSymmetric(excess, dimension, 'unitTrace');
    kernels.quadraticForms(values, dimension, count, moments.mean, density, scores);
    if (!lowerWeights(scores, weights, 2 * Math.max(filtering.corruption, 1 / count) * count)) {
      return endFiltering(filtering, moments, value);
    }
  }
}

/** Of the rows with the largest scores and together about `amount` of weight. False when there is nothing to lower. */
function lowerWeights(scores: Float64Array, weights: Float64Array, amount: number): boolean {
  const order = Uint32Array.from(weights.keys()).filter((i) => weights[i]! > 0)
    .sort((left, right) => scores[right]! - scores[left]!);
  const largest = order.length === 0 ? 0 : scores[order[0]!]!;
  if (!(largest > 0)) return false;
  let taken = 0;
  let last = largest;
  for (const i of order) {
    // Rows with equal scores are treated alike, whatever their order.
    if (taken >= amount && scores[i]! < last) break;
    last = scores[i]!;
    taken += weights[i]!;
    weights[i]! *= Math.max(0, 1 - last / largest);
  }
  return true;
}
