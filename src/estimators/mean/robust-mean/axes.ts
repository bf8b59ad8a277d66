import { ownKernels } from '../../../numerics/kernels/index.js';

/**
 * The unit axes along which `excess` is largest, above `least`, perpendicular to those in `taken`
 * and to each other; widest first. O(d^3).
 * @param excess - symmetric d x d, released.
 */
export function widestAxes(
  excess: Float64Array, dimension: number, taken: readonly Float64Array[], least: number,
  count: number,
): readonly Float64Array[] {
  const wanted = Math.min(count, dimension - taken.length);
  if (wanted <= 0) return [];
  const left = withoutAxes(excess, dimension, taken);
  const { values, vectors } = ownKernels().eigenSymmetric(left, dimension);
  const axes: Float64Array[] = [];
  // Ascending.
  for (let k = dimension - 1; k >= dimension - wanted && values[k]! > least; k--) {
    axes.push(vectors.slice(k * dimension, (k + 1) * dimension));
  }
  return axes;
}

/** `matrix` on what is perpendicular to the axes, and lower along them than anywhere else. */
function withoutAxes(
  matrix: Float64Array, dimension: number, taken: readonly Float64Array[],
): Float64Array {
  const result = matrix.slice();
  const size = 1 + matrix.reduce((sum, entry) => sum + Math.abs(entry), 0);
  for (const axis of taken) {
    const image = new Float64Array(dimension);
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j < dimension; j++) image[i]! += result[i * dimension + j]! * axis[j]!;
    }
    const along = image.reduce((sum, entry, i) => sum + entry * axis[i]!, 0);
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j < dimension; j++) {
        result[i * dimension + j]! += (along - size) * axis[i]! * axis[j]!
          - image[i]! * axis[j]! - axis[i]! * image[j]!;
      }
    }
  }
  return result;
}
