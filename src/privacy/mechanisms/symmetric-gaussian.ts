import type { SymmetricGaussianEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * Adds noise to a symmetric matrix. The noise is isotropic for the Frobenius product: its variance
 * is sigma^2 on the diagonal and sigma^2 / 2 above it, and it is mirrored below.
 *
 * Claim: if the matrices of neighbours differ by at most `sensitivity` in Frobenius norm, the
 * output costs sensitivity^2 / (2 sigma^2) zCDP.
 * Why the code meets it: the entries i <= j determine the matrix. Independent discrete Gaussians
 * cost the sum of shift^2 / (2 variance) over these entries (Canonne, Kamath, Steinke 2020, theorem
 * 14). A diagonal shift costs a_ii^2 / (2 sigma^2), any other a_ij^2 / sigma^2. The Frobenius norm
 * counts every a_ij with i < j twice, so the sum is exactly ||A||_F^2 / (2 sigma^2). Mirroring is
 * post-processing.
 * Source: Dwork, Talwar, Thakurta and Zhang 2014 (symmetric noise for second moments). Their noise
 * has the variance of the diagonal everywhere.
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
      const entry =
        valueOfSteps(addSteps(nearestSteps(value[i * dimension + j]!, grid), noise), grid);
      noisy[i * dimension + j] = entry;
      noisy[j * dimension + i] = entry;
    }
  }
  return noisy;
}
