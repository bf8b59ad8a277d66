import type { RandomBits } from '../../random/bits.js';
import { gaussianSampler } from '../../random/samplers/discrete-gaussian.js';
import type { GaussianEvent } from '../events.js';
import { addSteps, nearestSteps, squareInSteps, valueOfSteps } from './grid.js';

/**
 * P1, the discrete Gaussian mechanism.
 *
 * Claim: for data sets whose values differ by at most `sensitivity` in L2 after rounding to the grid, the output costs
 * sensitivity^2 / (2 sigma^2) zCDP. No delta.
 * Source: Canonne, Kamath, Steinke 2020, theorem 14 (several coordinates with independent noise; for arbitrary integer
 * shifts).
 * Why the code meets it: every coordinate is a whole number of grid steps before noise; noise is a whole number of
 * steps, drawn independently and exactly with standard deviation sigma / grid; the sum is exact. Turning the sum into
 * a double comes after the noise. The sensitivity of an event counts the rounding where values are off the grid
 * (privacy/calibration).
 */
export function drawGaussian(bits: RandomBits, event: GaussianEvent, value: Float64Array): Float64Array {
  const sample = gaussianSampler(squareInSteps(event.sigma, event.grid));
  return value.map((entry) => valueOfSteps(addSteps(nearestSteps(entry, event.grid), sample(bits)), event.grid));
}
