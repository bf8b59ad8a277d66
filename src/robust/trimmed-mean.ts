import { InvalidParameterError } from '../base/errors.js';
import { columnOf, finiteRows, type PointSet } from '../numerics/points.js';

/**
 * For each column, the mean without the floor(share * n) smallest and as many largest entries.
 * Breakdown point `share` per column. Equal entries are interchangeable, so the order of the rows
 * does not matter. No rows give the zero vector. O(d n log n).
 *
 * @param share - in [0, 1/2).
 * @throws InvalidParameterError when `share` is outside its range.
 */
export function trimmedMean(given: PointSet, share: number): Float64Array {
  if (!(share >= 0 && share < 0.5)) {
    throw new InvalidParameterError(
      'the share to trim at each end is at least 0 and below 0.5', { share },
    );
  }
  const points = finiteRows(given);
  const { count, dimension } = points;
  if (count === 0) return new Float64Array(dimension);
  const dropped = Math.floor(share * count);
  return Float64Array.from({ length: dimension }, (_, j) => {
    const sorted = columnOf(points, j).sort();
    // Sums differences from the median, so that entries far from zero lose no digits.
    const middle = sorted[count >> 1]!;
    let sum = 0;
    for (let i = dropped; i < count - dropped; i++) sum += sorted[i]! - middle;
    return middle + sum / (count - 2 * dropped);
  });
}
