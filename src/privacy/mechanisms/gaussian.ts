import type { GaussianEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * The discrete Gaussian mechanism.
 *
 * Claim: if the values of neighbours, rounded to the grid, differ by at most `sensitivity` in L2,
 * the output costs sensitivity^2 / (2 sigma^2) zCDP and no delta.
 * Source: Canonne, Kamath, Steinke 2020, theorem 14. It covers several coordinates with independent
 * noise, and arbitrary integer shifts.
 * Why the code meets it: every coordinate is an integer multiple of the grid step before noise. The
 * noise is an integer multiple too, drawn independently and exactly with standard deviation sigma /
 * grid. The sum is exact. It becomes a double only after the noise is added. If values are not on
 * the grid, the event's sensitivity includes the rounding (accounting/calibration).
 */
export function drawGaussian(draw: Draw, event: GaussianEvent, value: Float64Array): Float64Array {
  return value.map((entry) =>
    valueOfSteps(addSteps(nearestSteps(entry, event.grid), draw()), event.grid));
}
