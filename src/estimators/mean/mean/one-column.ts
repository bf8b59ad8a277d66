import type { Finding, Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import {
  clippedMeanEvents, privateClippedMeanOn, type ClippedMean, type ClippedMeanEvents,
} from '../../../privacy/stages/clipped-mean.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import type { CentreBounds } from '../../pooled/centre.js';
import { gaussianOutcome } from '../../pooled/centred-mean.js';
import type { CentredPool, PooledDesign } from '../../pooled/estimator.js';
import {
  farCells, farCounts, farRadius, intervalFrom, normalCells, readFarRows, type FarRows,
} from '../../pooled/far-rows.js';
import { clusterSeenFrom, type FarSide } from '../../pooled/far-side.js';
import { rowsCohort } from '../../pooled/pool.js';
import { binsEvent } from '../../pooled/query-events.js';
import { rowsIn } from '../../pooled/radius.js';

/**
 * The mean of one column about a private centre, with an interval that reaches as far on each side
 * as the rows there do (pooled/far-rows).
 *
 * Claim. The cost of `distance` and of the clipped mean.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Why. `distance` is calibrated for every centre, and the clipped mean for every centre and radius.
 * The radius is a function of released counts. What the rows beyond the ball add is taken from the
 * same counts, and the interval is made of released and public numbers alone.
 * Interval. The noise of sum, count and cells; sampling, by the cells' squares; and at each end
 * what rows of this side may add that no cell shows. It assumes that no group of fewer than
 * `clusterSeenFrom` people decides the mean. Below `intervalFrom` people both ends are open, unless
 * public bounds say how far out such a group can be. Then the finding `end-unseen` has the interval
 * of another mean, which needs no assumption: everybody beyond the ball counts as at its edge.
 */

/** Part of the cost of the mean that the histogram of distances takes. */
const distanceShare = 0.5;
/** Part of the rest that the sum takes; the number of rows has the remainder. */
const sumShare = 0.9;
/** The least variance of a row that sampling is reckoned with, in squared spreads. */
const varianceLeast = 0.1;

/** The events that a release draws after the centre. All public. */
export interface OneColumn {
  readonly facts: StudyFacts;
  readonly distance: GaussianEvent;
  /** In units of the radius: its ball has radius 1. */
  readonly clipped: ClippedMeanEvents;
  /** The radius that was given; null: the histogram decides. In spreads. */
  readonly radius: number | null;
  /** Public bounds beside the spread; null: none were given. */
  readonly bounds: CentreBounds | null;
}

/** @param rho - for the histogram and the mean. */
export function oneColumn(
  facts: StudyFacts, rho: number, { radius, bounds }: Pick<OneColumn, 'radius' | 'bounds'>,
): OneColumn {
  return {
    facts, radius, bounds,
    distance: binsEvent('distance', farCells, shareOf(rho, distanceShare)),
    clipped: clippedMeanEvents({
      cohort: rowsCohort, dimension: 1, radius: 1, rho: shareOf(rho, 1 - distanceShare), sumShare,
    }),
  };
}

/**
 * Adds findings to those of the interval, from released numbers: the mean in spreads from the
 * centre, its noise, the noisy number of rows, and the radius.
 */
export type MoreFindings = (released: {
  readonly radius: number; readonly moved: Float64Array; readonly noise: number;
  readonly present: number;
}) => readonly Finding[];

/** Draws the histogram, then the mean. O(rows). */
export function releaseOneColumn(
  design: OneColumn, moreFindings: MoreFindings,
): PooledDesign['release'] {
  const { facts, distance, clipped } = design;
  return async ({ mechanisms, compute }, { pool, centre, spread, columns }) => {
    const counts = mechanisms.gaussian(
      distance.name, pool.map((block) => farCounts(block, centre[0]!)),
    ).value;
    const rows = rowsIn(counts, facts.cohort);
    const far = readFarRows({
      counts, sigma: distance.sigma, rows, isLattice: columns.discrete.every(Boolean),
    });
    const radius = design.radius ?? farRadius(far, clipped.sum.sigma);
    const options = { centre, ball: clipped.ball, cohort: facts.cohort, unit: radius };
    const drawn = await privateClippedMeanOn(compute, mechanisms, pool, options);
    return drawn.map((answer): Outcome => {
      if (answer.kind === 'participation-below-plan') return participationBelowPlan(facts);
      const mean = meanOf(design, far, radius, answer, centre[0]!);
      const outcome = outcomeOf(mean, { centre, spread });
      if (outcome.kind === 'refused') return outcome;
      const findings = [
        ...moreFindings({
          radius, moved: Float64Array.of(mean.moved), noise: mean.noise, present: answer.present,
        }),
        ...findingsOf(design, far, mean, { centre, spread }),
      ];
      return {
        ...outcome, spread: Array.from(spread), ...(findings.length > 0 && { findings }),
      };
    });
  };
}

/** In spreads from the centre. */
interface Mean {
  /** True if an end that is not open assumes that no small group is beyond what is seen. */
  readonly isAssuming: boolean;
  readonly radius: number;
  readonly present: number;
  readonly moved: number;
  /** Standard deviation of the noise of `moved`. */
  readonly noise: number;
  readonly low: number;
  readonly high: number;
  /**
   * The interval of the mean of all rows, each pulled in to the radius; null where the mean has its
   * own.
   */
  readonly pulledIn: readonly [low: number, high: number] | null;
}

function meanOf(
  { radius: given, clipped, bounds, distance }: OneColumn, far: FarRows, radius: number,
  { mean, present }: ClippedMean, centre: number,
): Mean {
  const { above, below, square } = far;
  const [right, left] = [above.excess(radius), below.excess(radius)];
  const inBall = mean[0]! - centre;
  const whole = inBall + (right.sum - left.sum) / present;
  const ofSum = radius * clipped.sum.sigma;
  const noiseAt = (moved: number, ofCells: number): number =>
    Math.hypot(ofSum, ofCells, moved * clipped.count.sigma) / present;
  const noise = noiseAt(whole, Math.hypot(right.deviation, left.deviation));
  const variance = Math.max(varianceLeast, square - whole ** 2);
  const half = deviations95 * Math.hypot(noise, Math.sqrt(variance / present));
  const isBelowFloor = present < intervalFrom(distance.sigma);
  const [up, down] = [above.allowance(radius), below.allowance(radius)];
  const endOf = (side: FarSide, sign: 1 | -1): number => {
    if (side.openFrom !== null || (isBelowFloor && bounds === null)) return sign * Infinity;
    const unseen = !isBelowFloor || bounds === null ? 0
      : clusterSeenFrom(normalCells(distance.sigma))
        * Math.max(0, boundOf(bounds, centre, sign) - radius);
    const { more } = sign === 1 ? up : down;
    return whole + sign * (half + (up.eitherWay + down.eitherWay + more + unseen) / present);
  };
  const [low, high] = [endOf(below, -1), endOf(above, 1)];
  const varianceWithin = Math.max(varianceLeast, far.squareWithin(radius) - inBall ** 2);
  const halfWithin =
    deviations95 * Math.hypot(noiseAt(inBall, 0), Math.sqrt(varianceWithin / present));
  const pulledIn = isBelowFloor && bounds === null
    ? [inBall - halfWithin, inBall + halfWithin] as const : null;
  // A radius that was given is kept: the answer is the mean of the rows that were pulled in.
  const isAssuming = !isBelowFloor;
  return given === null ? {
    isAssuming, radius, present, moved: whole, noise, low, high, pulledIn,
  } : {
    isAssuming, radius, present, moved: inBall, noise: noiseAt(inBall, 0), pulledIn,
    low: Math.min(low, inBall), high: Math.max(high, inBall),
  };
}

/** How far a bound is from the centre on its side, in spreads. */
function boundOf({ range, spread }: CentreBounds, centre: number, sign: 1 | -1): number {
  const end = (sign === 1 ? range.high : range.low)[0]! / spread[0]!;
  return sign * (end - centre);
}

type Place = Pick<CentredPool, 'centre' | 'spread'>;

function outcomeOf({ moved, noise, low, high }: Mean, { centre, spread }: Place): Outcome {
  const inData = (entry: number): number => (centre[0]! + entry) * spread[0]!;
  const outcome = gaussianOutcome(
    'the noisy mean times spread', [inData(moved)], [noise * spread[0]!], () => 0,
  );
  return outcome.kind === 'refused' ? outcome
    : { ...outcome, interval95: { low: [inData(low)], high: [inData(high)] } };
}

/**
 * The findings: the far rows that the histogram shows, or cannot show. Rows within the radius are
 * in the answer, and those of the contiguous tail are counted: only a group beyond both can hide.
 */
function findingsOf(
  { distance }: OneColumn, { above, below }: FarRows, { radius, pulledIn, isAssuming }: Mean,
  { centre, spread }: Place,
): readonly Finding[] {
  const seenFrom = clusterSeenFrom(normalCells(distance.sigma));
  const sides = [[above, 1], [below, -1]] as const;
  const inData = (entry: number, sign: number): number =>
    (centre[0]! + sign * entry) * spread[0]!;
  const ends = pulledIn !== null ? [[
    seenFrom, 0, inData(radius, -1), inData(radius, 1), ...pulledIn.map((end) => inData(end, 1)),
  ]] : sides.flatMap(([{ openFrom }, sign]) =>
    (openFrom === null ? [] : [[seenFrom, sign, inData(openFrom, sign)]]));
  const beyond = isAssuming ? sides.filter(([{ openFrom }]) => openFrom === null)
    .map(([side, sign]) => ({ sign, value: inData(Math.max(radius, side.tailEnd), sign) })) : [];
  const values = beyond.map(({ value }) => value).sort((one, two) => one - two);
  const assumed = beyond.length === 0 ? []
    : [[seenFrom, beyond.length === 2 ? 0 : beyond[0]!.sign, ...values]];
  const clusters = sides.flatMap(([{ windows }, sign]) =>
    windows.filter(({ isApart }) => isApart).map(({ from, to, rows, isSure }) => [
      rows, ...[inData(from, sign), inData(to, sign)].sort((one, two) => one - two),
      Number(isSure),
    ]));
  const found = (reason: Finding['reason']) => (amounts: readonly number[]): readonly Finding[] =>
    (amounts.every(Number.isFinite) ? [{ reason, columns: [0], amounts }] : []);
  return [
    ...ends.flatMap(found('end-unseen')), ...assumed.flatMap(found('interval-assumes')),
    ...clusters.flatMap(found('cluster-far')),
  ];
}
