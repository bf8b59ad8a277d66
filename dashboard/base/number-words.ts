import type { StudyDocument } from '../../client/index.js';
import type { NumberInfo } from '../../client/words.js';
import { halfOf } from '../../client/base/digits.js';
import { describeNumbers } from '../../src/answers/describe.js';
import { namesOf } from '../../src/answers/words.js';
import { compact, exact, percent, rangeText, shown, spoken, whole } from './format.js';
import {
  finite, intervalBetween, type Asked, type Series, type ValueOutcome,
} from './model.js';

/** The form of one number of an answer for people, and its possible values. */
export interface NumberWords {
  readonly name: string;
  /** Follows the number; empty for none. */
  readonly unit: string;
  readonly format: 'plain' | 'percent' | 'compact' | 'people';
  /** The smallest and the largest possible value. Noise may lead beyond them. */
  readonly least: number;
  readonly greatest: number;
  /** The texts that the number indexes, if it is a place in a list. */
  readonly texts?: readonly string[];
}

const anything = { unit: '', format: 'plain', least: -Infinity, greatest: Infinity } as const;

/** Words for a number of which only the name is known. */
export function plainWords(name: string): NumberWords {
  return { ...anything, name };
}

/** The columns of a study, or of a question, and their words. */
export type Columns = Pick<StudyDocument, 'columns' | 'columnWords'>;

/** The name of a column for people: its label, else its name, also of a column that is not here. */
export function columnText({ columns, columnWords }: Columns, column: string): string {
  return columnWords?.[columns.indexOf(column)]?.label ?? spoken(column);
}

/** The same for the column at a place. */
export function columnName({ columns, columnWords }: Asked, column: number): string {
  return columnWords?.[column]?.label ?? spoken(columns[column] ?? 'value');
}

/** The name of a column with its unit: `delay, in minutes`. */
export function axisName(asked: Asked, column: number): string {
  const unit = asked.columnWords?.[column]?.unit;
  return `${columnName(asked, column)}${unit === undefined ? '' : `, in ${unit}`}`;
}

/** The place of the column that a question is about, among those of the question. */
export function columnOf({ parameters: { column } }: Asked): number {
  return typeof column === 'number' ? column : 0;
}

/**
 * The words for each number of an answer in its order, or for each number of one key of a split
 * one.
 */
export function wordsOfAll(asked: Asked, outcome?: ValueOutcome): readonly NumberWords[] {
  const numbers = describeNumbers(asked, outcome);
  const placeOf = (column: string): number => asked.columns.indexOf(column);
  const names = namesOf(numbers, {
    column: (column) => columnText(asked, column),
    unitOf: (column) => asked.columnWords?.[placeOf(column)]?.unit,
    number: exact, percent,
  });
  return numbers.map((number, i): NumberWords => {
    const { unit = '', least = -Infinity, most: greatest = Infinity } = number;
    return { name: names[i]!, unit, format: formatOf(asked, number), least, greatest };
  });
}

const people = { unit: '', format: 'people', least: 0, greatest: Infinity } as const;

function formatOf(asked: Asked, number: NumberInfo): NumberWords['format'] {
  switch (number.kind) {
    case 'count': case 'groups': case 'bin': case 'below': return 'people';
    case 'share': return 'percent';
    case 'total': return isYesOrNo(asked, number.column) && asked.reduce === 'one'
      ? 'people' : columnFormat(asked, number.column);
    case 'mean': case 'median': case 'quantile': case 'bin-start':
      // If the rows of one person are summed, the sum counts the rows with a yes: it is no share.
      return isYesOrNo(asked, number.column) && asked.reduce !== 'sum'
        ? 'percent' : columnFormat(asked, number.column);
    default: return 'plain';
  }
}

function isYesOrNo({ columns, types }: Asked, column: string): boolean {
  return types?.[columns.indexOf(column)]?.type === 'boolean';
}

function columnFormat({ columns, columnWords }: Asked, column: string): NumberWords['format'] {
  return columnWords?.[columns.indexOf(column)]?.format ?? 'plain';
}

/** A number without its unit, with the digits that the interval leaves. */
export function numberText(
  value: number | null | undefined, half: number | null, { format, texts }: NumberWords,
): string {
  if (value === null || value === undefined) return 'none';
  if (texts !== undefined) return texts[value] ?? exact(value);
  switch (format) {
    case 'percent':
      return `${shown(value * 100, half === null ? null : half * 100)}\u00a0%`;
    case 'compact': return compact(value, half);
    case 'people': return whole(Math.round(value));
    default: return shown(value, half);
  }
}

/** ` minutes`; empty if the numbers have no unit. */
export function unitText({ unit }: NumberWords): string {
  return unit === '' ? '' : ` ${unit}`;
}

/** The form of counts of people. */
export const peopleWords: NumberWords = { ...people, name: 'people' };

/**
 * A number and its interval for a table: `8.3` and ` ± 1.2`; both ends alone where the interval
 * ends at a limit of possible values.
 */
export function cellTexts(
  value: number | null, interval: readonly [number, number] | null, words: NumberWords,
): readonly [value: string, plus: string] {
  if (value === null || interval === null) return [shownNumber(value, interval, words).lead, ''];
  if (isCut(interval, words)) {
    return [shownNumber(value, interval, { ...words, unit: '' }).lead, ''];
  }
  const half = halfOf(value, interval);
  const text = (each: number): string => numberText(each, half, words);
  if (half === 0) return [text(value), ''];
  const isCentred = Math.abs((interval[0] + interval[1]) / 2 - value) <= half / 50;
  return [text(value), isCentred ? ` ± ${text(half)}`
    : ` (${rangeText(closed(interval, words), text)})`];
}

/** True if part of an interval is possible, and part that ends is not. */
function isCut(
  [low, high]: readonly [number, number], { least, greatest }: NumberWords,
): boolean {
  const isBeyond = (low < least && low !== -Infinity) || (high > greatest && high !== Infinity);
  return isBeyond && high >= least && low <= greatest;
}

/**
 * A series as it is drawn: values and intervals end at the limits of possible values. An interval
 * that is wholly outside stays as it is, with its value: then the assumed limits may be wrong.
 */
export function possible(series: Series, words: NumberWords): Series {
  const { least, greatest } = words;
  if (least === -Infinity && greatest === Infinity) return series;
  const intervals = series.lows.map((low, i) => {
    const interval = intervalBetween(low, series.highs[i] ?? null);
    return interval === null ? null : closed(interval, words);
  });
  const cut = (list: readonly (number | null)[]): readonly (number | null)[] =>
    list.map((value, i) => {
      const interval = intervals[i] ?? null;
      return value === null || interval === null || !isCut(interval, words) ? value
        : Math.min(greatest, Math.max(least, value));
    });
  const ends = (side: 0 | 1): readonly (number | null)[] =>
    cut(intervals.map((interval) => finite(interval?.[side])));
  return { ...series, values: cut(series.values), lows: ends(0), highs: ends(1) };
}

/** An interval whose open ends are at the limits of possible values. */
function closed(
  [low, high]: readonly [number, number], { least, greatest }: NumberWords,
): readonly [number, number] {
  return [
    low === -Infinity && high >= least ? least : low,
    high === Infinity && low <= greatest ? greatest : high,
  ];
}

/** One number with its interval. The impossible part of the interval is cut off. */
export interface ShownNumber {
  /** The value; where noise is larger than it, both ends of its interval. */
  readonly lead: string;
  /** The interval in words; why there is none otherwise. */
  readonly range: string;
}

/**
 * A number and its interval in words. If the interval ends at a limit of possible values, the noise
 * is as large as the number, so the interval is the answer. A number whose whole interval is
 * outside of the limits is shown as it was released.
 */
export function shownNumber(
  value: number | null | undefined, interval: readonly [number, number] | null, words: NumberWords,
): ShownNumber {
  if (value === null || value === undefined) return { lead: 'none', range: 'no answer' };
  const lead = (half: number | null): string =>
    `${numberText(value, half, words)}${unitText(words)}`;
  if (interval === null) return { lead: lead(null), range: 'without an interval' };
  const half = halfOf(value, interval);
  const text = (each: number): string => numberText(each, half, words);
  if (half === 0) return { lead: lead(half), range: 'exact' };
  if (isCut(interval, words)) {
    const [low, high] = interval.map((each) =>
      text(Math.min(words.greatest, Math.max(words.least, each))));
    return low === high
      ? { lead: `about ${low!}${unitText(words)}`, range: 'the noise led beyond what is possible' }
      : { lead: `${low!} to ${high!}${unitText(words)}`,
        range: '95 % interval, cut at what is possible' };
  }
  const ends = closed(interval, words);
  const isPossible = ends[0] >= words.least && ends[1] <= words.greatest;
  return { lead: lead(half), range: `95 % interval ${rangeText(ends, text)}${unitText(words)}${
    isPossible ? '' : ', beyond what is possible'}` };
}
