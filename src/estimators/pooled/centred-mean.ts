import { columnPlaces } from '../../base/column-places.js';
import type { Outcome } from '../../base/outcome.js';
import { deviations95 } from '../../numerics/normal.js';
import type { GaussianEvent } from '../../privacy/accounting/events.js';
import type { StudyFacts } from '../contract/estimator.js';
import { finiteValue, intervalAbout } from '../contract/outcomes.js';

/** Outcomes of releases about a private centre, from released and public numbers only. */

/**
 * The refusal of a release without a centre.
 * @param coordinates - counted from 0.
 * @param words - for a quarter of a bin, and for what rows are planned to vary by.
 */
export function centreNotFound(
  { cohort }: StudyFacts, coordinates: readonly number[],
  words: readonly [string, string] = ['spreads', 'one spread'],
): Outcome {
  const [unit, most] = words;
  return {
    kind: 'refused',
    reason: 'centre-not-found',
    text: `no stretch of four ${unit} held enough rows in ${columnPlaces(coordinates)}. `
      + `Either far fewer contributors came than the ${cohort} planned for: lower cohort, or wait `
      + `longer. Or their rows vary by more than ${most}: raise spread.`,
  };
}

/** A noisy mean about a centre. */
export interface Answer {
  /** In data units. */
  readonly centre: Float64Array;
  readonly spread: Float64Array;
  /** Noisy mean minus centre, in spreads. */
  readonly moved: Float64Array;
  /** Noisy count. */
  readonly present: number;
  /** Per column, in spreads: standard deviation of further noise in `moved`. Default: none. */
  readonly deviation?: Float64Array;
  /** Spreads in one unit of the sum, public or released. Default 1. */
  readonly unit?: number;
  /** Standard deviation of an honest row in a column, in spreads. Default 1. */
  readonly width?: number;
  /** Per column, in spreads: what else the mean may be off by, such as what clipping hides. */
  readonly bias?: number;
}

/** The noise of a mean: on the sum of the rows, in spreads, and on their number. */
export interface MeanEvents {
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
}

/** The mean in data units, with the noise of sum and count. */
export function answerOf(
  { sum, count }: MeanEvents,
  { centre, spread, moved, present, deviation: further, unit = 1, width = 1, bias = 0 }: Answer,
): Outcome {
  const deviation = Array.from(moved, (entry, j) => spread[j]! * Math.hypot(
    (unit * sum.sigma) / present, (entry * count.sigma) / present, further?.[j] ?? 0,
  ));
  const estimate = Array.from(moved, (entry, j) => centre[j]! + entry * spread[j]!);
  // Rows no wider than `width` are allowed for, hostile rows that stayed are not.
  return gaussianOutcome('the noisy mean times spread', estimate, deviation, (j) =>
    deviations95 * Math.hypot(deviation[j]!, (width * spread[j]!) / Math.sqrt(present))
      + spread[j]! * bias);
}

/**
 * A vector with Gaussian noise.
 * @param what - the vector as people know it, for the refusal when it has no doubles.
 * @param deviation - standard deviation of the noise in each entry.
 * @param halfOf - half the length of each entry's interval.
 */
export function gaussianOutcome(
  what: string, estimate: readonly number[], deviation: readonly number[],
  halfOf: (j: number) => number,
): Outcome {
  const value = {
    estimate,
    shape: [estimate.length],
    uncertainty: { kind: 'gaussian', standardDeviation: deviation },
    interval95: intervalAbout(estimate, halfOf),
  } as const;
  return finiteValue(value, `${what} is`);
}
