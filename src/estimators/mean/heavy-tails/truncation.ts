import { pow } from '../../../base/elementary.js';

/**
 * The assumption about honest rows, for accuracy only: E |x_j - mean_j|^order <= bound^order, in
 * units of spread.
 */
export interface Moment {
  /** At least 2. */
  readonly order: number;
  readonly bound: number;
}

/**
 * Planned distance of a private median from the mean, per column, in moment bounds. An expectation,
 * not a bound: the median of exponential rows is .31 standard deviations from their mean.
 */
export const medianOffset = 0.2;

/**
 * At most how far clipping at `radius` moves a mean, for any distribution of that moment.
 *
 * (t - R)+ <= K t^k / R^(k-1) for all t >= 0 with K = (k-1)^(k-1) / k^k. The two sides touch at
 * t = k R / (k-1). The expectation at t = |x - centre| bounds the length of the mean's move. In d
 * dimensions E |z|^k <= d^(k/2) bound^k, since the k/2 power of a mean is at most the mean of the
 * powers.
 * @param offset - distance of the centre from the mean, per coordinate. The moment around the
 *   centre is larger than around the mean.
 */
export function truncationBias(
  moment: Moment, dimension: number, offset: number, radius: number,
): number {
  return biasFactor(moment, dimension, offset) / pow(radius, moment.order - 1);
}

/**
 * At most this share of rows of that moment is farther than `radius` from the centre, in
 * `dimension` columns together (Markov's inequality).
 */
export function shareBeyond(
  moment: Moment, dimension: number, offset: number, radius: number,
): number {
  const { order } = moment;
  return pow((Math.sqrt(dimension) * aroundOffset(moment, offset)) / radius, order);
}

/**
 * The moment around a point other than the mean. A second one adds the square of the distance. A
 * higher one obeys Minkowski's inequality.
 */
function aroundOffset({ order, bound }: Moment, offset: number): number {
  return order === 2 ? Math.hypot(bound, offset) : bound + offset;
}

function biasFactor(moment: Moment, dimension: number, offset: number): number {
  const { order } = moment;
  const around = aroundOffset(moment, offset);
  return (pow(order - 1, order - 1) / pow(order, order))
    * pow(Math.sqrt(dimension) * around, order);
}

/**
 * The radius at which (noise per unit of radius * R)^2 + bias(R)^2 is least, from public numbers
 * only. Never so small that Gaussian rows would be clipped.
 * @param noise - standard deviation of the whole noise vector for a radius of 1.
 */
export function balancedRadius(
  moment: Moment, dimension: number, offset: number, noise: number,
): number {
  const { order, bound } = moment;
  const factor = biasFactor(moment, dimension, offset);
  const balanced = pow((order - 1) ** 0.5 * factor / noise, 1 / order);
  return Math.max(bound * (Math.sqrt(dimension) + 3), balanced);
}

/**
 * Standard deviation of the median of this many independent, roughly normal numbers of standard
 * deviation 1.
 */
export function medianFactor(groups: number): number {
  return groups === 1 ? 1 : Math.sqrt(Math.PI / (2 * (groups + 0.55)));
}
