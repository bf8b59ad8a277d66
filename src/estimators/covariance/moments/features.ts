import { sharedDoubles } from '../../../numerics/kernels/shards.js';
import type { LeftRows } from '../../pooled/thresholds.js';

/** Entries of a symmetric d x d matrix on and above the diagonal. */
export function featureCount(dimension: number): number {
  return (dimension * (dimension + 1)) / 2;
}

/**
 * The feature of v v^T. A feature is a symmetric matrix as a vector of the same norm: rows of the
 * upper triangle, what is off the diagonal times sqrt 2.
 */
export function rankOneFeature(vector: Float64Array): Float64Array {
  const dimension = vector.length;
  const feature = new Float64Array(featureCount(dimension));
  let at = 0;
  for (let i = 0; i < dimension; i++) {
    for (let j = i;
        j < dimension; j++) feature[at++] = vector[i]! * vector[j]! * (i === j ? 1 : Math.SQRT2);
  }
  return feature;
}

/** The symmetric matrix of a feature. */
export function symmetricOf(feature: Float64Array, dimension: number): Float64Array {
  const matrix = new Float64Array(dimension ** 2);
  let at = 0;
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      const entry = feature[at++]! / (i === j ? 1 : Math.SQRT2);
      matrix[i * dimension + j] = entry;
      matrix[j * dimension + i] = entry;
    }
  }
  return matrix;
}

/**
 * Features of (z z^T - I) / sqrt 2, z the row inside a ball of `radius`: of covariance about I for
 * normal rows of covariance I. Zeros for rows that are not left. n x p.
 */
export function fourthFeatures(
  { count, dimension, steps, alive }: LeftRows, radius: number,
): Float64Array {
  const size = featureCount(dimension);
  const features = sharedDoubles(count * size);
  for (let i = 0; i < count; i++) {
    if (alive[i] === 0) continue;
    const from = i * dimension;
    let square = 0;
    for (let j = 0; j < dimension; j++) square += steps[from + j]! * steps[from + j]!;
    const shrink = Math.min(1, (radius * radius) / square) / Math.SQRT2;
    let at = i * size;
    for (let j = 0; j < dimension; j++) {
      const left = steps[from + j]! * shrink;
      features[at++] = left * steps[from + j]! - Math.SQRT1_2;
      for (let k = j + 1; k < dimension; k++) features[at++] = Math.SQRT2 * left * steps[from + k]!;
    }
  }
  return features;
}

/** A bound on the norm of such features: of z z^T - I with ||z|| at most `radius`, over sqrt 2. */
export function featureRadius(dimension: number, radius: number): number {
  const far = Math.hypot(radius * radius - 1, Math.sqrt(dimension - 1));
  return Math.max(far, Math.sqrt(dimension)) / Math.SQRT2;
}
