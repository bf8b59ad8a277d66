import { ln } from '../../../base/elementary.js';
import { cholesky, choleskyInto } from '../../../numerics/cholesky.js';
import { withEigenvalues } from '../../covariance/moments/matrices.js';

/** A component of a mixture of normals in several columns. */
export interface Normal {
  readonly weight: number;
  readonly mean: Float64Array;
  /** The lower triangular root of the covariance, row-major: L of L L^T. */
  readonly root: Float64Array;
}

/** L L^T, exactly symmetric. */
export function covarianceOf({ mean: { length: dimension }, root }: Normal): Float64Array {
  const covariance = new Float64Array(dimension ** 2);
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k <= j; k++) sum += root[i * dimension + k]! * root[j * dimension + k]!;
      covariance[i * dimension + j] = sum;
      covariance[j * dimension + i] = sum;
    }
  }
  return covariance;
}

/**
 * A normal of this covariance; null when it is not positive definite by a clear margin, or not
 * finite.
 */
export function normalOf(
  weight: number, mean: Float64Array, covariance: Float64Array,
): Normal | null {
  const dimension = mean.length;
  const root = new Float64Array(dimension ** 2);
  const isUsable = choleskyInto(covariance, dimension, root, 2 ** -46) && mean.every((entry) =>
    Number.isFinite(entry));
  return isUsable ? { weight, mean, root } : null;
}

/**
 * Writes z = L^-1 (row - mean) at `into[at ..]` and gives its squared length; NaN or Infinity for a
 * row so far out that this is no double.
 */
export function standardise(
  { mean, root }: Normal, row: ArrayLike<number>, offset: number, into: Float64Array, at: number,
): number {
  const dimension = mean.length;
  let squares = 0;
  for (let i = 0; i < dimension; i++) {
    let rest = row[offset + i]! - mean[i]!;
    for (let j = 0; j < i; j++) rest -= root[i * dimension + j]! * into[at + j]!;
    const entry = rest / root[i * dimension + i]!;
    into[at + i] = entry;
    squares += entry * entry;
  }
  return squares;
}

/** log of weight / det(2 pi covariance)^(1/2), to which -|z|^2 / 2 is to be added. */
export function logFactorOf({ weight, mean: { length: dimension }, root }: Normal): number {
  let factor = ln(weight) - 0.5 * dimension * ln(2 * Math.PI);
  for (let i = 0; i < dimension; i++) factor -= ln(root[i * dimension + i]!);
  return factor;
}

/**
 * Component by component the average of mixtures that are steps of one climb; the last one where
 * that has no root.
 */
export function averageOf(steps: readonly (readonly Normal[])[]): readonly Normal[] {
  const share = 1 / steps.length;
  return steps.at(-1)!.map((last, k) => {
    const own = steps.map((step) => step[k]!);
    const sumOf = (lists: readonly Float64Array[]): Float64Array =>
      lists[0]!.map((_, i) => lists.reduce((sum, list) => sum + share * list[i]!, 0));
    const weight = own.reduce((sum, one) => sum + share * one.weight, 0);
    return normalOf(weight, sumOf(own.map(({ mean }) =>
      mean)), sumOf(own.map(covarianceOf))) ?? last;
  });
}

/**
 * The root of L C L^T, where eigenvalues of C below `floor` are raised to it; null when that is not
 * finite.
 */
export function congruentRoot(
  { mean: { length: dimension }, root }: Normal, matrix: Float64Array, floor: number,
): Float64Array | null {
  const held = withEigenvalues(matrix, dimension, (value) => Math.max(floor, value));
  const inner = cholesky(held, dimension);
  if (inner === null) return null;
  const whole = new Float64Array(dimension ** 2);
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j <= i; j++) {
      for (let k = j; k <= i;
          k++) whole[i * dimension + j]! += root[i * dimension + k]! * inner[k * dimension + j]!;
    }
    if (!(whole[i * dimension + i]! > 0 && whole[i * dimension + i]! < Infinity)) return null;
  }
  return whole;
}
