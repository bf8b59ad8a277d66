import { Arena } from './arena.js';
import { addClipped, clipRows } from './clipping.js';
import type { Kernels, PassOptions, Rows } from './contract.js';
import { eigenSymmetric, exponentialSymmetric, product } from './matrices.js';
import { columnSums, gram } from './passes.js';
import { quadraticForms, scoreBins, squaredNorms, takeBinned } from './scoring.js';

export type {
  Kernels, PassOptions, Rows, ScoreForm, StepBall, SymmetricEigen,
} from './contract.js';

/**
 * A set of kernels with its own memory, which grows to the needs of the largest call. The first set
 * takes some milliseconds.
 */
export function createKernels(): Kernels {
  const arena = new Arena();
  return {
    gram: (...call) => gram(arena, ...call),
    columnSums: (...call) => columnSums(arena, ...call),
    means: (...call) => means(arena, ...call),
    quadraticForms: (rows, dimension, count, centre, matrix, into) =>
      quadraticForms(arena, rows, dimension, count, { centre, matrix }, into),
    scoreBins: (...call) => scoreBins(arena, ...call),
    takeBinned: (...call) => takeBinned(arena, ...call),
    squaredNorms: (...call) => squaredNorms(arena, ...call),
    clipRows: (...call) => clipRows(arena, ...call),
    addClipped: (...call) => addClipped(arena, ...call),
    product: (...call) => product(arena, ...call),
    eigenSymmetric: (...call) => eigenSymmetric(arena, ...call),
    exponentialSymmetric: (matrix, dimension, scaling = 'none') =>
      exponentialSymmetric(arena, matrix, dimension, scaling),
  };
}

let own: Kernels | null = null;

/**
 * The kernels of this thread, for matrices and groups of rows. Made at the first call. Calls do not
 * overlap, and no result shares memory with the kernels.
 */
export function ownKernels(): Kernels {
  return own ??= createKernels();
}

/**
 * A first mean, plus the mean of the differences from it. These are small, so they keep their
 * digits.
 */
function means(
  arena: Arena, rows: Rows, dimension: number, count: number, options: PassOptions,
): Float64Array {
  const { mask, weights, centre = new Float64Array(dimension) } = options;
  let total = 0;
  for (let i = 0; i < count; i++) if (mask?.[i] !== 0) total += weights?.[i] ?? 1;
  const mean = new Float64Array(dimension);
  if (!(total > 0)) return mean;
  for (let pass = 0; pass < 2; pass++) {
    const sums = new Float64Array(dimension);
    columnSums(
      arena, rows, dimension, count,
      { ...options, centre: centre.map((entry, j) => entry + mean[j]!) }, sums,
    );
    for (let j = 0; j < dimension; j++) mean[j]! += sums[j]! / total;
  }
  return mean;
}
