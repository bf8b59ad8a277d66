import { compact, exact, halfOf, percent, rangeText, shown, spoken, whole } from './format.js';
import type { Asked, Series } from './model.js';

/** How one number of an answer is written for people, and which values it can have. */
export interface NumberWords {
  readonly name: string;
  /** Stands after the number; empty for none. */
  readonly unit: string;
  readonly format: 'plain' | 'percent' | 'compact' | 'people';
  /** The smallest and the largest possible value. Noise may lead beyond them. */
  readonly least: number;
  readonly greatest: number;
  /** What the number stands for, if it is a place in a list. */
  readonly texts?: readonly string[];
}

const anything = { unit: '', format: 'plain', least: -Infinity, greatest: Infinity } as const;

/** Words for a number of which only the name is known. */
export function plainWords(name: string): NumberWords {
  return { ...anything, name };
}

/** The name of a column for people: its label, else its name. */
export function columnName({ columns, words }: Asked, column: number): string {
  return words?.[column]?.label ?? spoken(columns[column] ?? 'value');
}

/** How the numbers of a column are written. @param range of possible values. */
function ofColumn(
  asked: Asked, column: number, name: string, range: readonly [number, number] | null = null,
): NumberWords {
  const { unit = '', format = 'plain' } = asked.words?.[column] ?? {};
  const isShare = asked.types?.[column]?.type === 'boolean';
  const [least, greatest] = range ?? (isShare ? [0, 1] : [-Infinity, Infinity]);
  return { name, unit, format: isShare ? 'percent' : format, least, greatest };
}

const people = { unit: '', format: 'people', least: 0, greatest: Infinity } as const;

/**
 * The words for one number of an answer, or of one key of a split answer.
 * @param label the server's name for it, in which columns have their names of the facts.
 * @param column the column that it belongs to, if each has one number.
 */
export function wordsOf(asked: Asked, label: string, column: number | null): NumberWords {
  const { estimator, parameters } = asked;
  const at = typeof parameters['column'] === 'number' ? parameters['column'] : 0;
  switch (estimator) {
    case 'count':
      return { ...people, name: countName(asked, at, label) };
    case 'share':
      return { ...people, format: 'percent', greatest: 1,
        name: `share of people with ${sideOf(asked, at)}` };
    case 'histogram':
      return / from$/.test(label) ? ofColumn(asked, at, spoken(label))
        : { ...people, name: spoken(label) };
    case 'quantile': case 'distribution': {
      const [, probability] = / at ([\d.]+)$/.exec(label) ?? [];
      if (probability === undefined) return { ...people, name: spoken(label) };
      return ofColumn(asked, at, quantileName(columnName(asked, at), Number(probability)),
        rangeOf(asked));
    }
    case 'sum':
      return column === null ? plainWords(spoken(label))
        : { ...ofColumn(asked, column, `total of ${columnName(asked, column)}`), ...totalOf(asked, column) };
    default:
      return column === null ? plainWords(spoken(label))
        : ofColumn(asked, column, columnName(asked, column));
  }
}

/** A total of values that are not below zero is not below zero, and is no share. */
function totalOf({ types, words }: Asked, column: number): Partial<NumberWords> {
  const { format = 'plain' } = words?.[column] ?? {};
  return types?.[column]?.type === 'boolean' ? people : { format };
}

function countName(asked: Asked, at: number, label: string): string {
  if (label === 'distinct keys') return label;
  return asked.parameters['threshold'] === undefined ? 'people' : `people with ${sideOf(asked, at)}`;
}

/** `a delay of at least 60 minutes`. */
function sideOf(asked: Asked, column: number): string {
  const { threshold = 0.5, side } = asked.parameters;
  const name = columnName(asked, column);
  if (asked.types?.[column]?.type === 'boolean') return `${name}: ${side === 'below' ? 'no' : 'yes'}`;
  const unit = asked.words?.[column]?.unit;
  return `${name} ${side === 'below' ? 'below' : 'of at least'} ${exact(Number(threshold))}${
    unit === undefined ? '' : ` ${unit}`}`;
}

function quantileName(name: string, probability: number): string {
  return probability === 0.5 ? `median ${name}`
    : `${name} that ${percent(probability)} of people are below`;
}

/** Quantiles are chosen within a public range. */
function rangeOf({ parameters: { low, high } }: Asked): readonly [number, number] | null {
  return typeof low === 'number' && typeof high === 'number' ? [low, high] : null;
}

/** A variance is not below zero. */
export function varianceWords(name: string): NumberWords {
  return { ...anything, name, least: 0 };
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
    case 'compact': return compact(value);
    case 'people': return whole(Math.round(value));
    default: return shown(value, half);
  }
}

/** ` minutes`; empty if the numbers have no unit. */
export function unitText({ unit }: NumberWords): string {
  return unit === '' ? '' : ` ${unit}`;
}

/** How counts of people are written. */
export const peopleWords: NumberWords = { ...people, name: 'people' };

/**
 * A number and its interval for a table: `8.3` and ` ± 1.2`; both ends alone where the interval
 * ends at what is possible.
 */
export function cellTexts(
  value: number | null, interval: readonly [number, number] | null, words: NumberWords,
): readonly [value: string, plus: string] {
  if (value === null || interval === null) return [shownNumber(value, interval, words).lead, ''];
  const { least, greatest } = words;
  if (isBeyond(interval, words)) {
    return [shownNumber(value, interval, { ...words, unit: '' }).lead, ''];
  }
  const half = halfOf(value, interval);
  const text = (each: number): string => numberText(each, half, words);
  if (half === 0) return [text(value), ''];
  const isCentred = Math.abs((interval[0] + interval[1]) / 2 - value) <= half / 50;
  return [text(value), isCentred ? ` ± ${text(half)}`
    : ` (${rangeText(atMost(interval, least, greatest), text)})`];
}

/** A series without what is impossible: values and intervals end at the possible ones. */
export function possible(series: Series, { least, greatest }: NumberWords): Series {
  if (least === -Infinity && greatest === Infinity) return series;
  const cut = (list: readonly (number | null)[]): readonly (number | null)[] =>
    list.map((value) => (value === null ? null : Math.min(greatest, Math.max(least, value))));
  return {
    ...series, values: cut(series.values), lows: cut(series.lows), highs: cut(series.highs),
  };
}

/** Whether an end of the interval that is known is beyond what is possible. */
function isBeyond(
  [low, high]: readonly [number, number], { least, greatest }: NumberWords,
): boolean {
  return (low < least && low !== -Infinity) || (high > greatest && high !== Infinity);
}

/** The interval, of which an open end is at what is possible. */
function atMost(
  [low, high]: readonly [number, number], least: number, greatest: number,
): readonly [number, number] {
  return [Math.max(low, least), Math.min(high, greatest)];
}

/** One number with its interval, after what is impossible was cut off. */
export interface ShownNumber {
  /** The value; where noise is larger than it, both ends of its interval. */
  readonly lead: string;
  /** The interval in words; why there is none otherwise. */
  readonly range: string;
}

/**
 * A number and its interval in words. Where the interval ends at what is possible, the noise is as
 * large as the number, so the interval is the answer.
 */
export function shownNumber(
  value: number | null | undefined, interval: readonly [number, number] | null, words: NumberWords,
): ShownNumber {
  if (value === null || value === undefined) return { lead: 'none', range: 'no answer' };
  const end = (each: number): number => Math.min(words.greatest, Math.max(words.least, each));
  if (interval === null) {
    return { lead: `${numberText(end(value), null, words)}${unitText(words)}`,
      range: 'without an interval' };
  }
  const half = halfOf(value, interval);
  const text = (each: number): string => numberText(end(each), half, words);
  if (half === 0) return { lead: `${text(value)}${unitText(words)}`, range: 'exact' };
  if (isBeyond(interval, words)) {
    const [low, high] = [text(interval[0]), text(interval[1])];
    return low === high
      ? { lead: `about ${low}${unitText(words)}`, range: 'the noise led beyond what is possible' }
      : { lead: `${low} to ${high}${unitText(words)}`,
        range: '95 % interval, cut at what is possible' };
  }
  return { lead: `${text(value)}${unitText(words)}`,
    range: `95 % interval ${
      rangeText(atMost(interval, words.least, words.greatest), text)}${unitText(words)}` };
}
