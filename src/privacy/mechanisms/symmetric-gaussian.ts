import type { RandomBits } from '../../random/bits.js';
import { gaussianSampler } from '../../random/samplers/discrete-gaussian.js';
import type { SymmetricGaussianEvent } from '../events.js';
import { addSteps, nearestSteps, squareInSteps, valueOfSteps } from './grid.js';

/**
 * A symmetric matrix plus noise that is isotropic for the Frobenius product: variance sigma^2 on the diagonal,
 * sigma^2 / 2 above it, mirrored below.
 *
 * Claim: matrices that differ by at most `sensitivity` in Frobenius norm cost sensitivity^2 / (2 sigma^2) zCDP.
 * Why: the entries i <= j determine the matrix. Independent discrete Gaussians cost the sum of shift^2 / (2 variance)
 * over them (CKS20, theorem 14): diagonal shifts a_ii^2 / (2 sigma^2), the others a_ij^2 / sigma^2. As every a_ij with
 * i < j stands twice in the Frobenius norm, the sum is exactly ||A||_F^2 / (2 sigma^2). Mirroring is post-processing.
 * sigma^2 / 2 is rational, so its draws are exact although sigma / sqrt 2 is not a double.
 */
export function drawSymmetricGaussian(
  bits: RandomBits,
  event: SymmetricGaussianEvent,
  value: Float64Array,
): Float64Array {
  const { dimension, sigma, grid } = event;
  const onDiagonal = gaussianSampler(squareInSteps(sigma, grid));
  const offDiagonal = gaussianSampler(squareInSteps(sigma, grid, 2n));
  const noisy = new Float64Array(dimension * dimension);
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      const noise = i === j ? onDiagonal(bits) : offDiagonal(bits);
      const entry = valueOfSteps(addSteps(nearestSteps(value[i * dimension + j]!, grid), noise), grid);
      noisy[i * dimension + j] = entry;
      noisy[j * dimension + i] = entry;
    }
  }
  return noisy;
}
