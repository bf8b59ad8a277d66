import type { Finding, Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { finiteValue, intervalAbout, widenedBy } from '../../contract/outcomes.js';
import type { CentredPool, FoundColumns } from '../../pooled/estimator.js';
import { likelyShare, movedByShare, reachOf } from '../../pooled/expected-error.js';
import { usualRadius } from '../../pooled/parameters.js';
import type { AnyDesign } from './any-design.js';
import type { Directions } from './directions.js';
import type { Frame } from './mapped.js';
import { unmapped } from './moment-rounds.js';
import type { FoundRadius, RadiusApart } from './radius.js';
import type { NoisySums } from './reallocation.js';

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
  /** Covariance in the first round, in spreads. */
  readonly covariance: Float64Array | null;
  /** Excess of a variance that noise explains. */
  readonly excessMax: number;
  /** Null where no rows were left out. */
  readonly apart: RowsApart | null;
  /** Rows stood apart in more places than the stated share explains, and were taken back. */
  readonly hasUndone: boolean;
}

/** The rows that were left out, as released. */
export interface RowsApart extends RadiusApart {
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
 * and sampling. intervalIfFalse95 adds what a share c of hostile rows
 * moves the mean of rows of any shape by: sqrt(c / (1 - c)) of their deviation.
 */
export function answerOfAny(answer: AnyFound): Outcome {
  const { design, found: { centre, spread }, frame, radius, total, present } = answer;
  const { count, corruption, facts } = design;
  const { dimension } = facts;
  const toData = (moved: Float64Array): Float64Array => unmapped(frame.inverse, moved)
    .map((entry, j) => centre[j]! + spread[j]! * (frame.mean[j]! + entry));
  const moved = total.sums.map((entry) => (entry * radius.radius) / present);
  const mean = toData(moved);
  const reach = columnReach(frame, spread);
  const noise = (total.sigma * radius.radius) / present;
  const countNoise = Math.hypot(...moved) * (count.sigma / present);
  const sampling = radius.width / Math.sqrt(present);
  const deviation = reach.map((unit) => unit * Math.hypot(noise, countNoise));
  const shift = answer.apart === null ? null : shiftOf(answer.apart, moved, present);
  const others = shift === null ? null : toData(moved.map((entry, j) => entry + shift.by[j]!));
  const extra = shift ?? noShift;
  const half = Float64Array.from(reach, (unit, j) =>
    deviations95 * Math.hypot(
      deviation[j]!, unit * sampling, unit * extra.noise, unit * Math.sqrt(extra.sampling),
    ) + unit * (radius.lost + extra.lost)
    + (others === null ? 0 : Math.abs(others[j]! - mean[j]!)));
  const bound = movedByShare(corruption) * radius.width;
  const estimate = Array.from(mean);
  const interval95 = intervalAbout(estimate, (j) => half[j]!);
  const ball = reachOf(
    radius.width * movedByShare(likelyShare(corruption, facts.cohort)) + radius.beyond,
    Math.hypot(noise, sampling), dimension,
  );
  return finiteValue({
    estimate,
    shape: [dimension],
    uncertainty: { kind: 'gaussian', standardDeviation: Array.from(deviation) },
    interval95,
    intervalIfFalse95: widenedBy(interval95, (j) => reach[j]! * bound),
    radiusIfFalse95: ball * longestInSpreads(frame, dimension),
    spread: Array.from(spread),
    findings: findingsOf(answer, moved, others, extra.share),
  }, 'the noisy mean times spread is');
}

/**
 * The effect on the mean of leaving rows out: (their sum - their number * the mean of the rows
 * left) / the number of all rows.
 */
function shiftOf(
  { sums, sigma, radius, square, lost, allRows }: RowsApart, mean: Float64Array, present: number,
): Shift {
  const share = Math.max(0, 1 - present / allRows);
  return {
    by: sums.map((entry, j) => (entry * radius) / allRows - share * mean[j]!),
    noise: (sigma * radius) / allRows, sampling: square / allRows, lost, share,
  };
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
