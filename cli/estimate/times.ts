import { describeNumbers, type Described } from '../../src/answers/describe.js';
import type { NumberInfo } from '../../src/base/number-info.js';
import { UsageError } from '../base/errors.js';
import type { NumberText } from '../base/output.js';
import type { RowOptions } from '../input/rows.js';
import { Times } from '../input/times.js';
import { binExamples } from '../input/typed-columns.js';

/** The settings of a file that say what its columns of times become. */
type TimeSettings = Pick<RowOptions, 'times' | 'types' | 'zone' | 'columns'>;

/** Numbers of an answer that are times where their column has times. */
const areTimes: ReadonlySet<NumberInfo['kind']> = new Set(['mean', 'median', 'quantile']);

/**
 * Refuses bins without a list, of which no estimator can make a number. It reads no file.
 * @throws UsageError with an example of a list.
 */
export function checkBins(estimator: string, { times, types, columns }: TimeSettings): void {
  for (const [name, unit] of times ?? []) {
    const isRead = columns === undefined || columns.includes(name);
    if (unit === 'time' || !isRead || types?.get(name)?.type !== 'text') continue;
    throw new UsageError(`${estimator} needs the list of each ${unit} of ${name}, which is public: `
      + `give the first and the last, as in --type ${name}=${unit}:${binExamples[unit]}, or the `
      + `times themselves by --type ${name}=time`);
  }
}

/**
 * Refuses an estimator whose numbers mean nothing for times, such as a total.
 * @throws UsageError with what can be asked.
 */
export function checkTimes(asked: Described, { times }: TimeSettings): void {
  const columns = asked.columns.filter((name) => times?.get(name) === 'time');
  if (columns.length === 0) return;
  const stray = describeNumbers(asked).find((number) => !areTimes.has(number.kind)
    && !(number.kind === 'count' && number.side === undefined) && number.kind !== 'groups');
  if (stray === undefined) return;
  throw new UsageError(`${columns[0]} holds times, and the numbers of ${asked.estimator} would be `
    + `no times: ask for mean, median or quantile of ${columns[0]}, or how many there are of each `
    + `day, by histogram with --type ${columns[0]}=day:${binExamples.day}`);
}

/** How each number of an answer is written: undefined where it is no time. */
export function timeTexts(
  asked: Described, { times, zone }: TimeSettings,
): readonly (NumberText | undefined)[] | undefined {
  if (times === undefined) return undefined;
  const shown = new Times({ zone });
  return describeNumbers(asked).map((number) =>
    (areTimes.has(number.kind) && 'column' in number && number.column !== undefined
      && times.get(number.column) === 'time' ? (value, half) => shown.textOf(value, half)
      : undefined));
}

/** A note on the numbers of columns of times, for people and programs. */
export function notesOnTimes(
  columns: readonly string[], { times, zone = 'UTC' }: TimeSettings,
): readonly string[] {
  return columns.filter((name) => times?.get(name) === 'time').map((name) =>
    `the numbers of ${name} are milliseconds since 1970, and are shown as times of ${zone}`);
}

/** From the start of what a text names until its end, in milliseconds since 1970. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The span of a month, a day or a part of it.
 * @param flag - what was typed, for the message.
 * @throws UsageError for a text that is no time.
 */
function spanOf(
  text: string, flag: string, { zone, dates }: Pick<RowOptions, 'zone' | 'dates'>,
): Span {
  const times = new Times({ zone, dates });
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(text) ?? [];
  const first = times.spanIn(month === undefined ? text : `${text}-01`);
  const isLast = Number(month) === 12;
  const next = month === undefined ? first : times.spanIn(
    `${Number(year) + Number(isLast)}-${isLast ? '01' : String(Number(month) + 1)}-01`);
  if (typeof first === 'string' || typeof next === 'string') {
    const remedy = first === 'zone' || next === 'zone'
      ? 'name its time zone, as in --csv zone=Europe/Berlin'
      : 'write 2026-12-31, 2026-12-31T23:59 or 2026-12';
    throw new UsageError(`${flag} names no time: ${remedy}`);
  }
  return { fromMs: first.fromMs, toMs: month === undefined ? first.toMs : next.fromMs };
}

/**
 * The parameters of `--set`, with times in a range in milliseconds where a column has times. A
 * range goes from the start of its first time to the end of its last: `2026-01..2026-12` is a year.
 * @throws UsageError for an end that is neither a time nor a number.
 */
export function rangeOfTimes(
  given: Readonly<Record<string, unknown>>,
  { times, ...form }: Pick<RowOptions, 'times' | 'zone' | 'dates'>,
): Readonly<Record<string, unknown>> {
  const { range } = given;
  if (typeof range !== 'string' || ![...times?.values() ?? []].includes('time')) return given;
  const flag = `--set range=${range}`;
  const inMs = (text: string, end: keyof Span): string =>
    (Number.isNaN(Number(text)) ? String(spanOf(text, flag, form)[end]) : text);
  return { ...given, range: range.replaceAll(/([^,]+?)\.\.([^,]+)/g, (_, low: string, high: string) =>
    `${inMs(low.trim(), 'fromMs')}..${inMs(high.trim(), 'toMs')}`) };
}

/** A test of a question on one column, by the key that a study file has for it. */
type KeyedTest = Readonly<Record<string, number>>;

/**
 * The test of a time that a text names: a month, a day, or a part of it, from its start to its end.
 * So `<=2026-12-31` holds on that day.
 * @param sign - between column and text.
 * @throws UsageError for a text that is no time.
 */
export function timeTest(
  column: string, sign: string, text: string, form: Pick<RowOptions, 'zone' | 'dates'>,
): KeyedTest {
  const { fromMs, toMs } = spanOf(text, `--where ${column}${sign}${text}`, form);
  switch (sign) {
    case '=': return { 'at-least': fromMs, below: toMs };
    case '>=': return { 'at-least': fromMs };
    case '>': return { 'at-least': toMs };
    case '<': return { below: fromMs };
    case '<=': return { below: toMs };
    default: throw new UsageError(`--where ${column}${sign}${text} is no test of a time: give `
      + 'column and time with =, >=, >, < or <= between');
  }
}
