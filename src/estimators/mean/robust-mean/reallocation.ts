import type { Sensitive } from '../../../base/brands.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { LookEvents } from './design.js';

/**
 * What looks did not need pays for the mean: an event that was planned for a look, and was not drawn, carries the sums
 * of the rows that are left instead.
 *
 * Claim: the cost of the event, as planned. Neighbours: as in design, so that sums differ by at most 2 R in L2.
 * Why: the sums are whole steps of the ball's grid, at most 2 ball.steps apart. Times a whole number k of the event's own
 * steps, with 2 ball.steps k grid <= its sensitivity, they are a vector of the event's grid within its sensitivity; on
 * the diagonal of a symmetric matrix, in Frobenius norm. Which events are drawn for what is a function of what was
 * released before, and the costs of all are charged: adaptive composition.
 */

/** Sums of the rows left, with noise. */
export interface NoisySums {
  /** In scales. */
  readonly sums: Float64Array;
  /** Standard deviation of the noise in each of them. */
  readonly sigma: number;
}

/** Events of a look that sums fit into; its count is too short for them. */
export function carriersOf({ sum, square, distance, profiles }: LookEvents): readonly (GaussianEvent | SymmetricGaussianEvent)[] {
  return [sum, square, ...(distance === null ? [] : [distance]), ...profiles];
}

/**
 * Draws the event on the sums; null when it is too short or too coarse for them, and is not drawn.
 * @param sums - whole steps of the ball's grid.
 */
export function carriedBy(
  event: GaussianEvent | SymmetricGaussianEvent, mechanisms: Mechanisms, sums: Sensitive<Float64Array>,
  ball: ClipBall, dimension: number,
): NoisySums | null {
  const times = timesWithin(event, ball);
  if (times < 1 || event.dimension < dimension) return null;
  const unit = times * event.grid;
  const [stride, size] = event.kind === 'gaussian' ? [1, event.dimension] : [event.dimension + 1, event.dimension ** 2];
  const placed = sums.map((whole) => {
    const value = new Float64Array(size);
    for (let j = 0; j < dimension; j++) value[j * stride] = whole[j]! * unit;
    return value;
  });
  const drawn = event.kind === 'gaussian'
    ? mechanisms.gaussian(event.name, placed) : mechanisms.symmetricGaussian(event.name, placed);
  const inScales = ball.grid / unit;
  return {
    sums: Float64Array.from({ length: dimension }, (_, j) => drawn.value[j * stride]! * inScales),
    sigma: event.sigma * inScales,
  };
}

/** The largest whole number k with 2 ball.steps k grid <= sensitivity; all but the division is exact. */
function timesWithin({ sensitivity, grid }: GaussianEvent | SymmetricGaussianEvent, { steps }: ClipBall): number {
  const times = Math.floor(sensitivity / (2 * steps * grid));
  return 2 * steps * times * grid <= sensitivity ? times : times - 1;
}

/** The mean of all, each by how little noise it has; at least one. */
export function combined(all: readonly NoisySums[]): NoisySums {
  const weights = all.map(({ sigma }) => 1 / sigma ** 2);
  const weight = weights.reduce((sum, one) => sum + one, 0);
  const sums = all[0]!.sums.map((_, j) => all.reduce((sum, one, i) => sum + one.sums[j]! * weights[i]!, 0) / weight);
  return { sums, sigma: 1 / Math.sqrt(weight) };
}
