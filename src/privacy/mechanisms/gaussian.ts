import type { GaussianEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

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
export function drawGaussian(draw: Draw, event: GaussianEvent, value: Float64Array): Float64Array {
  return value.map((entry) => valueOfSteps(addSteps(nearestSteps(entry, event.grid), draw()), event.grid));
}
