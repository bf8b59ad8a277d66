import { findingsMax } from '../../base/findings.js';
import type { Finding, Interval95, Outcome } from '../../base/outcome.js';
import { withIntervals } from './outcomes.js';

/**
 * How an answer says that values are beyond public bounds and count as at them. All of it is
 * post-processing of noisy numbers of people.
 */

/** A plan's statement about them. */
export const countedAtBound =
  'the answer and its intervals are about the mean with everybody outside the range counted at its '
  + 'bound; where many people are outside on one side, the intervals are open on this side';

/** Share of the cost for these numbers. */
export const outsideShare = 0.05;

/**
 * Where no value is beyond the bounds, noise alone reports some about this often, over all numbers
 * of a release.
 */
const falseReports = 0.001;

/**
 * From which noisy number of people on it stands out of its noise.
 * @param numbers - how many such numbers a release has.
 * @param noise.upperQuantile - that of one number is above this with the given probability.
 */
export function reportedFromOf(
  numbers: number, noise: { upperQuantile(probability: number): number },
): number {
  return noise.upperQuantile(falseReports / numbers);
}

/** Two sides: below the bounds, and above them. */
export const sides = 2;

/**
 * Adds a row to the numbers of people by column: below the bounds in front of above them. A value
 * that is not a number is on no side.
 */
export function countOutside(
  value: number, low: number, high: number, numbers: Float64Array, at: number,
): void {
  numbers[at]! += Number(value < low);
  numbers[at + 1]! += Number(value > high);
}

/** The columns with the most clipped values, in their own order. @param people - by column. */
export function clippedFindings(people: readonly number[]): readonly Finding[] {
  return people.map((amount, column) => ({ amount, column }))
    .filter(({ amount }) => amount > 0)
    .sort((one, two) => two.amount - one.amount)
    .slice(0, findingsMax)
    .sort((one, two) => one.column - two.column)
    .map(({ amount, column }) =>
      ({ reason: 'values-clipped', columns: [column], amounts: [amount] }));
}

/** A released answer is at an end of the bounds: if values can be beyond, it may be farther out. */
export function answerAtBound(column: number): readonly Finding[] {
  return [{ reason: 'values-clipped', columns: [column], amounts: [] }];
}

/**
 * An answer about values that were moved into bounds, with what the numbers of people beyond them
 * say. The intervals of the answer are those with everybody outside counted at the bound. On a side
 * on which a number stands out of its noise they are open, since nobody knows how far out these
 * people are; the answer then has a finding.
 * @param outcome - its numbers are those of the columns, in turn.
 * @param numbers - noisy, as `countOutside` adds them.
 */
export function withOutside(
  outcome: Outcome, numbers: ArrayLike<number>, reportedFrom: number,
): Outcome {
  if (outcome.kind === 'refused') return outcome;
  const columns = numbers.length / sides;
  const people = Array.from(numbers, (amount) => (amount > reportedFrom ? amount : 0));
  if (people.every((amount) => amount === 0)) return outcome;
  const findings = clippedFindings(
    Array.from({ length: columns }, (_, j) => people[sides * j]! + people[sides * j + 1]!),
  );
  const isOpen = (place: number, side: number): boolean =>
    people[sides * (place % columns) + side]! > 0;
  const opened = ({ low, high }: Interval95): Interval95 => ({
    low: low.map((end, place) => (isOpen(place, 0) ? -Infinity : end)),
    high: high.map((end, place) => (isOpen(place, 1) ? Infinity : end)),
  });
  return {
    ...withIntervals(outcome, opened),
    findings: [...findings, ...outcome.findings ?? []].slice(0, findingsMax),
  };
}
