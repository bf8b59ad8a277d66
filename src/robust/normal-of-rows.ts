import { pow } from '../base/elementary.js';
import { chiSquareMedian } from '../numerics/chi-square.js';
import { ownKernels } from '../numerics/kernels/index.js';
import { normalQuantile } from '../numerics/normal.js';
import { columnOf, finiteRows, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';
import { allFinite, diagonal } from '../numerics/vector.js';

/** A robust mean and covariance of rows. The covariance is factor factor^T, row-major. */
export interface RobustNormal {
  readonly mean: Float64Array;
  readonly factor: Float64Array;
  /** In each column the share of rows that are farther out than nine in ten normal ones. */
  readonly beyond: Float64Array;
}

/**
 * The number of rounds is fixed: how soon rows converge depends on them, and the time of a private
 * release must not.
 */
const iterations = 60;
/**
 * With fewer rows per column there is no answer. Tyler's equation needs more than one, and good
 * answers need a few more.
 */
const rowsPerColumn = 4;
/** If a row's length is below this share, its direction is unknown. */
const lengthLeast = 1e-9;
/** If a matrix with trace d has an eigenvalue below this, the rows lie in a plane. */
const planar = 1e-14;

/**
 * Mean and covariance of rows that are mostly Gaussian, from the directions of the rows. The place
 * is the point from which the unit vectors to the rows sum to zero. The shape is the one in which
 * they have the second moments of a sphere (Hettmansperger and Randles 2002, after Tyler 1987). The
 * size makes the median squared length that of a normal distribution.
 *
 * A share h of hostile rows moves the place by about 1.15 h sqrt(d) standard deviations and the
 * shape by about h (d + 2), at any distance. The answer is equivariant under invertible linear maps
 * of the rows, except for the start of the iteration.
 * @returns null if there are fewer than rowsPerColumn rows per column, or if the rows lie in a
 *   plane. Deterministic. O(60 (n d^2 + d^3)).
 */
export function normalOfRows(given: PointSet): RobustNormal | null {
  const points = finiteRows(given);
  const { count, dimension } = points;
  if (count < rowsPerColumn * dimension + 1) return null;
  const mean = Float64Array.from({ length: dimension }, (_, j) => median(columnOf(points, j)));
  const spread = mean.map((middle, j) => scaleOf(columnOf(points, j), middle));
  // Rows without an answer take as long as others.
  let isFlat = !spread.every((entry) => entry > 0 && Number.isFinite(entry));
  if (isFlat) spread.fill(1);
  let map = diagonal(spread.map((entry) => 1 / entry));
  let inverse = diagonal(spread);
  let images = imagesOf(points, map, mean);
  for (let step = 0; step < iterations; step++) {
    const { move, shape } = directionsOf(images, dimension);
    const { values, vectors } = ownKernels().eigenSymmetric(shape, dimension);
    isFlat ||= !(values[0]! > planar);
    const back = ownKernels().product(inverse, move, dimension, dimension, 1);
    for (let j = 0; j < dimension; j++) mean[j]! += back[j]!;
    const power = (exponent: number): Float64Array => {
      const result = new Float64Array(dimension ** 2);
      const weights = values.map((value) => (value > planar ? pow(value, exponent) : 1));
      ownKernels().gram(vectors, dimension, dimension, { weights }, result);
      return result;
    };
    map = ownKernels().product(power(-0.5), map, dimension, dimension, dimension);
    inverse = ownKernels().product(inverse, power(0.5), dimension, dimension, dimension);
    images = imagesOf(points, map, mean);
  }
  if (isFlat) return null;
  const size = Math.sqrt(median(lengthsOf(images, dimension)) / chiSquareMedian(dimension));
  const factor = inverse.map((entry) => entry * size);
  const beyond = beyondOf(points, mean, factor);
  return allFinite(mean) && allFinite(factor) && size > 0 ? { mean, factor, beyond } : null;
}

/** Deviations from the mean that one in ten normal values are beyond. */
const deviationsOfTenth = normalQuantile(0.95);

function beyondOf(
  { count, dimension, values }: PointSet, mean: Float64Array, factor: Float64Array,
): Float64Array {
  return mean.map((middle, j) => {
    const deviation = Math.hypot(...factor.subarray(j * dimension, (j + 1) * dimension));
    let found = 0;
    for (let row = 0; row < count; row++) {
      const isBeyond = Math.abs(values[row * dimension + j]! - middle)
        > deviationsOfTenth * deviation;
      found += isBeyond ? 1 : 0;
    }
    return found / count;
  });
}

/** Rows minus the mean, after the map. */
function imagesOf(
  { count, dimension, values }: PointSet, map: Float64Array, mean: Float64Array,
): Float64Array {
  const columns =
    map.map((_, at) => map[(at % dimension) * dimension + Math.floor(at / dimension)]!);
  const moved = new Float64Array(values.length);
  for (let start = 0; start < values.length; start += dimension) {
    for (let j = 0; j < dimension; j++) moved[start + j] = values[start + j]! - mean[j]!;
  }
  return ownKernels().product(moved, columns, count, dimension, dimension);
}

/** One step: the correction of the place, and d times the mean of outer products of directions. */
function directionsOf(
  images: Float64Array, dimension: number,
): { readonly move: Float64Array; readonly shape: Float64Array } {
  const lengths = lengthsOf(images, dimension);
  const count = lengths.length;
  for (let i = 0; i < count; i++) lengths[i] = Math.sqrt(lengths[i]!);
  const least = Math.max(lengthLeast * median(lengths), Number.MIN_VALUE);
  const squares = new Float64Array(count);
  let total = 0;
  for (let i = 0; i < count; i++) {
    const weight = 1 / Math.max(lengths[i]!, least);
    total += weight;
    lengths[i] = weight;
    squares[i] = (weight ** 2 * dimension) / count;
  }
  for (let i = 0; i < count; i++) lengths[i] = lengths[i]! / total;
  const move = new Float64Array(dimension);
  ownKernels().columnSums(images, dimension, count, { weights: lengths }, move);
  const shape = new Float64Array(dimension ** 2);
  ownKernels().gram(images, dimension, count, { weights: squares }, shape);
  return { move, shape };
}

/** Squared lengths. */
function lengthsOf(images: Float64Array, dimension: number): Float64Array {
  const lengths = new Float64Array(images.length / dimension);
  for (let i = 0; i < lengths.length; i++) {
    let square = 0;
    for (let j = 0; j < dimension; j++) square += images[i * dimension + j]! ** 2;
    lengths[i] = square;
  }
  return lengths;
}

/** Median distance from the median; the mean distance if most entries coincide. */
function scaleOf(column: Float64Array, middle: number): number {
  const distances = column.map((entry) => Math.abs(entry - middle));
  const typical = median(distances);
  return typical > 0
    ? typical : distances.reduce((sum, entry) => sum + entry / distances.length, 0);
}
