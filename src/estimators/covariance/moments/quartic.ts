import { utf8 } from '../../../base/bytes.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { normalQuantile } from '../../../numerics/normal.js';
import { seededRandom } from '../../../random/work.js';
import { featureCount, rankOneFeature, symmetricOf } from './features.js';

/** Starts beside the columns and what the eigenvectors suggest. */
const randomStarts = 24;
const eigenStarts = 6;
const steps = 60;
/** Axes whose cosine is larger count as one. */
const sameAxis = 0.7;

/**
 * Axes along which the fourth moments are locally largest, largest first: local maxima over unit v
 * of f^T `fourth` f, f the feature of v v^T, by shifted power iteration from several starts. A
 * function of released numbers; what it misses costs accuracy, never privacy. O(starts * steps *
 * d^4).
 * @param fourth - symmetric p x p, p = d (d + 1) / 2.
 */
export function quarticAxes(
  fourth: Float64Array, dimension: number, count: number,
): readonly Float64Array[] {
  const size = featureCount(dimension);
  const { values, vectors } = ownKernels().eigenSymmetric(fourth, size);
  const shift = Math.max(Math.abs(values[0]!), Math.abs(values.at(-1)!)) / 2;
  const found = startsOf(vectors, dimension).map((start) => climb(fourth, dimension, start, shift));
  found.sort((left, right) => right.height - left.height);
  const axes: Float64Array[] = [];
  for (const { axis } of found) {
    if (axes.length === count) break;
    if (axes.every((other) => Math.abs(inner(axis, other)) < sameAxis)) axes.push(axis);
  }
  return axes;
}

function startsOf(vectors: Float64Array, dimension: number): readonly Float64Array[] {
  const size = featureCount(dimension);
  const columns = Array.from({ length: dimension }, (_, k) =>
    Float64Array.from({ length: dimension }, (__, j) => (j === k ? 1 : 0)));
  const suggested = Array.from({ length: Math.min(eigenStarts, size) }, (_, k) => {
    const matrix =
      symmetricOf(vectors.subarray((size - 1 - k) * size, (size - k) * size), dimension);
    const found = ownKernels().eigenSymmetric(matrix, dimension).vectors;
    return [found.slice(0, dimension), found.slice((dimension - 1) * dimension)];
  });
  // Fixed, so that a release is a function of its noise and rows alone.
  const random = seededRandom(utf8('keelson quartic starts'));
  const others = Array.from({ length: randomStarts }, () =>
    Float64Array.from({ length: dimension }, () => normalQuantile(random.uniform() || 0.5)));
  return [...columns, ...suggested.flat(), ...others];
}

function climb(
  fourth: Float64Array, dimension: number, start: Float64Array, shift: number,
): { readonly axis: Float64Array; readonly height: number } {
  let axis = unit(start);
  for (let step = 0; step < steps; step++) {
    const slope = symmetricOf(times(fourth, rankOneFeature(axis)), dimension);
    const next = unit(times(slope, axis).map((entry, j) => entry + shift * axis[j]!));
    const moved = Math.hypot(...next.map((entry, j) => entry - axis[j]!));
    axis = next;
    if (moved < 1e-6) break;
  }
  const feature = rankOneFeature(axis);
  return { axis, height: inner(feature, times(fourth, feature)) };
}

function unit(vector: Float64Array): Float64Array {
  const length = Math.hypot(...vector) || 1;
  return vector.map((entry) => entry / length);
}

function inner(left: Float64Array, right: Float64Array): number {
  return left.reduce((sum, entry, i) => sum + entry * right[i]!, 0);
}

function times(matrix: Float64Array, vector: Float64Array): Float64Array {
  const size = vector.length;
  const result = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    let sum = 0;
    for (let j = 0; j < size; j++) sum += matrix[i * size + j]! * vector[j]!;
    result[i] = sum;
  }
  return result;
}
