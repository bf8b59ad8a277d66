import { pow } from '../../../base/elementary.js';
import { gaussianEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import { rowsCohort } from '../../pooled/pool.js';
import { tensorSpace, type TensorSpace } from './tensors.js';

/**
 * The noise of a sum of tensor powers, worked out from public numbers.
 *
 * Claim. Rows z in a ball of radius R have |z x ... x z| = |z|^k <= R^k as vectors of their tensor
 * space. Between neighbours sums over rows change
 * - for odd k by at most 2 R^k;
 * - for even k by sqrt(|z|^2k + |z'|^2k - 2 (z . z')^k) <= sqrt 2 R^k, since (z . z')^k >= 0.
 * Neighbours. One row of those left replaced by any other, or by none, or added.
 * Why. Vectors are rounded toward zero to integer multiples of a grid step, at most 2^-21 of the
 * radius. That leaves their norm within R^k, and makes the inner product of two at least
 * -2^-15 R^2k, which the sensitivity of even orders is raised for. The sums are exact and on their
 * events' grids.
 */
export interface OrderEvents {
  readonly space: TensorSpace;
  readonly ball: ClipBall;
  readonly sum: GaussianEvent;
}

const roundingSlack = 1 + 2 ** -14;

/** @param options.radius - of the rows. */
export function orderEvent({ name, dimension, order, radius, rho }: {
  readonly name: string; readonly dimension: number; readonly order: number;
  readonly radius: number; readonly rho: number;
}): OrderEvents {
  const space = tensorSpace(dimension, order);
  const ball = clipBall(pow(radius, order), { sums: true });
  const sensitivity = (order % 2 === 1 ? 2 : Math.SQRT2 * roundingSlack) * ball.radius;
  const sum = gaussianEvent({
    name, cohort: rowsCohort, dimension: space.indices.length, sensitivity, rho, grid: ball.grid,
  });
  return { space, ball, sum };
}
