import type { NamedPart } from '../../../base/parts.js';
import { gaussianEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { rowsCohort } from '../../pooled/pool.js';
import { mapDesign, type MapDesign } from '../moments/mapped-rows.js';
import { tensorSpace, type TensorSpace } from './tensors.js';

/**
 * The noise of moments of orders 1 to 4, worked out from public numbers.
 *
 * Claim. Rows z in a ball of radius R have |z x ... x z| = |z|^k <= R^k as vectors of their tensor
 * space. Between neighbours sums over rows change
 * - for odd k by at most 2 R^k;
 * - for even k by sqrt(|z|^2k + |z'|^2k - 2 (z . z')^k) <= sqrt 2 R^k, since (z . z')^k >= 0;
 * - and their number by 1.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
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

export interface MomentsDesign extends MapDesign {
  /** Rows farther out in some column are left out; in scales. */
  readonly reach: number;
  /** Radius of rows after the map. */
  readonly radius: number;
  /** Orders 1, 2, 3 and perhaps 4. */
  readonly orders: readonly OrderEvents[];
  readonly events: readonly MechanismEvent[];
}

export interface MomentsOptions {
  readonly facts: StudyFacts;
  readonly order: number;
  readonly condition: number;
  readonly reach: number;
  /** After the map. */
  readonly radius: number;
}

/** Parts of rho. */
const shares = { centre: 0.1, present: 0.02, map: 0.18, orders: 0.7 } as const;
/** How an order's share compares with the others'. */
const orderWeights = [0.05, 0.15, 0.3, 0.5] as const;
const roundingSlack = 1 + 2 ** -14;

/** Null when no number of rounds makes all directions alike. */
export function momentsDesign(options: MomentsOptions): MomentsDesign | null {
  const { facts, condition, reach, radius } = options;
  const map = mapDesign({ facts, corruption: 0, condition, shares });
  if (map === null) return null;
  const orders = orderEvents(options, shareOf(facts.target.rho, shares.orders));
  const events = [...map.mapEvents, ...orders.map(({ sum }) => sum)];
  return { ...map, reach, radius, orders, events };
}

function orderEvents(
  { facts: { dimension }, order, radius }: MomentsOptions, rho: number,
): readonly OrderEvents[] {
  const weights = orderWeights.slice(0, order);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight, i) => {
    const k = i + 1;
    const space = tensorSpace(dimension, k);
    const ball = clipBall(radius ** k, { sums: true });
    const sensitivity = (k % 2 === 1 ? 2 : Math.SQRT2 * roundingSlack) * ball.radius;
    const sum = gaussianEvent({
      name: `order-${k}`, cohort: rowsCohort, dimension: space.indices.length, sensitivity,
      rho: shareOf(rho, weight / all), grid: ball.grid,
    });
    return { space, ball, sum };
  });
}

/**
 * Of all that is answered together, for Gaussian rows of covariance I. Third and fourth moments
 * have E |H_k|^2 and E |z|^2k - |E z x ...|^2 as sampling variances, and each column's skewness and
 * excess add what theirs are. A share c of rows within reach moves an average of z x z x z x z by c
 * times the radius to the fourth power.
 */
export function momentsErrorOf(
  { facts: { dimension: d, cohort }, orders, radius }: MomentsDesign, promise: number,
): (share: number) => ExpectedError {
  const variances = [d * (d + 1) * (d + 2) + 6 * d];
  if (orders.length > 3) {
    variances.push(d * (d + 2) * (d + 4) * (d + 6) - 3 * d * (d + 2) + 24 * d);
  }
  const noises = orders.slice(2).map(({ sum, space }) =>
    (sum.sigma * Math.sqrt(space.indices.length + d)) / cohort);
  const honest = {
    sampling: Math.sqrt(variances.reduce((sum, entry) => sum + entry, 0) / cohort),
    noise: Math.hypot(...noises),
  };
  return errorUpTo(promise, honest, (share) => share * radius ** orders.length * Math.sqrt(d));
}

/** What the answer is made of. */
export function partsOf(
  { facts: { dimension }, orders }: MomentsDesign, directions: number,
): readonly NamedPart[] {
  const hasFourth = orders.length > 3;
  return [
    { name: 'third', shape: [dimension, dimension, dimension] },
    ...(hasFourth
      ? [{ name: 'fourth', shape: [dimension, dimension, dimension, dimension] }] : []),
    { name: 'skewness', shape: [directions] },
    ...(hasFourth ? [{ name: 'excessKurtosis', shape: [directions] }] : []),
  ];
}
