import { assert } from '../../../base/assert.js';
import { weightOf, type Thresholds } from './stability.js';

/**
 * One point per group, in units of spread and on the public grid; `present[i]` is 0 for a group
 * that has no point, which then agrees with no other.
 */
export interface GroupPoints {
  readonly groups: number;
  readonly dimension: number;
  readonly present: Uint8Array;
  readonly values: Float64Array;
}

/**
 * For each group: with how many groups it agrees (distance at most `radius`), itself included. Each
 * pair is measured once, so agreement is symmetric whatever rounding does. O(groups^2 d).
 */
export function agreementCounts(points: GroupPoints, radius: number): Int32Array {
  const { groups, dimension, present, values } = points;
  const counts = new Int32Array(groups).fill(1);
  const limit = radius * radius;
  for (let i = 0; i < groups; i++) {
    if (present[i] === 0) continue;
    const first = i * dimension;
    let agreeing = 0;
    for (let j = 0; j < i; j++) {
      if (present[j] === 0) continue;
      const second = j * dimension;
      let squared = 0;
      for (let c = 0; c < dimension && squared <= limit; c++) {
        const gap = values[first + c]! - values[second + c]!;
        squared += gap * gap;
      }
      if (squared <= limit) {
        agreeing += 1;
        counts[j]! += 1;
      }
    }
    counts[i]! += agreeing;
  }
  return counts;
}

/**
 * Unordered pairs of different groups that agree: a whole number, so the test on it needs no
 * rounding.
 */
export function agreeingPairs(counts: Int32Array): number {
  let ordered = 0;
  for (const count of counts) ordered += count - 1;
  return ordered / 2;
}

/**
 * The average of the points by weight of agreement, on the grid. Every coordinate is within one
 * grid step of the exact average: points are exact multiples of the grid, their differences from a
 * reference point of positive weight are exact and at most 2 radius, a double sum of at most 4,000
 * such terms errs by less than 2^-40 radius (the plan asserts that this is below a quarter of the
 * grid), and the mean difference is rounded to the grid once before it is added back, which is
 * exact.
 *
 * Total: no point of positive weight gives zeros. That happens only where agreement is below the
 * test's floor.
 */
export function weightedAverage(
  points: GroupPoints,
  counts: Int32Array,
  thresholds: Thresholds,
  grid: number,
): Float64Array {
  const { groups, dimension, present, values } = points;
  assert(counts.length === groups, 'every group has a count');
  const sum = new Float64Array(dimension);
  let total = 0;
  let reference = -1;
  for (let i = 0; i < groups; i++) {
    const weight = present[i] === 0 ? 0 : weightOf(counts[i]!, groups, thresholds);
    if (weight === 0) continue;
    if (reference < 0) reference = i * dimension;
    total += weight;
    for (let j = 0; j < dimension;
        j++) sum[j]! += weight * (values[i * dimension + j]! - values[reference + j]!);
  }
  if (reference < 0) return sum;
  return sum.map((entry, j) => values[reference + j]! + Math.round(entry / total / grid) * grid);
}
