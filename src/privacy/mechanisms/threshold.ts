import type { GaussianThresholdEvent } from '../accounting/events.js';
import { thresholdSteps } from './bounds.js';
import type { Draw } from './draw.js';
import { addSteps, stepsBelow } from '../accounting/grid.js';

/**
 * Propose-test-release. It publishes one bit: is the value at least the floor? Later events may
 * then rely on the floor in their sensitivity.
 *
 * Claim: let a later release cost (rho2, delta2) between neighbours that both reach the floor. Test
 * and release together cost (sensitivity^2 / (2 sigma^2) + rho2, delta + delta2).
 *
 * Why. Let v be the value rounded down to the grid, D its sensitivity with that rounding, and c the
 * floor rounded up. A yes needs v + z >= c + D + sigma Phi^-1(1 - delta) + one step. If a neighbour
 * is below the floor, both have v < c + D, so each passes with probability at most P(z >= sigma
 * Phi^-1(1 - delta) + one step). For a discrete Gaussian, the sum over the tail beyond t + 1 steps
 * is at most the continuous integral beyond t, and the normaliser is at least the continuous one.
 * So that probability is at most delta. Outside those events both fail, at no cost. If both reach
 * the floor, the two steps compose. A yes does not prove that the data set at hand reaches the
 * floor, but a false yes has at most the charged delta as its probability.
 * Rounding down and comparing in whole steps is exact.
 * Source: Dwork and Lei 2009 (propose-test-release), with the tail charged.
 */
export function drawThreshold(draw: Draw, event: GaussianThresholdEvent, value: number): boolean {
  return addSteps(stepsBelow(value, event.grid), draw()) >= thresholdSteps(event);
}
