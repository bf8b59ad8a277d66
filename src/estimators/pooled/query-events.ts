import {
  countGrid, gaussianEvent, symmetricGaussianEvent,
} from '../../privacy/accounting/calibration.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../privacy/accounting/events.js';
import type { ClipBall } from '../../privacy/stages/clip.js';
import { rowsCohort } from './pool.js';

/**
 * The noise of the queries that most pooled estimators ask, each for rho zCDP.
 *
 * Claim. Neighbours: at any time at most one row is in one set and not in the other, and at most
 * one the other way round. Rows z lie in a ball of radius R, in integer multiples of its grid
 * step. Between neighbours
 * - the number of rows changes by at most 1;
 * - the sum of z changes by at most |z - z'| <= 2 R;
 * - the sum of z z^T changes in Frobenius norm by sqrt(|z|^4 + |z'|^4 - 2 (z . z')^2), which is
 *   at most sqrt 2 R^2; factors just above 1 cover the rounding of that number;
 * - a histogram of the rows, one bin for each row, changes by at most sqrt 2 in L2.
 * All of these are exact, and integer multiples of their events' grid steps.
 */

/** sqrt 2, rounded up. */
const sqrt2 = Math.SQRT2 * (1 + 2 ** -50);

/** Noise for a number of rows. @param grid - at most 1, a power of two. */
export function countEvent(
  name: string, rho: number, grid = countGrid(1 / Math.sqrt(2 * rho)),
): GaussianEvent {
  return gaussianEvent({ name, cohort: rowsCohort, dimension: 1, sensitivity: 1, rho, grid });
}

/** Noise for a sum of rows inside the ball. @param grid - the ball's, or a finer one. */
export function sumEvent(
  name: string, dimension: number, ball: ClipBall, rho: number, grid = ball.grid,
): GaussianEvent {
  const sensitivity = 2 * ball.radius;
  return gaussianEvent({ name, cohort: rowsCohort, dimension, sensitivity, rho, grid });
}

/** Noise for a sum of z z^T, row z inside the ball. @param grid - ball.grid^2, or a finer one. */
export function squareEvent(
  name: string, dimension: number, ball: ClipBall, rho: number, grid = ball.grid ** 2,
): SymmetricGaussianEvent {
  const sensitivity = sqrt2 * ball.radius ** 2 * (1 + 2 ** -50);
  return symmetricGaussianEvent({ name, cohort: rowsCohort, dimension, sensitivity, rho, grid });
}

/** Noise for a histogram of rows. @param grid - at most 1, a power of two. */
export function binsEvent(
  name: string, bins: number, rho: number, grid = countGrid(1 / Math.sqrt(rho)),
): GaussianEvent {
  return gaussianEvent({
    name, cohort: rowsCohort, dimension: bins, sensitivity: sqrt2, rho, grid,
  });
}
