import type { Released, Sensitive } from '../../base/brands.js';
import type { Finding, Interval95, Outcome, ValueOutcome } from '../../base/outcome.js';
import { deviations95 } from '../../numerics/normal.js';
import type { GaussianEvent, MechanismEvent } from '../../privacy/accounting/events.js';
import { shareOf } from '../../privacy/accounting/target.js';
import {
  clippedMeanEvents, privateClippedMeanOn, type ClippedMeanEvents,
} from '../../privacy/stages/clipped-mean.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import type { StudyFacts } from '../contract/estimator.js';
import { widenedBy } from '../contract/outcomes.js';
import type { Draws } from './centre.js';
import { corruptionAtMost, movedByShare } from './expected-error.js';
import { usualRadius } from './parameters.js';
import { rowsCohort } from './pool.js';
import { binsEvent } from './query-events.js';
import {
  assumedOfGroups, chooseRadius, distanceBins, distanceCounts, groupsAssumed, readDistances, rowsIn,
} from './radius.js';

/**
 * The mean of all rows, beside the answer of an estimator that leaves rows out or pulls them in.
 * Where the two differ by more than noise, the answer depends on an assumption about the rows, and
 * the interval says so.
 *
 * Claim. The cost of the events, composed adaptively: a part `allRowsShare` of rho.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Why. The histogram of distances is calibrated for every centre (pooled/radius). The radius is a
 * function of its released counts. The sum of all rows is clipped to a ball of this radius, and is
 * drawn in units of the radius, so it moves by at most 2 whatever the radius is
 * (privacy/stages/clipped-mean). No row is left out of either, so nothing that an estimator removes
 * matters here. Intervals and findings are made of released numbers.
 */
export interface AllRowsDesign {
  readonly facts: StudyFacts;
  /** The event of the histogram of distances. */
  readonly distance: GaussianEvent;
  /** Sum and number of all rows; its ball has radius 1, in units of the chosen radius. */
  readonly clipped: ClippedMeanEvents;
  readonly events: readonly MechanismEvent[];
  /** The assumption behind an interval that `withAllRows` makes, for the plan. */
  readonly assumption: string;
}

/** Part of rho that the mean of all rows takes. */
export const allRowsShare = 0.09;
/** Part of it that the histogram takes, by number of columns. */
const distanceShare = (dimension: number): number => (dimension <= 4 ? 0.65 : 0.4);
const eventName = 'all';

/** The facts of a study without the part of rho that the mean of all rows takes. */
export function withoutAllRows(facts: StudyFacts): StudyFacts {
  const { target } = facts;
  return { ...facts, target: { ...target, rho: shareOf(target.rho, 1 - allRowsShare) } };
}

/**
 * Plans the two releases.
 * @param facts - with the whole rho; `cohort` is the nominal number of the rows that are averaged.
 * @param cohort - name of the cohort of all rows.
 */
export function allRowsDesign(facts: StudyFacts, cohort = rowsCohort): AllRowsDesign {
  const { dimension, target } = facts;
  const rho = shareOf(target.rho, allRowsShare);
  const share = distanceShare(dimension);
  const distance = {
    ...binsEvent(`${eventName}/distance`, distanceBins, shareOf(rho, share)), cohort,
  };
  const clipped = clippedMeanEvents({
    cohort, dimension, radius: 1, name: eventName, rho: shareOf(rho, 1 - share),
  });
  return {
    facts, distance, clipped, events: [distance, clipped.sum, clipped.count],
    assumption: `for its interval: ${assumedOfGroups(distance.sigma)}`,
  };
}

/** The released numbers about all rows. In spreads, about the centre. */
export interface AllRows {
  readonly moved: Float64Array;
  /** Noisy number of rows: at least a quarter of the plan. */
  readonly present: number;
  /**
   * The noisy number was below that. It has more noise than an estimator's own: only an estimator
   * without one refuses for it. `moved` may be off then, and `deviation` is as large.
   */
  readonly isBelowPlan: boolean;
  /** Standard deviation of the noise of `moved`, per column. */
  readonly deviation: Float64Array;
  /** Root mean square distance over the root of the number of columns, at least 1. */
  readonly width: number;
  /** Radius of the ball that `moved` is the mean in, and the noise of the histogram behind it. */
  readonly radius: number;
  readonly sigma: number;
  /** How much of the mean this ball may hide, in any one direction. */
  readonly bias: number;
  /** How much of it a ball of some radius about the centre may hide: seen, and hidden by noise. */
  readonly beyond: (radius: number) => number;
  readonly hidden: (radius: number) => number;
}

/**
 * Draws the histogram, then the mean of all rows. O(rows * columns), shared among threads.
 * @param rows - in data units. @param centre - released, in data units. @param spread - public or
 * released, the unit of each column.
 */
export async function releaseAllRows(
  { mechanisms, compute }: Draws, { facts, distance, clipped }: AllRowsDesign,
  rows: Sensitive<RowBlock>, centre: Float64Array, spread: Float64Array,
): Promise<Released<AllRows>> {
  const { dimension, cohort } = facts;
  const counts = mechanisms.gaussian(
    distance.name,
    await rows.mapAsync((block) => distanceCounts(compute, block, centre, spread)),
  ).value;
  const distances = readDistances({
    counts, sigma: distance.sigma, dimension, rows: rowsIn(counts, cohort),
  });
  const noise = (clipped.sum.sigma * Math.sqrt(dimension)) / cohort;
  // Hostile rows may raise this radius as far as they like: they widen the interval with it.
  const radius = chooseRadius(distances, {
    dimension, least: usualRadius(dimension), noise, corruption: 0,
  });
  const options = {
    centre, ball: clipped.ball, cohort, name: eventName, unit: spread.map((unit) => unit * radius),
  };
  const drawn = await privateClippedMeanOn(compute, mechanisms, rows, options);
  return drawn.map((answer) => {
    const { kind, mean } = answer;
    const present = Math.max(answer.present, cohort / 4);
    const moved = mean.map((entry, j) => (entry - centre[j]!) / spread[j]!);
    return {
      moved, present, isBelowPlan: kind === 'participation-below-plan',
      deviation: moved.map((entry) => Math.hypot(
        (radius * clipped.sum.sigma) / present, (entry * clipped.count.sigma) / present,
      )),
      width: Math.max(1, distances.width),
      radius, sigma: distance.sigma,
      bias: distances.beyond(radius) + distances.hidden(radius),
      beyond: distances.beyond,
      hidden: distances.hidden,
    };
  });
}

/** An answer, and what is known of the rows that it is about. All of it released or public. */
export interface BesideAllRows {
  readonly all: AllRows;
  /** In data units. */
  readonly centre: Float64Array;
  readonly spread: Float64Array;
  /**
   * Radius of the ball about the centre that rows were clipped to, in spreads, when the answer is
   * the mean of all of them. Null: rows were left out, or the answer is no mean.
   */
  readonly clippedAt: number | null;
  /** Noisy number of rows left, when rows were left out; null when all rows count. */
  readonly left: number | null;
  /**
   * How far a corruption that stays may move the answer in any one direction, in spreads
   * (`movedByHostile`). Absent: nothing is promised.
   */
  readonly hostile?: number;
}

/**
 * How far a share c of the rows that stays may move a mean, in spreads: sqrt(c / (1 - c)) of the
 * deviation of all rows that stay, along any direction, by the inequality of Cauchy and Schwarz;
 * and no more than what a share c can at the other end of the ball.
 * @param excess - largest variance of the rows that stay, inside the ball, minus 1.
 * @param radius - of the ball that they are clipped to, in spreads.
 */
export function movedByHostile(corruption: number, excess: number, radius: number): number {
  const share = corruptionAtMost(corruption);
  return Math.min(2 * share * radius, movedByShare(share) * Math.sqrt(1 + excess));
}

/**
 * The answer with intervals that hold if all rows are honest, or if those that were left out were
 * hostile.
 *
 * interval95: where the answer is the mean of all rows in a ball, its own noise and sampling, and
 * what the ball may hide. Otherwise it covers two intervals: the answer's own, and that of the mean
 * of all rows. The shorter one, where both are known. intervalIfFalse95 adds `hostile` to both
 * ends. The radius is for honest rows as the estimator assumes them: `hostile`, what honest rows
 * that went may have moved, and the answer's own interval. Post-processing.
 * @param outcome - one number for each column, with the interval of its own noise and sampling.
 */
export function withAllRows(outcome: Outcome, beside: BesideAllRows): Outcome {
  if (outcome.kind === 'refused' || outcome.interval95 === undefined) return outcome;
  const { all, centre, spread, left, hostile } = beside;
  const { interval95: own, estimate } = outcome;
  const mean = Array.from(all.moved, (entry, j) => centre[j]! + entry * spread[j]!);
  const interval = widened(own, mean, beside);
  const gone = left === null ? 0 : Math.max(0, 1 - left / all.present);
  const findings = [
    ...outcome.findings ?? [], ...findingsBeside(outcome, { all, spread, gone, mean }),
    ...groupsAssumed(interval, all.sigma, all.radius, { middle: centre, spread, bounds: null }),
  ];
  return {
    ...outcome,
    interval95: interval,
    ...(hostile !== undefined && {
      intervalIfFalse95: widenedBy(interval, (j) => hostile * spread[j]!),
      radiusIfFalse95: hostile + movedByShare(Math.min(0.5, gone))
        + Math.hypot(...estimate.map((entry, j) => (own.high[j]! - entry) / spread[j]!)),
    }),
    spread: Array.from(spread),
    ...(findings.length > 0 && { findings }),
  };
}

/** interval95, as `withAllRows` says. Unbounded where rows are so far out that no bin shows it. */
function widened(
  own: Interval95, mean: readonly number[], { all, spread, clippedAt }: BesideAllRows,
): Interval95 {
  const half = Array.from(spread, (unit, j) => unit * (all.bias
    + deviations95 * Math.hypot(all.deviation[j]!, all.width / Math.sqrt(all.present))));
  const hidden = clippedAt === null ? Infinity : all.beyond(clippedAt) + all.hidden(clippedAt);
  const ends = Array.from(spread, (unit, j): readonly [number, number] => {
    const both = [
      Math.min(own.low[j]!, mean[j]! - half[j]!), Math.max(own.high[j]!, mean[j]! + half[j]!),
    ] as const;
    const near = [own.low[j]! - unit * hidden, own.high[j]! + unit * hidden] as const;
    return near[1] - near[0] < both[1] - both[0] ? near : both;
  });
  return { low: ends.map(([low]) => low), high: ends.map(([, high]) => high) };
}

/** The answer is apart from the mean of all rows at this many standard deviations. */
const apart = 4;

/** Findings from the difference between the answer and the mean of all rows. */
function findingsBeside(
  { estimate, uncertainty }: ValueOutcome,
  { all, spread, gone, mean }: Pick<BesideAllRows, 'all' | 'spread'>
    & { readonly gone: number; readonly mean: readonly number[] },
): readonly Finding[] {
  const noise = uncertainty.kind === 'gaussian' ? uncertainty.standardDeviation : null;
  const columns = Array.from(spread.keys()).filter((j) =>
    Math.abs(estimate[j]! - mean[j]!) > apart * Math.hypot(
      noise?.[j] ?? 0, spread[j]! * all.deviation[j]!,
    ));
  if (gone > 0) return [{ reason: 'cluster-apart', columns: [], amounts: [gone, ...mean] }];
  return columns.length === 0 ? [] : [{ reason: 'skewed', columns, amounts: [] }];
}
