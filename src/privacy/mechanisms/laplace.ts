import type { LaplaceEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * The discrete Laplace mechanism.
 *
 * Claim: if the values of neighbours, rounded to the grid, differ by at most `sensitivity` in L1,
 * the output costs pure epsilon = sensitivity / scale.
 * Source: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism).
 * Why the code meets it: each coordinate gets noise with P(z) proportional to exp(-|z| grid /
 * scale). By the triangle inequality, the odds of an output under two shifts differ by a factor of
 * at most exp(sum of |shift| / scale). Draws and sums are exact.
 */
export function drawLaplace(draw: Draw, event: LaplaceEvent, value: Float64Array): Float64Array {
  return value.map((entry) =>
    valueOfSteps(addSteps(nearestSteps(entry, event.grid), draw()), event.grid));
}
