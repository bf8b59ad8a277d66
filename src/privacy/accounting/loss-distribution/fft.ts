import { log2 } from '../../../base/elementary.js';
import { assert } from '../../../base/assert.js';

/** Complex numbers side by side; both arrays have the same length, a power of two. */
export interface Spectrum {
  readonly real: Float64Array;
  readonly imaginary: Float64Array;
}

/**
 * Bound on the rounding error of one entry of a transform of `size` entries, relative to the sum of
 * the absolute inputs. There are log2(size) levels. At each level a number is added to a product
 * with a rounded factor. The error of that step is below eight units of rounding (2^-53), relative
 * to its inputs.
 */
export function transformError(size: number): number {
  return log2(size) * 2 ** -50;
}

/**
 * The discrete Fourier transform in place, X_k = sum over j of x_j e^(-2 pi i j k / n). With
 * `inverse`, the exponent is positive, and the result is not divided by n. Radix 2, O(n log n).
 * Every factor is computed directly and not from the one before, so errors do not build up.
 */
export function transform({ real, imaginary }: Spectrum, inverse = false): void {
  const size = real.length;
  assert(size === imaginary.length
    && Number.isInteger(log2(size)), 'a transform has a power of two of entries');
  reorder(real, imaginary);
  const cosines =
    Float64Array.from({ length: size / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / size));
  const sign = inverse ? 1 : -1;
  const sines =
    Float64Array.from({ length: size / 2 }, (_, k) => sign * Math.sin((2 * Math.PI * k) / size));
  for (let half = 1; half < size; half *= 2) {
    const stride = size / (2 * half);
    for (let start = 0; start < size; start += 2 * half) {
      for (let k = 0; k < half; k++) {
        const [upper, lower] = [start + k, start + k + half];
        const c = cosines[k * stride]!;
        const s = sines[k * stride]!;
        const a = real[lower]! * c - imaginary[lower]! * s;
        const b = real[lower]! * s + imaginary[lower]! * c;
        real[lower] = real[upper]! - a;
        imaginary[lower] = imaginary[upper]! - b;
        real[upper]! += a;
        imaginary[upper]! += b;
      }
    }
  }
}

/** Swaps each entry with the one at the index with reversed bits. */
function reorder(real: Float64Array, imaginary: Float64Array): void {
  const size = real.length;
  for (let i = 1, j = 0; i < size; i++) {
    let bit = size >> 1;
    for (; (j & bit) !== 0; bit >>= 1) j ^= bit;
    j |= bit;
    if (i >= j) continue;
    [real[i], real[j]] = [real[j]!, real[i]!];
    [imaginary[i], imaginary[j]] = [imaginary[j]!, imaginary[i]!];
  }
}

/**
 * (real + i imaginary)^exponent by repeated squaring, exponent >= 1. The relative error grows in
 * proportion to the exponent.
 */
export function complexPower(
  real: number, imaginary: number, exponent: number,
): readonly [number, number] {
  let [a, b] = [1, 0];
  let [x, y] = [real, imaginary];
  for (let left = exponent; ; left = Math.floor(left / 2)) {
    if (left % 2 === 1) [a, b] = [a * x - b * y, a * y + b * x];
    if (left <= 1) return [a, b];
    [x, y] = [x * x - y * y, 2 * x * y];
  }
}
