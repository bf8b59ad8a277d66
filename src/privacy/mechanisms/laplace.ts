import type { RandomBits } from '../../random/bits.js';
import { discreteLaplace } from '../../random/samplers/discrete-laplace.js';
import type { LaplaceEvent } from '../events.js';
import { addSteps, nearestSteps, ratioInSteps, valueOfSteps } from './grid.js';

/**
 * P2, the discrete Laplace mechanism.
 *
 * Claim: values that differ by at most `sensitivity` in L1 after rounding cost pure epsilon = sensitivity / scale.
 * Source: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism).
 * Why: with noise P(z) proportional to exp(-|z| grid / scale) per coordinate, the odds of an output under two shifts
 * differ by at most exp(sum of |shift| / scale), by the triangle inequality. Draws and sums are exact.
 */
export function drawLaplace(bits: RandomBits, event: LaplaceEvent, value: Float64Array): Float64Array {
  const scale = ratioInSteps(event.scale, event.grid);
  return value.map((entry) =>
    valueOfSteps(addSteps(nearestSteps(entry, event.grid), discreteLaplace(bits, scale)), event.grid));
}
