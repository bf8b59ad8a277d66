import type { SymmetricGaussianEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * A symmetric matrix plus noise that is isotropic for the Frobenius product: variance sigma^2 on the diagonal,
 * sigma^2 / 2 above it, mirrored below.
 *
 * Claim: matrices that differ by at most `sensitivity` in Frobenius norm cost sensitivity^2 / (2 sigma^2) zCDP.
 * Why: the entries i <= j determine the matrix. Independent discrete Gaussians cost the sum of shift^2 / (2 variance)
 * over them (CKS20, theorem 14): diagonal shifts a_ii^2 / (2 sigma^2), the others a_ij^2 / sigma^2. As every a_ij with
 * i < j stands twice in the Frobenius norm, the sum is exactly ||A||_F^2 / (2 sigma^2). Mirroring is post-processing.
 * Source: Dwork, Talwar, Thakurta and Zhang 2014 (symmetric noise for second moments), whose noise has the variance of
 * the diagonal everywhere.
 */
export function drawSymmetricGaussian(
  onDiagonal: Draw,
  offDiagonal: Draw,
  event: SymmetricGaussianEvent,
  value: Float64Array,
): Float64Array {
  const { dimension, grid } = event;
  const noisy = new Float64Array(dimension * dimension);
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      const noise = i === j ? onDiagonal() : offDiagonal();
      const entry = valueOfSteps(addSteps(nearestSteps(value[i * dimension + j]!, grid), noise), grid);
      noisy[i * dimension + j] = entry;
      noisy[j * dimension + i] = entry;
    }
  }
  return noisy;
}
