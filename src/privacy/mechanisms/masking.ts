import { log2 } from '../../base/elementary.js';
import { cholesky } from '../../numerics/cholesky.js';
import type { RandomBits } from '../../random/bits.js';
import { normalDouble } from '../../random/samplers/normal.js';
import type { AffineMaskEvent, WishartMaskEvent } from '../accounting/events.js';

/** Bits kept of a published entry, relative to the diagonal entries of its row and column. */
const significantBits = 24;

/**
 * Draws a mask of a symmetric positive definite matrix. accounting/masking states the claim.
 *
 * Why the code meets the claim: the root of the matrix is its Cholesky factor L. The laws of L W
 * L^T, with W Wishart, and of L (I + h G)(I + h G)^T L^T depend on L L^T alone. Rounding to 24 bits
 * is a function of the drawn matrix, so it is post-processing.
 * The gap: the claim is for real numbers, but the normal numbers and products here are doubles.
 * Rounding hides the digits in which the two differ. That is a precaution and not a proof. Masks
 * are the only mechanisms with this gap.
 * Every input has an answer: a matrix that is not positive definite counts as the identity matrix.
 */
export function drawMask(
  bits: RandomBits, event: WishartMaskEvent | AffineMaskEvent, value: Float64Array,
): Float64Array {
  const { dimension } = event;
  const root = cholesky(value, dimension) ?? unitMatrix(dimension);
  const drawn = new Float64Array(dimension ** 2);
  const vectors = event.kind === 'wishart-mask' ? event.samples : dimension;
  const normal = new Float64Array(dimension);
  const image = new Float64Array(dimension);
  for (let draw = 0; draw < vectors; draw++) {
    // The columns of I + h G, or the draws whose mean is taken.
    for (let j = 0; j < dimension; j++) {
      const noise = normalDouble(bits);
      normal[j] = event.kind === 'wishart-mask'
        ? noise : event.spread * noise + (j === draw ? 1 : 0);
    }
    for (let i = 0; i < dimension; i++) {
      let sum = 0;
      for (let j = 0; j <= i; j++) sum += root[i * dimension + j]! * normal[j]!;
      image[i] = sum;
    }
    for (let i = 0; i < dimension; i++) {
      for (let j = 0; j <= i; j++) drawn[i * dimension + j]! += image[i]! * image[j]!;
    }
  }
  return rounded(drawn, dimension, event.kind === 'wishart-mask' ? event.samples : 1);
}

function unitMatrix(dimension: number): Float64Array {
  return Float64Array.from({ length: dimension ** 2 }, (_, at) =>
    (at % (dimension + 1) === 0 ? 1 : 0));
}

/**
 * The lower triangle over `divisor`, mirrored. Each entry is a multiple of a power of two near its
 * scale.
 */
function rounded(lower: Float64Array, dimension: number, divisor: number): Float64Array {
  const result = new Float64Array(dimension ** 2);
  const exponents = Array.from({ length: dimension }, (_, i) =>
    Math.floor(log2(lower[i * (dimension + 1)]! / divisor) / 2));
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j <= i; j++) {
      const grid = 2 ** (exponents[i]! + exponents[j]! - significantBits);
      const entry = Math.round(lower[i * dimension + j]! / divisor / grid) * grid + 0;
      result[i * dimension + j] = entry;
      result[j * dimension + i] = entry;
    }
  }
  return result;
}
