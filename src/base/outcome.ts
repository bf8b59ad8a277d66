import type { NumberInfo } from './number-info.js';
import type { NamedPart } from './parts.js';

/**
 * How far the published numbers may be from what the estimator computed. Made from public and
 * released numbers only.
 */
export type Uncertainty =
  | { readonly kind: 'gaussian'; readonly standardDeviation: readonly number[] }
  /** Noise with odds of exp(-|z| / scale) by number. Its deviation is at most sqrt 2 scales. */
  | { readonly kind: 'laplace'; readonly scale: readonly number[] }
  | { readonly kind: 'relative'; readonly operator: number }
  | { readonly kind: 'grid'; readonly spacing: number }
  | { readonly kind: 'none' };

/**
 * Ends of 95 % intervals: one pair for each number of the estimate, in the same order. An entry
 * about which nothing is known has the ends -Infinity and Infinity; where nothing is known on one
 * side alone, this end is infinite and the other one is not.
 */
export interface Interval95 {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** Reasons of findings: facts about the rows that released numbers show. The names are stable. */
export const findingReasons = [
  /** The rows reach farther to one side than to the other. */
  'skewed',
  /** The rows are wider than the spread that was given, or than their middle half says. */
  'wider-than-spread',
  /** Rows that stand apart from the others were left out. */
  'cluster-apart',
  /** More rows stand apart, in several places, than may be false: they were not left out. */
  'clusters-too-many',
  /** Rows reach so far out that the clip radius was raised. */
  'long-tails',
  /** Many rows have exactly the same value in these columns. */
  'discrete',
  /** So few rows differ from one value that the answer is this value, without an interval. */
  'mostly-one-value',
  /** Many values are beyond the public bounds, and count as at them. */
  'values-clipped',
  /** Nobody knows how far out the farthest rows are, so these intervals are open. */
  'end-unseen',
  /** The interval stands on this: no group that noise hides is so far out that it decides it. */
  'interval-assumes',
  /** Noise hides how little the rows vary in some direction: nothing is known along it. */
  'direction-unseen',
  /** People stand apart from the others, or noise looks like it. Nobody was left out. */
  'cluster-far',
  /** Rows that stand apart were left out, and nobody knows how far that moves the answer. */
  'rows-trimmed',
  /** How many contributors had more groups than count for one. */
  'groups-cut',
] as const;
/** One of `findingReasons`. */
export type FindingReason = (typeof findingReasons)[number];

/** A reason that this version does not know: `a` to `z`, digits and hyphens, at most 64. */
export type NewerReason = string & Record<never, never>;

/**
 * One thing that people should know before they rely on an answer. It is made from released and
 * public numbers only, so it costs no privacy. `findingText` says it in words.
 */
export interface Finding {
  /** A newer server may know more reasons than this version; `findingText` says so in words. */
  readonly reason: FindingReason | NewerReason;
  /** Indexes of the columns that it is about, from 0; empty: all of them together. */
  readonly columns: readonly number[];
  /** The place in `groups` of the group that it is about; absent: not about one group. */
  readonly group?: number;
  /**
   * Numbers for the sentence. `cluster-apart`: the share of the rows left out, then the mean of all
   * rows in each column. `mostly-one-value`: the value, then the number of rows in one octave of
   * distance below which rows that differ are not seen. `values-clipped`: a noisy number of
   * contributors; none where the answer itself is at a bound. `end-unseen`: how many people noise
   * hides far out, then the side that is open (1 above, -1 below, 0 both), and for one side from
   * which value on; for both, perhaps two values and the ends of the interval of the mean with
   * everybody beyond these counted as at them; or none. `interval-assumes`: how many people a group
   * has at least that noise does not hide, then the side that it may be on, and the value beyond
   * which; for both sides, the lower and the upper one; for all columns together, in place of
   * these, how many spreads from the middle. `cluster-far`: a noisy number of people, or how many
   * there may be; the values that they are between; and 1 if they are sure, 0 if it may be noise.
   * `groups-cut`: a noisy number of contributors, half of its 95 % interval, and the groups that
   * count for one. Other reasons: none.
   */
  readonly amounts: readonly number[];
}

/** The place of a release in the series of a running total, and what was released. */
export interface RunningRelease {
  /** Place in the series, from 0. The releases of a series are those of successive epochs. */
  readonly position: number;
  /**
   * In the order of the estimate: the values of the newest epochs, mixed, with fresh noise. The
   * totals follow from these numbers of all releases of the series; see base/running-totals.
   */
  readonly released: readonly number[];
}

/** The estimator ran, was paid for, and answered. */
export interface ValueOutcome {
  readonly kind: 'value';
  /** Row-major in `shape`. */
  readonly estimate: readonly number[];
  readonly shape: readonly number[];
  /**
   * The groups of an answer that is split: the first axis of `shape`. Each has a part for each
   * column of the question's `by`.
   */
  readonly groups?: readonly (readonly string[])[];
  /**
   * True if each group has an answer; absent: all have. A group without one has zeros in `estimate`
   * and no interval.
   */
  readonly answered?: readonly boolean[];
  /** The parts of the estimate, if it has more than one or a name of its own; see base/parts. */
  readonly parts?: readonly NamedPart[];
  readonly uncertainty: Uncertainty;
  /** Holds if all rows are honest, or if those that were left out were the false ones. */
  readonly interval95?: Interval95;
  /** Holds even if the stated share of the rows is false and looks like honest ones. */
  readonly intervalIfFalse95?: Interval95;
  /**
   * Radius of a ball about the estimate that holds the honest mean even then, in units of
   * `spread` in each column.
   */
  readonly radiusIfFalse95?: number;
  /** The unit of each column that the estimator worked in: given, or found privately. */
  readonly spread?: readonly number[];
  /** Facts about the rows that people should know before they rely on the answer. */
  readonly findings?: readonly Finding[];
  /** For a running total: the estimate is the total of a series' epochs, up to this one. */
  readonly running?: RunningRelease;
  /**
   * The kind of each number, in the order of the estimate; for a split answer only those of one
   * group, since all groups have the same. A release states it, and its server signs it. Absent in
   * an answer that was not released: `describeAnswer` works it out.
   */
  readonly numbers?: readonly NumberInfo[];
}

/** Why an estimator that was paid for has no answer. The names are stable. */
export const refusalReasons = [
  'interrupted',
  'participation-below-plan',
  'spread-not-found',
  'centre-not-found',
  'subsamples-disagree',
  'rows-too-wide',
  'too-few-left',
  'noise-too-large',
  'largest-unseen',
  'numerical-failure',
] as const;
/** Why an estimator that was paid for has no answer. */
export type RefusalReason = (typeof refusalReasons)[number];

/** The estimator ran, was paid for, and has no answer. */
export interface RefusedOutcome {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** Why there is no answer, and what would have been enough. Public numbers only. */
  readonly text: string;
}

/** The outcome of a release: an answer or a refusal. */
export type Outcome = ValueOutcome | RefusedOutcome;
