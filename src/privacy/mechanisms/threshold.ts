import type { GaussianThresholdEvent, LaplaceThresholdEvent } from '../accounting/events.js';
import { thresholdSteps } from './bounds.js';
import type { Draw } from './draw.js';
import { addSteps, stepsBelow } from '../accounting/grid.js';

/**
 * P4, propose-test-release: one bit, "is the value at least the floor?", answered yes with certainty only when it is.
 * Later events may then rely on the floor in their sensitivity.
 *
 * Claim: let a later release be (rho2, delta2) between neighbours that both reach the floor. Test and release together
 * cost (epsilon^2 / 2 + rho2, delta + delta2) with truncated Laplace noise, and
 * (sensitivity^2 / (2 sigma^2) + rho2, delta + delta2) with Gaussian noise.
 *
 * Why, v being the value rounded down to the grid, D its sensitivity (counting that rounding), c the floor rounded up:
 * (a) Laplace: a yes needs v + z >= c + A with z <= A, so v >= c. If both neighbours reach the floor, the two steps
 *     compose. If one does not, it never says yes; by (epsilon, delta)-DP the other says yes with probability at most
 *     delta; otherwise both fail alike.
 * (b) Gaussian: a yes needs v + z >= c + D + sigma Phi^-1(1 - delta) + one step. If a neighbour is below the floor,
 *     both have v < c + D, so each says yes with probability at most P(z >= sigma Phi^-1(1 - delta) + one step). A
 *     discrete Gaussian's sum over its tail beyond t + 1 steps is at most the continuous integral beyond t, and its
 *     normaliser is at least the continuous one, hence at most delta. Outside those events both fail, at no cost.
 *     If both reach the floor, the two steps compose. Here a yes does not prove the floor for the one data set at
 *     hand, but it fails to only within the charged delta.
 * Rounding down and comparing in whole steps is exact.
 * Source: Dwork and Lei 2009 (propose-test-release), with bounded noise for (a) and the charged tail of (b).
 */
export function drawThreshold(
  draw: Draw,
  event: LaplaceThresholdEvent | GaussianThresholdEvent,
  value: number,
): boolean {
  return addSteps(stepsBelow(value, event.grid), draw()) >= thresholdSteps(event);
}
