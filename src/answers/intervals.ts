import { checkList, checkObject } from '../base/given.js';
import { InvalidParameterError } from '../base/errors.js';
import { deviationsAsNormal } from '../base/noise-deviations.js';
import type { NumberInfo } from '../base/number-info.js';
import type { Interval95, ValueOutcome } from '../base/outcome.js';
import { didYouMean } from '../base/suggest.js';
import { describeNumbers, type Described } from './describe.js';

/**
 * One number of an estimate; null if it has none there, or if it belongs to a group without an
 * answer.
 */
export function numberAt(
  { estimate, groups, answered }: ValueOutcome, place: number,
): number | null {
  const size = estimate.length / (groups?.length ?? 1);
  return answered?.[Math.floor(place / size)] === false ? null : estimate[place] ?? null;
}

/**
 * The interval of one number of an estimate that people are shown: the one that also holds if the
 * stated share of the rows is false, where the release has one; else its other one, or that of its
 * noise. Null if there is none, or if the release states that nothing is known. An open end is
 * infinite.
 */
export function intervalOf(outcome: ValueOutcome, place: number): readonly [number, number] | null {
  const { uncertainty } = outcome;
  const interval = shownInterval(outcome);
  const value = numberAt(outcome, place);
  if (value === null) return null;
  if (interval !== undefined) return endsOf(interval, place);
  const deviation = deviationsAsNormal(uncertainty)?.[place];
  if (deviation === undefined) return null;
  return within95(value, deviation);
}

/** The ends between which 95 % of normal numbers of this mean and standard deviation lie. */
export function within95(mean: number, deviation: number): readonly [number, number] {
  return [mean - 1.96 * deviation, mean + 1.96 * deviation];
}

/**
 * The interval of one number if no row is false; null if the release states no other interval
 * beside it, or nothing about this end. It is narrower than `intervalOf`, and liars can move it.
 */
export function honestIntervalOf(
  outcome: ValueOutcome, place: number,
): readonly [number, number] | null {
  const { interval95, intervalIfFalse95 } = outcome;
  if (interval95 === undefined || intervalIfFalse95 === undefined) return null;
  return numberAt(outcome, place) === null ? null : endsOf(interval95, place);
}

/** The intervals that people are shown: those that false rows cannot break, if any. */
export function shownInterval(
  { interval95, intervalIfFalse95 }: Pick<ValueOutcome, 'interval95' | 'intervalIfFalse95'>,
): Interval95 | undefined {
  return intervalIfFalse95 ?? interval95;
}

/** The two ends; null if the release states that nothing is known. An open end is infinite. */
export function endsOf({ low, high }: Interval95, place: number): readonly [number, number] | null {
  const [from, to] = [low[place], high[place]];
  return Number.isFinite(from) || Number.isFinite(to) ? [from!, to!] : null;
}

/** By how much a number of one group is above that of another. */
export interface GroupDifference {
  /** The number that is compared. */
  readonly number: NumberInfo;
  /** In the unit of the number; null where one of the groups has no answer. */
  readonly difference: number | null;
  /** Ends of its interval; infinite where nothing is known on a side. */
  readonly low: number;
  readonly high: number;
  /** The least probability with which the interval holds the difference. */
  readonly coverage: 0.95 | 0.9;
}

/**
 * Compares two groups of one answer, number by number. It reads released numbers only, so it costs
 * no privacy.
 *
 * The interval of a difference goes from the low end of one minus the high end of the other to the
 * opposite: it is missed only if one of the two is, which happens at most 10 times in 100 whatever
 * the errors are, and less than once in 100 where they are normal and independent. Counts of those
 * who came have noise and no other error, drawn for each group by itself. So there the half-width
 * is the root of the sum of squares, which holds 95 times in 100. People who lose groups, whom the
 * intervals of counts reach out for to one side, are an error that groups share, as are unknown
 * ends: both count as the ends of other numbers do.
 * @param asked - the question, with its columns.
 * @param one - the group whose numbers are compared: a part for each column of `by`.
 * @param other - the group whose numbers are taken off.
 * @throws InvalidParameterError where the answer is not split by groups, or lacks one of the two.
 * @example
 * import { compareGroups } from 'keelson/client/words';
 *
 * const asked = { estimator: 'count', columns: ['region'], parameters: {} };
 * const [people] = compareGroups(asked, {
 *   kind: 'value', estimate: [520, 410], shape: [2], groups: [['north'], ['south']],
 *   uncertainty: { kind: 'gaussian', standardDeviation: [3, 4] },
 * }, ['north'], ['south']);
 * console.log(people?.difference, people?.low, people?.high);   // 110 100.2 119.8
 */
export function compareGroups(
  asked: Described, outcome: ValueOutcome, one: readonly string[], other: readonly string[],
): readonly GroupDifference[] {
  checkObject(outcome, 'an answer has an estimate');
  const { groups } = outcome;
  if (groups === undefined) {
    throw new InvalidParameterError('the answer is not split by groups: compare groups of a '
      + 'question with "by"');
  }
  const [first, second] = [placeOf(groups, one), placeOf(groups, other)];
  const numbers = describeNumbers(asked, outcome);
  return numbers.map((number, i) => {
    const [left, right] = [first, second].map((place) => endsAbout(
      outcome, place * numbers.length + i)) as [Ends, Ends];
    return { number, ...differenceOf(left, right, isCounted(number)) };
  });
}

/** Numbers of people whose only error is noise. */
const isCounted = ({ kind }: NumberInfo): boolean => kind === 'count' || kind === 'bin';

function placeOf(groups: readonly (readonly string[])[], group: readonly string[]): number {
  checkList(group, 'a group is a list with a name for each column that the answer is split by');
  const text = (parts: readonly string[]): string => parts.join(', ');
  const at = groups.findIndex((each) => each.length === group.length
    && each.every((part, i) => part === group[i]));
  if (at >= 0) return at;
  throw new InvalidParameterError(`the answer has no group ${text(group)}${
    didYouMean(text(group), groups.map(text))}`, { group });
}

/** A number, null without an answer, and the distances of its ends, infinite where it is open. */
interface Ends {
  readonly value: number | null;
  readonly down: number;
  readonly up: number;
}

function endsAbout(outcome: ValueOutcome, place: number): Ends {
  const value = numberAt(outcome, place);
  const [low, high] = intervalOf(outcome, place) ?? [-Infinity, Infinity];
  return { value, down: (value ?? 0) - low, up: high - (value ?? 0) };
}

function differenceOf(
  one: Ends, other: Ends, isOfNoise: boolean,
): Omit<GroupDifference, 'number'> {
  const difference = one.value === null || other.value === null ? null : one.value - other.value;
  const about = difference ?? 0;
  if (isOfNoise && isEven(one) && isEven(other)) {
    const width = Math.hypot(one.up, other.up);
    return { difference, low: about - width, high: about + width, coverage: 0.95 };
  }
  return {
    difference, low: about - one.down - other.up, high: about + one.up + other.down,
    coverage: 0.9,
  };
}

/** True if an interval is finite, and reaches as far to both sides but for rounding. */
const isEven = ({ down, up }: Ends): boolean =>
  Number.isFinite(up) && Math.abs(up - down) <= 1e-6 * up;
