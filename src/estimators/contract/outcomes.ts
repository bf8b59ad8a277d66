import type { Interval95, Outcome, RefusedOutcome, ValueOutcome } from '../../base/outcome.js';
import type { StudyFacts } from './estimator.js';

/** Outcomes that several estimators share, made from released and public numbers only. */

/**
 * The refusal when too few rows were there, or were left.
 * @param of - what the quarter is of, where that is not all contributors planned for.
 */
export function participationBelowPlan(
  { cohort }: Pick<StudyFacts, 'cohort'>, of = 'the',
): RefusedOutcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy count is below a quarter of ${of} ${cohort} contributors planned for: `
      + 'plan for a smaller cohort or wait longer',
  };
}

/**
 * The value, or a refusal when an entry of its estimate is not finite.
 * @param what - subject of the refusal's text: "the noisy mean times spread is".
 * @param remedy - what the user can do.
 */
export function finiteValue(
  value: Omit<ValueOutcome, 'kind'>, what: string, remedy?: string,
): Outcome {
  if (value.estimate.every((entry) => Number.isFinite(entry))) return { kind: 'value', ...value };
  const text = `${what} beyond the range of doubles`;
  return {
    kind: 'refused',
    reason: 'numerical-failure',
    text: remedy === undefined ? text : `${text}: ${remedy}`,
  };
}

/** The interval of `half(j)` on both sides of entry j. */
export function intervalAbout(
  estimate: readonly number[], half: (j: number) => number,
): Interval95 {
  return {
    low: estimate.map((entry, j) => entry - half(j)),
    high: estimate.map((entry, j) => entry + half(j)),
  };
}

/** The interval with both ends `by(j)` farther out for entry j. */
export function widenedBy({ low, high }: Interval95, by: (j: number) => number): Interval95 {
  return {
    low: low.map((end, j) => end - by(j)),
    high: high.map((end, j) => end + by(j)),
  };
}

/** An answer with both intervals changed in the same way. A ball about it then has no radius. */
export function withIntervals(
  outcome: ValueOutcome, change: (interval: Interval95) => Interval95,
): ValueOutcome {
  const { interval95, intervalIfFalse95 } = outcome;
  const answer = { ...outcome };
  delete answer.radiusIfFalse95;
  return {
    ...answer,
    ...(interval95 !== undefined && { interval95: change(interval95) }),
    ...(intervalIfFalse95 !== undefined && { intervalIfFalse95: change(intervalIfFalse95) }),
  };
}
