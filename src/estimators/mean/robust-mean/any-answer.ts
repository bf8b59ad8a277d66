import type { Finding, Interval95, Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { finiteValue, intervalAbout, widenedBy } from '../../contract/outcomes.js';
import type { CentredPool, FoundColumns } from '../../pooled/estimator.js';
import { likelyShare, movedByShare, reachOf } from '../../pooled/expected-error.js';
import { usualRadius } from '../../pooled/parameters.js';
import { groupsAssumed } from '../../pooled/radius.js';
import type { AnyDesign } from './any-design.js';
import type { Directions } from './directions.js';
import type { Frame, Stretch } from './mapped.js';
import { unmapped } from './moment-rounds.js';
import type { FoundRadius, RadiusApart } from './radius.js';
import type { NoisySums } from './reallocation.js';
import type { CoreAlong } from './removal.js';

/** The results of a release of rows of any shape. All of them are released or public. */
export interface AnyFound {
  readonly design: AnyDesign;
  readonly found: Pick<CentredPool, 'centre' | 'spread' | 'columns'>;
  readonly frame: Frame;
  readonly radius: FoundRadius;
  /** The sums of the rows left, in units of the radius. */
  readonly total: NoisySums;
  /** Number of rows left. */
  readonly present: number;
  readonly directions: Directions;
  /** Cores along axes whose excess was removed. */
  readonly cores: readonly CoreAlong[];
  /** Covariance in the first round, in spreads. */
  readonly covariance: Float64Array | null;
  /** Excess of a variance that noise explains. */
  readonly excessMax: number;
  /** Rows pulled into the ball of the first round; null without one, and where rows are mapped. */
  readonly pulled: PulledRows | null;
  /** Null where no rows were left out. */
  readonly apart: RowsApart | null;
  /** Rows stood apart in more places than the stated share explains, and were taken back. */
  readonly hasUndone: boolean;
}

/** All rows, pulled into a ball. In spreads. */
export interface PulledRows {
  /** Deviation of each column, with two deviations of its noise. */
  readonly deviation: Float64Array;
  /** How far pulling them in moves the mean of all. */
  readonly lost: number;
}

/** The rows that were left out, or stand past the bins of an axis, as released. */
export interface RowsApart extends RadiusApart {
  readonly areLeftOut: boolean;
  /** In which their ball is longer along an axis; null: it is not. */
  readonly stretch: Stretch | null;
  /** Their noisy sum, in units of their radius. */
  readonly sums: Float64Array;
  readonly sigma: number;
  /** Number of all rows, these included. */
  readonly allRows: number;
}

/** How the mean of all rows differs from that of the rows left. In units of the mapped rows. */
interface Shift {
  readonly by: Float64Array;
  /** Standard deviation of an entry by noise. */
  readonly noise: number;
  /** Variance of an entry by which rows there are, at most. */
  readonly sampling: number;
  readonly lost: number;
  /** Share of the rows. */
  readonly share: number;
}

const noShift: Omit<Shift, 'by'> = { noise: 0, sampling: 0, lost: 0, share: 0 };

/**
 * The mean in data units, its two intervals and what to know of the rows.
 *
 * interval95: noise and sampling, rows that were pulled in, rows that noise may hide far out. Where
 * rows were left out, it holds the mean of the rows left and the mean of all, each with its noise
 * and sampling. Where rows stand past the bins of an axis and no distance shows how far, it reaches
 * past the mean of all: the sum of these rows is added whole, though the answer has a part of it.
 * intervalIfFalse95 adds what a share c of hostile rows moves the mean of rows of any shape by:
 * sqrt(c / (1 - c)) of their deviation (`ifFalse`).
 */
export function answerOfAny(answer: AnyFound): Outcome {
  const { design, found: { centre, spread }, frame, radius, total, present } = answer;
  const { count, corruption, facts } = design;
  const { dimension } = facts;
  const toData = (moved: Float64Array): Float64Array => unmapped(frame.inverse, moved)
    .map((entry, j) => centre[j]! + spread[j]! * (frame.mean[j]! + entry));
  const left = total.sums.map((entry) => (entry * radius.radius) / present);
  const reach = columnReach(frame, spread);
  const noise = (total.sigma * radius.radius) / present;
  const moved = atCores(left, answer.cores, noise);
  const mean = toData(moved);
  const countNoise = Math.hypot(...left) * (count.sigma / present);
  const sampling = radius.width / Math.sqrt(present);
  const deviation = reach.map((unit) => unit * Math.hypot(noise, countNoise));
  const shift = answer.apart === null ? null : shiftOf(answer.apart, left, present);
  const others = shift === null ? null : toData(left.map((entry, j) => entry + shift.by[j]!));
  const extra = shift ?? noShift;
  const noiseOfOthers = apartNoise(answer, extra.noise, reach);
  const own = Float64Array.from(reach, (unit, j) =>
    deviations95 * Math.hypot(
      deviation[j]!, unit * sampling, noiseOfOthers[j]!, unit * Math.sqrt(extra.sampling),
    ) + unit * (radius.lost + extra.lost));
  const bound = movedByShare(corruption) * radius.width;
  const all = others ?? mean;
  const estimate = Array.from(mean);
  const interval95 =
    intervalAbout(estimate, (j) => own[j]! + Math.abs(all[j]! - mean[j]!));
  const ball = reachOf(
    radius.width * movedByShare(likelyShare(corruption, facts.cohort)) + radius.beyond,
    Math.hypot(noise, sampling), dimension,
  );
  return finiteValue({
    estimate,
    shape: [dimension],
    uncertainty: { kind: 'gaussian', standardDeviation: Array.from(deviation) },
    interval95,
    intervalIfFalse95: ifFalse(answer, interval95, { own, all, bound, reach }),
    radiusIfFalse95: ball * longestInSpreads(frame, dimension),
    spread: Array.from(spread),
    findings: [
      ...findingsOf(answer, moved, answer.apart?.areLeftOut === true ? others : null, extra.share),
      ...groupsAssumed(interval95, design.distance.sigma, radius.radius, {
        middle: toData(new Float64Array(dimension)), spread: reach,
        bounds: frame.map === null ? design.bounds : null,
      }),
    ],
  }, 'the noisy mean times spread is');
}

/**
 * The interval that holds the honest mean whatever the stated share c of the rows looks like. The
 * honest rows H are a subset of all n, of share 1 - c at least, so along every direction their mean
 * is within sqrt(c / (1 - c)) deviations of the mean of all. Where rows are not mapped, the first
 * round has released the deviation of each column of the rows pulled into its ball. With d a row
 * less itself pulled in, the two means differ by those of the pulled rows and by
 * (1 / |H| - 1 / n) sum_H d - (1 / n) sum_others d: at most `lost` = (1 / n) sum |d|, as c is
 * below a half. Else, or where that is wider, it is the deviation along any direction, beyond both
 * ends of interval95. No law of the rows is assumed.
 * @param about.own - half width of the interval of the mean of all by itself.
 * @param about.bound - along any direction, in units of the mapped rows.
 */
function ifFalse(
  { design: { corruption }, found: { spread }, pulled, apart }: AnyFound, interval95: Interval95,
  { own, all, bound, reach }: {
    readonly own: Float64Array; readonly all: Float64Array; readonly bound: number;
    readonly reach: Float64Array;
  },
): Interval95 {
  const wide = widenedBy(interval95, (j) => reach[j]! * bound);
  if (pulled === null || apart?.areLeftOut === false) return wide;
  const { deviation, lost } = pulled;
  const half = own.map((entry, j) => entry + spread[j]! * (
    movedByShare(corruption) * deviation[j]! + lost
  ));
  return {
    low: wide.low.map((end, j) =>
      Math.max(end, Math.min(interval95.low[j]!, all[j]! - half[j]!))),
    high: wide.high.map((end, j) =>
      Math.min(end, Math.max(interval95.high[j]!, all[j]! + half[j]!))),
  };
}

/** A core's mean is the answer where that of the rows left is off by so many deviations. */
const offFrom = 2.5;

/**
 * The mean of the rows left, moved along the axes of cores to where the core stands: some of the
 * excess is still among the rows left, and some of the core's tail is not.
 * @param noise - of an entry of the mean.
 */
function atCores(
  mean: Float64Array, cores: readonly CoreAlong[], noise: number,
): Float64Array {
  return cores.reduce((at, { axis, mean: middle, unsure }) => {
    const off = middle - at.reduce((sum, entry, j) => sum + entry * axis[j]!, 0);
    if (Math.abs(off) <= offFrom * Math.hypot(unsure, noise)) return at;
    return at.map((entry, j) => entry + off * axis[j]!);
  }, mean);
}

/**
 * The effect on the mean of leaving rows out: (their sum - their number * the mean of the rows
 * left) / the number of all rows.
 */
function shiftOf(
  { sums, sigma, radius, square, lost, allRows, areLeftOut }: RowsApart, mean: Float64Array,
  present: number,
): Shift {
  const share = areLeftOut ? Math.max(0, 1 - present / allRows) : 0;
  return {
    by: sums.map((entry, j) => (entry * radius) / allRows - share * mean[j]!),
    noise: (sigma * radius) / allRows, sampling: square / allRows, lost, share,
  };
}

/** Per column, the deviation of the sum of the rows apart over the number of all, in data units. */
function apartNoise(
  { apart, frame, found: { spread } }: AnyFound, noise: number, reach: Float64Array,
): Float64Array {
  const stretch = apart?.stretch ?? null;
  if (stretch === null) return reach.map((unit) => unit * noise);
  const along = unmapped(frame.inverse, stretch.axis);
  const more = noise * Math.sqrt(stretch.times ** 2 - 1);
  return reach.map((unit, j) => Math.hypot(unit * noise, spread[j]! * along[j]! * more));
}

/** Per column, how far one unit of a mapped row may reach, in data units. */
export function columnReach({ inverse }: Frame, spread: Float64Array): Float64Array {
  const { length } = spread;
  return spread.map((unit, j) => (inverse === null
    ? unit : unit * Math.hypot(...inverse.subarray(j * length, (j + 1) * length))));
}

/** The longest that a unit vector is in spreads. */
function longestInSpreads({ inverse }: Frame, dimension: number): number {
  if (inverse === null) return 1;
  const square = new Float64Array(dimension ** 2);
  ownKernels().gram(inverse, dimension, dimension, {}, square);
  return Math.sqrt(ownKernels().eigenSymmetric(square, dimension).values[dimension - 1]!);
}

/** The spread exceeds the median spread by this factor in columns with long tails. */
const widerFrom = 1.8;
/** From this many contributors per column on, noise of the pairs alone does not cause that. */
export const widerRows = 10_000;

function findingsOf(
  { design, found: { spread, columns }, directions, radius, covariance, excessMax, hasUndone }:
  AnyFound,
  moved: Float64Array, others: Float64Array | null, share: number,
): Finding[] {
  const { facts: { dimension, cohort } } = design;
  const findings: Finding[] = [];
  const say = (
    reason: Finding['reason'], about: readonly number[] = [], amounts: readonly number[] = [],
  ): void => void findings.push({ reason, columns: about, amounts });
  const { isSkewed, skewed } = directions.skewAbout(moved);
  if (isSkewed) say('skewed', skewed);
  const wider = widerColumns(spread, columns, covariance, excessMax);
  if (cohort >= widerRows * dimension && wider.length > 0) say('wider-than-spread', wider);
  else if (radius.leavesFar) say('wider-than-spread');
  if (others !== null) say('cluster-apart', [], [share, ...others]);
  if (hasUndone) say('clusters-too-many');
  // With few columns a larger radius is worth its noise for normal rows, too.
  const isWide = radius.radius > usualRadius(dimension) && radius.beyond > 0;
  if (isWide && design.radius === null) say('long-tails');
  return findings;
}

/** Columns that are wider than their median spread says, or than the spread that was given. */
export function widerColumns(
  spread: Float64Array, { medianSpread, oneValue }: FoundColumns, covariance: Float64Array | null,
  excessMax: number,
): number[] {
  return Array.from(spread.keys()).filter((j) => {
    if (oneValue[j] !== null) return false;
    if (spread[j]! > widerFrom * medianSpread[j]!) return true;
    return spread[j] === medianSpread[j] && covariance !== null
      && covariance[j * spread.length + j]! > 1 + Math.max(excessMax, 0.1);
  });
}
