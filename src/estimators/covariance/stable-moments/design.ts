import { pow } from '../../../base/elementary.js';
import type { NamedPart } from '../../../base/parts.js';
import { normalQuantile } from '../../../numerics/normal.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { mapDesign, type MapDesign } from '../moments/mapped-rows.js';
import { binsEvent } from '../../pooled/query-events.js';
import { axisBins, binWidth } from '../../pooled/valleys.js';
import { distanceBins, outerShare, seenReach } from './clusters.js';
import { leastReach, normalPower } from './guard.js';
import { guardDesign, guardRounds, guardShares, type GuardDesign } from './guard-design.js';
import { orderEvent, type OrderEvents } from './order-events.js';

/**
 * The noise of moments of orders 1 to 4, worked out from public numbers.
 *
 * Claim. That of the map (mapped-rows), of the guard (guard-design), of two numbers of rows and of
 * the sum of every order (order-events), composed adaptively.
 * Neighbours. One contributor's row replaced by any other, or by none, or added.
 * Why. A row that is left is pulled in or is not, so the numbers of both kinds change by at most
 * sqrt 2 together (binsEvent).
 */
export interface MomentsDesign extends MapDesign {
  /** Rows farther out in some column are left out; in spreads. */
  readonly reach: number;
  /** Radius of rows after the map. */
  readonly radius: number;
  /** Null when no row is hostile. */
  readonly guard: GuardDesign | null;
  /** Numbers of rows left: as they were, and pulled in. */
  readonly left: GaussianEvent;
  /** Orders 1, 2, 3 and perhaps 4. */
  readonly orders: readonly OrderEvents[];
  readonly events: readonly MechanismEvent[];
}

export interface MomentsOptions {
  readonly facts: StudyFacts;
  /** Corruption that is guarded against; 0: none. */
  readonly corruption: number;
  /** Honest rows' features have at most this many times the deviation of normal ones. */
  readonly tails: number;
  readonly order: number;
  readonly condition: number;
  readonly reach: number;
  /** After the map. */
  readonly radius: number;
}

/** Parts of rho. */
const shares = { centre: 0.1, present: 0.02, map: 0.18, left: 0.01, orders: 0.69 } as const;
/** The part of rho that the guard leaves to the orders. */
const guardedOrders = shares.orders - guardShares.widths
  - guardRounds * (guardShares.fourth + guardShares.histograms + guardShares.distance);
/** How an order's share compares with the others'. */
const orderWeights = [0.05, 0.15, 0.3, 0.5] as const;

/** Null when no number of rounds makes all directions alike. */
export function momentsDesign(options: MomentsOptions): MomentsDesign | null {
  const { facts, corruption, tails, condition, reach, radius } = options;
  const map = mapDesign({ facts, corruption: 0, condition, shares });
  if (map === null) return null;
  const guard = corruption === 0 ? null : guardDesign({ facts, corruption, tails });
  const share = guard === null ? shares.orders : guardedOrders;
  const orders = orderEvents(options, shareOf(facts.target.rho, share));
  const left = binsEvent('left', 2, shareOf(facts.target.rho, shares.left));
  const events = [
    ...map.mapEvents, ...(guard?.events ?? []), left, ...orders.map(({ sum }) => sum),
  ];
  return { ...map, reach, radius, guard, left, orders, events };
}

function orderEvents(
  { facts: { dimension }, order, radius }: MomentsOptions, rho: number,
): readonly OrderEvents[] {
  const weights = orderWeights.slice(0, order);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight, i) => orderEvent({
    name: `order-${i + 1}`, dimension, order: i + 1, radius, rho: shareOf(rho, weight / all),
  }));
}

/**
 * How far out a guard sees normal rows, and what pulling in takes of their mean |z|^4. Where noise
 * is large, that is the better part of the error.
 */
function reachOfNormalRows(
  { rounds }: GuardDesign, dimension: number, cohort: number, radius: number,
): { readonly reached: number; readonly lost: number } {
  const finer = 16;
  const width = binWidth / finer;
  const density = Float64Array.from({ length: distanceBins * finer }, (_, k) => {
    const r = (k + 0.5) * width;
    return pow(r, dimension - 1) * Math.exp(-r * r / 2);
  });
  const whole = density.reduce((sum, entry) => sum + entry, 0);
  const counts = new Float64Array(distanceBins);
  density.forEach((entry, k) => { counts[Math.floor(k / finer)]! += (cohort * entry) / whole; });
  const { sigma } = rounds[0]!.distance;
  const reached = Math.min(
    radius, Math.max(leastReach(dimension), seenReach(counts, sigma)),
  );
  const lost = density.reduce((sum, entry, k) =>
    sum + (entry / whole) * Math.max(0, pow((k + 0.5) * width, 4) - pow(reached, 4)), 0);
  return { reached, lost };
}

/** Standard deviations of noise behind which a share may hide. */
const hiddenBehind = 3;

/** How much wider the middle of normal rows seems when a share of all stands to one side. */
function widening(share: number): number {
  const honest = (1 - outerShare) / (1 - share);
  if (honest >= 1) return Infinity;
  const low = normalQuantile(outerShare / (1 - share));
  return (normalQuantile(honest) - low) / (2 * normalQuantile(1 - outerShare));
}

/**
 * The error of all answers together, for Gaussian rows of covariance I. Third and fourth moments
 * have E |H_k|^2 and E |z|^2k - E |z x ...|^2 as sampling variances, and each column's skewness and
 * excess add what theirs are. A share moves moments along an axis, and with them the skewness or
 * the excess of a column, by what the guard promises, in units that it may have widened. What the
 * histograms along axes do not see is limited by its distance. What the histogram of the distance
 * does not see moves them by its share of the radius to the highest order.
 */
export function momentsErrorOf(
  { facts: { dimension: d, cohort }, orders, radius, guard }: MomentsDesign, promise: number,
): (share: number) => ExpectedError {
  const { reached, lost } = guard === null ? { reached: radius, lost: 0 }
    : reachOfNormalRows(guard, d, cohort, radius);
  const variances = [d * (d + 1) * (d + 2) + 6 * d];
  if (orders.length > 3) {
    variances.push(d * (d + 2) * (d + 4) * (d + 6) - 3 * d * (d + 2) + 24 * d);
  }
  const noises = orders.slice(2).map(({ sum, space }) =>
    (sum.sigma * pow(reached / radius, space.order)
      * Math.sqrt(space.indices.length + d)) / cohort);
  // The part of E |z|^4 that is lost is spread over the tensor evenly in every direction.
  const spread = orders.length > 3 ? 3 / (d * (d + 2)) : 0;
  const honest = {
    sampling: Math.sqrt(variances.reduce((sum, entry) => sum + entry, 0) / cohort),
    noise: Math.hypot(...noises, lost * Math.sqrt(spread + d * spread ** 2)),
  };
  return errorUpTo(promise, honest, (share) => {
    if (guard === null || share === 0) return 0;
    const round = guard.rounds[0]!;
    const hidden = (sigma: number, bins: number): number =>
      Math.min(share, (hiddenBehind * sigma * Math.sqrt(bins)) / cohort);
    // Along an axis two bins are one, and rows within two deviations need not be seen.
    const behindAxes = hidden(Math.SQRT2 * round.histograms.sigma, axisBins / 2 - 2 / binWidth);
    const promised = orders.slice(2).map(({ space: { order } }) => guard.tails
      * pow(widening(share), order)
      * Math.hypot(
        Math.sqrt((share / (1 - share)) * normalPower(1, order)),
        d === 1 ? 0 : Math.sqrt((behindAxes / (1 - behindAxes)) * normalPower(d, order)),
      ));
    const behindAll =
      hidden(round.distance.sigma, Math.max(1, distanceBins - radius / binWidth));
    return Math.SQRT2 * Math.hypot(...promised, behindAll * pow(radius, orders.length));
  });
}

/** The parts of the answer. */
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
