import { checkList, checkObject } from './given.js';
import type { Finding, Interval95, ValueOutcome } from './outcome.js';
import { quotedText } from './shown-text.js';

/** Findings in words, and what intervals, spreads and findings of a value must be. */

/** Most findings of one value. */
export const findingsMax = 64;
const reasonPattern = /^[a-z][a-z0-9-]{0,63}$/;
/** More columns are counted, not named. */
const namedMost = 8;
/** More numbers are counted, not shown. */
const shownMost = 8;

/**
 * A finding in plain sentences, for people who see the answer.
 * @param columnNames - of the study; a column without a name is "column 3", counted from 1.
 * @param groups - of an answer that is split: a finding about one group begins with it.
 * @throws InvalidParameterError for something that is not a finding.
 * @example
 * import { findingText } from 'keelson';
 * const text = findingText({ reason: 'skewed', columns: [0], amounts: [] }, ['delay', 'distance']);
 * console.log(text);
 */
export function findingText(
  finding: Finding, columnNames: readonly string[], groups?: ValueOutcome['groups'],
): string {
  const text = textOfFinding(finding, columnNames);
  const { group } = finding;
  if (group === undefined) return text;
  return `${groups?.[group]?.map(quotedText).join(', ') ?? `Group ${group + 1}`}: ${text}`;
}

function textOfFinding(finding: Finding, columnNames: readonly string[]): string {
  const given: unknown = finding;
  checkObject(given, 'a finding of a release has reason, columns and amounts');
  checkList(finding.columns, 'columns of a finding is a list of indexes');
  checkList(finding.amounts, 'amounts of a finding is a list of numbers');
  checkList(columnNames, 'the names of the columns are a list');
  const { reason, columns, amounts } = finding;
  const [first, second] = amounts;
  const isOne = columns.length === 1;
  const names = columns.map((column) => columnNames[column] ?? `column ${column + 1}`);
  const where = columns.length === 0 ? 'all columns together'
    : `column${isOne ? '' : 's'} ${listed(names, namedMost)}`;
  const subject = where[0]!.toUpperCase() + where.slice(1);
  switch (reason) {
    case 'skewed':
      return `${subject} reach${isOne ? 'es' : ''} farther to one side than `
        + 'to the other. False rows on the longer side would look the same.';
    case 'wider-than-spread':
      return 'The rows are wider than the spread, or than the middle half of them says, in '
        + `${where}. A few rows are far out. If you gave the spread, it may also be too small: `
        + 'a larger one removes fewer rows.';
    case 'cluster-apart':
      return `About ${first === undefined ? 'some' : percent(first)} of the rows stand apart from `
        + `the others and were left out.${meanOfAll(amounts.slice(1), columnNames)}`;
    case 'clusters-too-many':
      return 'More rows stand apart from the others, in several places, than the stated share of '
        + 'false ones explains. So honest rows stand apart as well. Nobody can tell which, and '
        + 'none were left out for it. State a larger corruption if that many are false.';
    case 'long-tails':
      return 'Some rows are far from the others, so rows were cut off farther out than usual. '
        + 'This needs more noise.';
    case 'discrete':
      return `Many rows have exactly the same value in ${where}.`;
    case 'mostly-one-value':
      return `${subject} ${isOne ? 'is' : 'are'} ${first === undefined ? 'the same' : shown(first)} `
        + `in nearly all rows${unseen(second)}. The answer is this value, without an interval. Give `
        + 'the smallest and the largest possible value as range for a mean with an interval.';
    case 'values-clipped':
      return first === undefined
        ? `The answer is at an end of the bounds in ${where}. That is as it should be if no value can `
          + 'be beyond them, as for yes and no. Otherwise people beyond may count as at the bound, '
          + 'and the answer may be farther out: use wider bounds.'
        : `About ${Math.round(first)} people have a value beyond the bounds in ${where}, and count `
          + 'as at the bound. The answer is about the clipped values: with these values in full it '
          + 'may be far off. If they are honest, use wider bounds.';
    case 'end-unseen':
      return `${subject} ${isOne ? 'has' : 'have'} ${endUnseen(amounts)}`;
    case 'interval-assumes':
      return intervalAssumes(columns.length === 0 ? null : where, amounts);
    case 'cluster-far':
      return clusterFar(where, amounts);
    case 'direction-unseen':
      return 'In some direction across the columns the rows vary so little that noise hides how '
        + 'much. The answer is wrong along it. Give the smallest and the largest variance in any '
        + 'direction as variance-low and variance-high, or wait for more contributors.';
    case 'rows-trimmed':
      return 'Rows that stand apart from the others were left out. Nobody knows how far this moves '
        + 'the answer, so it has no interval. If they are honest, give a larger spread; '
        + 'populous-mean has an interval with spread: auto.';
    case 'groups-cut':
      return groupsCut(amounts);
    default:
      return `The release says "${reason}" about its rows, which this version of Keelson does not `
        + 'know. Update Keelson to read it.';
  }
}

function endUnseen([hidden, side, ...values]: readonly number[]): string {
  const [value] = values;
  const remedy = 'Give the smallest and the largest possible value as range for an answer with an '
    + 'interval.';
  if (hidden === undefined) {
    return `no interval: noise hides how far out the farthest people are. ${remedy}`;
  }
  return side === 0 || value === undefined
    ? `no interval: too few people came, and noise hides up to ${shown(hidden)} people far out.`
      + `${meanOfPulledIn(values)} ${remedy}`
    : `an interval that is open on one side: people are ${side === 1 ? 'above' : 'below'} `
      + `${shown(value)}, and nobody knows how far. ${remedy}`;
}

function meanOfPulledIn([from, to, low, high]: readonly number[]): string {
  if (from === undefined || to === undefined || low === undefined || high === undefined) return '';
  return ` With everybody below ${shown(from)} counted as ${shown(from)}, and everybody above `
    + `${shown(to)} as ${shown(to)}, the mean is between ${shown(low)} and ${shown(high)} (95 % `
    + 'interval).';
}

function intervalAssumes(where: string | null, amounts: readonly number[]): string {
  const [seenFrom, side, first, second] = amounts;
  if (where === null) {
    const few = seenFrom === undefined ? 'that noise hides'
      : `of fewer than ${shown(seenFrom)} people`;
    const beyond = side === undefined ? '' : `, beyond ${shown(side)} spreads from the middle,`;
    return `The intervals assume that no group ${few} is so far out${beyond} that it decides the `
      + 'answer. Noise hides such a group.';
  }
  if (seenFrom === undefined || first === undefined) {
    return `The interval in ${where} assumes that no group that noise hides decides the answer.`;
  }
  const place = side === 0 && second !== undefined ? `below ${shown(first)} or above ${shown(second)}`
    : `${side === -1 ? 'below' : 'above'} ${shown(first)}`;
  return `The interval in ${where} assumes that no group of fewer than ${shown(seenFrom)} people is `
    + `so far ${place} that it decides the answer. Noise hides such a group.`;
}

function clusterFar(where: string, [people = NaN, from, to, sure]: readonly number[]): string {
  if (from === undefined || to === undefined) return `Some people are far out in ${where}.`;
  const about = Math.round(people);
  return sure === 1
    ? `About ${about} people are from ${shown(from)} to ${shown(to)} in ${where}, apart from the `
      + 'others. They are in the answer, and make its interval wider.'
    : `Noise, or up to ${about} people, from ${shown(from)} to ${shown(to)} in ${where}, apart `
      + 'from the others. The interval allows for them; the answer leaves them out.';
}

function groupsCut([noisy, half, groupsMax]: readonly number[]): string {
  const most = groupsMax === undefined ? 'the most that count' : shown(groupsMax);
  const bound = noisy === undefined || half === undefined ? 'Some people have'
    : noisy + half < 1 ? 'Hardly anybody has'
      : `Between ${Math.max(0, Math.round(noisy - half))} and ${Math.round(noisy + half)} people have`;
  return `${bound} more groups than the ${most} that count for one person. Which of them count `
    + 'was chosen at random, so counts are too small by their other groups. A larger groupsMax '
    + 'counts more groups, with more noise.';
}

function unseen(rows: number | undefined): string {
  return rows === undefined ? ''
    : `; fewer than about ${Math.ceil(rows)} rows differ by a similar distance`;
}

function meanOfAll(means: readonly number[], names: readonly string[]): string {
  if (means.length === 0) return '';
  const entries = means.map((mean, j) => `${names[j] ?? `column ${j + 1}`} ${shown(mean)}`);
  return ` If they are honest, use the mean of all rows: ${listed(entries, shownMost)}.`;
}

/** `a`, `a and b`, `a, b and 3 more`. */
function listed(items: readonly string[], most: number): string {
  const named = items.length <= most ? items : items.slice(0, most);
  const rest = items.length - named.length;
  const all = rest === 0 ? named : [...named, `${rest} more`];
  return all.length === 1 ? all[0]! : `${all.slice(0, -1).join(', ')} and ${all.at(-1)!}`;
}

const shown = (value: number): string => String(Number(value.toPrecision(4)));

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(2))} %`;
}

/**
 * Words before the interval that holds if contributors lie, such as "also if up to 5 % lie".
 * @param parameters - of the study's estimator.
 * @throws InvalidParameterError for something that is not an object.
 * @example
 * import { ifFalseText } from 'keelson';
 * console.log(ifFalseText({ corruption: 0.05 }));
 */
export function ifFalseText(parameters: Readonly<Record<string, unknown>>): string {
  checkObject(parameters, 'the parameters of a study are an object');
  const share = parameters['corruption'];
  return typeof share === 'number' ? `also if up to ${shown(100 * share)} % lie` : 'also if some lie';
}

/** True if a pair of interval ends says that nothing is known on either side. */
export function isUnbounded(low: number, high: number): boolean {
  return low === -Infinity && high === Infinity;
}

/**
 * Why the intervals, the spread, the findings or the place of a value cannot be published or read,
 * in words; null when they can.
 * @param columns - number of columns of the study. Absent: columns are not counted.
 */
export function valueFault(value: ValueOutcome, columns?: number): string | null {
  const {
    estimate, interval95, intervalIfFalse95, radiusIfFalse95, spread, findings, running,
  } = value;
  for (const interval of [interval95, intervalIfFalse95]) {
    if (interval !== undefined && !isInterval(interval, estimate.length)) {
      return 'an interval does not have two ends for each number of the estimate, in order, each '
        + 'finite or infinitely far out';
    }
  }
  if (radiusIfFalse95 !== undefined
      && !(Number.isFinite(radiusIfFalse95) && radiusIfFalse95 >= 0)) {
    return 'the radius is not a finite number from 0 on';
  }
  if (spread !== undefined && !isSpread(spread, columns)) {
    return 'the spread is not a finite number from 0 on for each column';
  }
  if (running !== undefined && !(running.released.length === estimate.length
      && running.released.every(Number.isFinite) && Number.isInteger(running.position)
      && running.position >= 0)) {
    return 'the running total has no place, or not one released number for each total';
  }
  if (findings !== undefined && findings.length > findingsMax) {
    return `there are more than ${findingsMax} findings`;
  }
  return findings?.every((finding) => isFinding(finding, columns, value.groups?.length)) === false
    ? 'a finding has no proper reason, names a column or a group that is not there, or holds an '
      + 'amount that is not finite'
    : null;
}

/**
 * Why a value that is split by groups cannot say which of them have an answer; null when it can.
 * Without any group that has none, `answered` is left out, so that an answer has one form.
 */
export function unansweredFault(
  { estimate, shape, interval95, intervalIfFalse95 }: ValueOutcome,
  answered: readonly boolean[],
): string | null {
  if (answered.length !== shape[0]) return 'answered is not one flag for each group';
  if (!answered.includes(false)) return 'answered is stated, and every group has an answer';
  const stride = estimate.length / answered.length;
  const intervals = [interval95, intervalIfFalse95].filter((each) => each !== undefined);
  const isEmpty = (place: number): boolean => estimate[place] === 0
    && intervals.every(({ low, high }) => isUnbounded(low[place]!, high[place]!));
  return estimate.every((_, place) => answered[Math.floor(place / stride)]! || isEmpty(place))
    ? null : 'a group without an answer has a number or an interval';
}

function isInterval({ low, high }: Interval95, entries: number): boolean {
  return low.length === entries && high.length === entries && low.every((end, i) =>
    end <= high[i]! && end < Infinity && high[i]! > -Infinity);
}

function isSpread(spread: readonly number[], columns: number | undefined): boolean {
  return (columns === undefined || spread.length === columns)
    && spread.every((unit) => Number.isFinite(unit) && unit >= 0);
}

function isFinding(
  { reason, columns, amounts, group = 0 }: Finding, count = Infinity, groups = Infinity,
): boolean {
  return reasonPattern.test(reason) && Number.isInteger(group) && group >= 0 && group < groups
    && columns.every((column) => Number.isInteger(column) && column >= 0 && column < count)
    && amounts.every(Number.isFinite);
}
