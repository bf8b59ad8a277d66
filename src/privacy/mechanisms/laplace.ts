import type { LaplaceEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * P2, the discrete Laplace mechanism.
 *
 * Claim: values that differ by at most `sensitivity` in L1 after rounding cost pure epsilon = sensitivity / scale.
 * Source: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism).
 * Why: with noise P(z) proportional to exp(-|z| grid / scale) per coordinate, the odds of an output under two shifts
 * differ by at most exp(sum of |shift| / scale), by the triangle inequality. Draws and sums are exact.
 */
export function drawLaplace(draw: Draw, event: LaplaceEvent, value: Float64Array): Float64Array {
  return value.map((entry) => valueOfSteps(addSteps(nearestSteps(entry, event.grid), draw()), event.grid));
}
