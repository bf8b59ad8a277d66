import { ownKernels } from '../../../numerics/kernels/index.js';

/** How flat the dual is taken to be: a step is one part in so many of the gradient. */
const curvature = 22.5;

/**
 * Where an accelerated ascent over positive semidefinite matrices stands. All of it is worked out
 * from releases.
 */
export interface Ascent {
  readonly dimension: number;
  readonly iterate: Float64Array;
  /** Where the next gradient is taken: the iterate, carried on by its last step. */
  readonly ahead: Float64Array;
  readonly momentum: number;
}

/** Starts at the dual 0, at which every row weighs 1. */
export function startOfAscent(dimension: number): Ascent {
  const zeros = new Float64Array(dimension ** 2);
  return { dimension, iterate: zeros, ahead: zeros, momentum: 1 };
}

/**
 * One step along a noisy gradient. The step shrinks where the gradient is steep, so that far rows
 * cannot throw the iterate beyond what all rows bear.
 * @param gradient - per row, d x d: noisy weighted second moments over the bound, minus what is
 *   allowed.
 */
export function ascend(
  { dimension, iterate, ahead, momentum }: Ascent, gradient: Float64Array,
): Ascent {
  const { values } = ownKernels().eigenSymmetric(gradient, dimension);
  const rate = 1 / (curvature * Math.max(1, values.at(-1)!));
  const next = semidefinitePart(ahead.map((entry, i) => entry + rate * gradient[i]!), dimension);
  // Momentum that leads against the gradient has carried too far, and starts anew.
  const along = next.reduce((sum, entry, i) => sum + gradient[i]! * (entry - iterate[i]!), 0);
  const built = along < 0 ? 1 : momentum;
  const later = (1 + Math.sqrt(1 + 4 * built ** 2)) / 2;
  const carried = next.map((entry, i) => entry + ((built - 1) / later) * (entry - iterate[i]!));
  return { dimension, iterate: next, ahead: semidefinitePart(carried, dimension), momentum: later };
}

/** The nearest positive semidefinite matrix in Frobenius norm: negative eigenvalues become 0. */
export function semidefinitePart(matrix: Float64Array, dimension: number): Float64Array {
  const { values, vectors } = ownKernels().eigenSymmetric(matrix, dimension);
  const part = new Float64Array(dimension ** 2);
  for (let k = 0; k < dimension; k++) {
    if (!(values[k]! > 0)) continue;
    for (let i = 0; i < dimension; i++) {
      const left = values[k]! * vectors[k * dimension + i]!;
      for (let j = 0;
          j < dimension; j++) part[i * dimension + j]! += left * vectors[k * dimension + j]!;
    }
  }
  return part;
}
