import type { Sensitive } from '../../../base/brands.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { RobustRound } from './design.js';

/**
 * Reallocated budget: an event that was planned for a filter round, and was not drawn, carries the
 * sums of the rows that are left instead. What rounds do not need so pays for the mean.
 *
 * Claim. The cost of the event, as planned.
 * Neighbours. As in `design`, so that sums differ by at most 2 R in L2.
 * Why. The sums are integer multiples of the ball's grid step, at most 2 ball.steps of them apart.
 * Take an integer k with 2 ball.steps k grid <= sensitivity, grid and sensitivity the event's own.
 * The sums times k of the event's steps are a vector on the event's grid, within its sensitivity;
 * on the diagonal of a symmetric matrix they are so in Frobenius norm. Which events are drawn for
 * what is a function of what was released before, and the costs of all are charged: adaptive
 * composition.
 */

/** Sums of the rows left, with noise. */
export interface NoisySums {
  /** In spreads. */
  readonly sums: Float64Array;
  /** Standard deviation of the noise in each of them. */
  readonly sigma: number;
}

/** Events of a round that sums fit into; its count is too short for them. */
export function reallocatable(
  { sum, square, distance, histograms }: RobustRound,
): readonly (GaussianEvent | SymmetricGaussianEvent)[] {
  return [sum, square, ...(distance === null ? [] : [distance]), ...histograms];
}

/** Where an event holds sums, and what they are multiplied by. */
export interface Placement {
  /** The value in the event of one step of the ball's grid. */
  readonly unit: number;
  /** Entries of the event's value: of a vector, or of a matrix in rows. */
  readonly entries: number;
  /** Sum j is entry `stride` j, and all others are 0. */
  readonly stride: number;
}

/** Null when the event is too short or too coarse for the sums. */
export function placementIn(
  event: GaussianEvent | SymmetricGaussianEvent, ball: ClipBall, dimension: number,
): Placement | null {
  const multiple = multipleWithin(event, ball);
  if (multiple < 1 || event.dimension < dimension) return null;
  const unit = multiple * event.grid;
  return event.kind === 'gaussian' ? { unit, entries: event.dimension, stride: 1 }
    : { unit, entries: event.dimension ** 2, stride: event.dimension + 1 };
}

/** The sums that an event was drawn on. @param drawn - all its entries, released. */
export function sumsPlaced(
  { sigma }: Pick<GaussianEvent, 'sigma'>, drawn: Float64Array, { unit, stride }: Placement,
  ball: ClipBall, dimension: number,
): NoisySums {
  const inSpreads = ball.grid / unit;
  return {
    sums: Float64Array.from({ length: dimension }, (_, j) => drawn[j * stride]! * inSpreads),
    sigma: sigma * inSpreads,
  };
}

/**
 * Draws the event on the sums; null when it is too short or too coarse for them, and is not drawn.
 * @param sums - integer multiples of the ball's grid step.
 */
export function drawReallocated(
  event: GaussianEvent | SymmetricGaussianEvent, mechanisms: Mechanisms,
  sums: Sensitive<Float64Array>, ball: ClipBall, dimension: number,
): NoisySums | null {
  const placement = placementIn(event, ball, dimension);
  if (placement === null) return null;
  const { unit, entries, stride } = placement;
  const placed = sums.map((steps) => {
    const value = new Float64Array(entries);
    for (let j = 0; j < dimension; j++) value[j * stride] = steps[j]! * unit;
    return value;
  });
  const drawn = event.kind === 'gaussian'
    ? mechanisms.gaussian(event.name, placed) : mechanisms.symmetricGaussian(event.name, placed);
  return sumsPlaced(event, drawn.value, placement, ball, dimension);
}

/** The largest integer k with 2 ball.steps k grid <= sensitivity; only the division rounds. */
function multipleWithin(
  { sensitivity, grid }: GaussianEvent | SymmetricGaussianEvent, { steps }: ClipBall,
): number {
  const multiple = Math.floor(sensitivity / (2 * steps * grid));
  return 2 * steps * multiple * grid <= sensitivity ? multiple : multiple - 1;
}

/** The mean of all, weighted by how little noise each has; at least one. */
export function combined(all: readonly NoisySums[]): NoisySums {
  const weights = all.map(({ sigma }) => 1 / sigma ** 2);
  const weight = weights.reduce((sum, one) => sum + one, 0);
  const sums = all[0]!.sums.map((_, j) =>
    all.reduce((sum, one, i) => sum + one.sums[j]! * weights[i]!, 0) / weight);
  return { sums, sigma: 1 / Math.sqrt(weight) };
}
