import { assert } from '../../../base/assert.js';
import { cholesky, choleskyInto } from '../../../numerics/cholesky.js';
import type { Finished } from '../../contract/estimator.js';
import { weightOf, type Thresholds } from '../../mean/populous-mean/stability.js';

/**
 * One covariance per group; `present[i]` is 0 for a group that has none, which then agrees with no
 * other.
 */
export interface GroupMatrices {
  readonly groups: number;
  readonly dimension: number;
  readonly present: Uint8Array;
  /** d x d each, row-major. */
  readonly values: Float64Array;
}

/**
 * A group is singular when a squared pivot of its matrix, scaled to a unit diagonal, is below this.
 * Distances of other matrices are computed within `distanceError` in doubles.
 */
const pivotLeast = 1e-6;
/** Bounds how far rounding moves a distance. */
export const distanceError = 1e-6;

/**
 * The groups' matrices side by side. Whether a group is present is a function of this group alone.
 */
export function gatherMatrices(finished: readonly Finished[], dimension: number): GroupMatrices {
  const groups = finished.length;
  const present = new Uint8Array(groups);
  const values = new Float64Array(groups * dimension ** 2);
  finished.forEach((item, index) => {
    assert(
      item.kind === 'group' && item.statistic.values.length === dimension ** 2,
      'a group reports one matrix',
    );
    const matrix = item.statistic.values;
    if (cholesky(matrix, dimension, pivotLeast) === null) return;
    present[index] = 1;
    values.set(matrix, index * dimension ** 2);
  });
  return { groups, dimension, present, values };
}

/**
 * For each group: with how many groups it agrees, itself included. Two agree when neither is more
 * than e^radius times the other in any direction. This is Thompson's metric, which no linear map of
 * the data changes. Both tests are on differences, so rounding leaves agreement symmetric.
 * O(groups^2 d^3).
 */
export function matrixAgreement(
  { groups, dimension, present, values }: GroupMatrices, radius: number,
): Int32Array {
  const counts = new Int32Array(groups).fill(1);
  const size = dimension ** 2;
  const factor = Math.exp(radius);
  const gap = new Float64Array(size);
  const scratch = new Float64Array(size);
  const isWithin = (larger: number, smaller: number): boolean => {
    for (let at = 0;
        at < size; at++) gap[at] = factor * values[larger + at]! - values[smaller + at]!;
    return choleskyInto(gap, dimension, scratch);
  };
  for (let i = 0; i < groups; i++) {
    if (present[i] === 0) continue;
    for (let j = 0; j < i; j++) {
      if (present[j] === 0 || !isWithin(i * size, j * size) || !isWithin(j * size, i * size)) {
        continue;
      }
      counts[i]! += 1;
      counts[j]! += 1;
    }
  }
  return counts;
}

/**
 * The average of the matrices by weight of agreement. Total: where nothing has weight, which
 * happens only below the test's floor, the unit matrix.
 */
export function averageMatrix(
  { groups, dimension, present, values }: GroupMatrices, counts: Int32Array, thresholds: Thresholds,
): Float64Array {
  const size = dimension ** 2;
  const sum = new Float64Array(size);
  let total = 0;
  for (let i = 0; i < groups; i++) {
    const weight = present[i] === 0 ? 0 : weightOf(counts[i]!, groups, thresholds);
    if (weight === 0) continue;
    total += weight;
    for (let at = 0; at < size; at++) sum[at]! += weight * values[i * size + at]!;
  }
  if (total > 0) return sum.map((entry) => entry / total);
  return sum.map((_, at) => (at % (dimension + 1) === 0 ? 1 : 0));
}
