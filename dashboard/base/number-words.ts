import type { NamedPart } from '../../client/index.js';
import { halfOf } from '../../client/base/digits.js';
import { compact, exact, percent, rangeText, shown, spoken, whole } from './format.js';
import { labelsOf } from './labels.js';
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

/** The name of a column with its unit: `delay, in minutes`. */
export function axisName(asked: Asked, column: number): string {
  const unit = asked.words?.[column]?.unit;
  return `${columnName(asked, column)}${unit === undefined ? '' : `, in ${unit}`}`;
}

/** The place of the column that a question is about, among those of the question. */
export function columnOf({ parameters: { column } }: Asked): number {
  return typeof column === 'number' ? column : 0;
}

/** How the numbers of a column are written. @param range of possible values. */
function ofColumn(
  asked: Asked, column: number, name: string, range: readonly [number, number] | null = null,
): NumberWords {
  const { unit = '', format = 'plain' } = asked.words?.[column] ?? {};
  const isBoolean = asked.types?.[column]?.type === 'boolean';
  // Of several rows of one person, the sum says in how many the answer is yes: that is no share.
  const isShare = isBoolean && asked.reduce !== 'sum';
  const [least, greatest] = range ?? (isShare ? [0, 1] : [isBoolean ? 0 : -Infinity, Infinity]);
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
  const at = columnOf(asked);
  switch (estimator) {
    case 'count':
      return { ...people, name: countName(asked, at, label) };
    case 'share':
      return { ...people, format: 'percent', greatest: 1,
        name: `share of people with ${sideOf(asked, at)}` };
    case 'histogram':
      return parameters['width'] !== undefined && / from$/.test(label)
        ? ofColumn(asked, at, spoken(label)) : { ...people, name: spoken(label) };
    case 'quantile': case 'distribution': {
      const [, probability] = / at ([\d.e-]+)$/.exec(label) ?? [];
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

/** The words for each number, in the order of the estimate. */
export function wordsOfAll(
  asked: Asked, size: number, parts?: readonly NamedPart[],
): readonly NumberWords[] {
  const { columns, estimator } = asked;
  return labelsOf(asked, size, parts).map((label, place) => {
    if (estimator === 'gaussian') return ofMoments(asked, label, place - columns.length);
    if (/covariance$/.test(estimator)) return ofMoments(asked, label, place);
    const isOfEach = estimator === 'sum' || label === columns[place];
    const column = isOfEach ? place : columns.indexOf(label);
    return wordsOf(asked, label, column < 0 ? null : column);
  });
}

/** @param place in a covariance, row by row; below zero in the means that stand before it. */
function ofMoments(asked: Asked, label: string, place: number): NumberWords {
  const size = asked.columns.length;
  const column = (place + size) % size;
  if (place < 0) return ofColumn(asked, column, `mean ${columnName(asked, column)}`);
  return Math.floor(place / size) === column ? varianceWords(`variance of ${columnName(asked, column)}`)
    : plainWords(spoken(label));
}

/** A total is no share. That of a boolean is not below zero, and counts people or their rows. */
function totalOf({ types, words, reduce }: Asked, column: number): Partial<NumberWords> {
  const { format = 'plain' } = words?.[column] ?? {};
  if (types?.[column]?.type !== 'boolean') return { format };
  return reduce === 'one' ? people : { ...people, format };
}

function countName(asked: Asked, at: number, label: string): string {
  if (label === 'distinct keys') return label;
  return asked.parameters['threshold'] === undefined ? 'people' : `people with ${sideOf(asked, at)}`;
}

/** `a delay of at least 60 minutes`. */
function sideOf(asked: Asked, column: number): string {
  const { threshold = 0.5, side } = asked.parameters;
  const name = columnName(asked, column);
  // One yes among the rows of a person makes their sum reach a threshold of up to 1.
  const isYes = Number(threshold) > 0 && Number(threshold) <= 1;
  if (asked.types?.[column]?.type === 'boolean' && isYes) {
    return `${name}: ${side === 'below' ? 'no' : 'yes'}`;
  }
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
    case 'compact': return compact(value, half);
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

/** Whether part of an interval is possible, and part that ends is not. */
function isCut(
  [low, high]: readonly [number, number], { least, greatest }: NumberWords,
): boolean {
  const isBeyond = (low < least && low !== -Infinity) || (high > greatest && high !== Infinity);
  return isBeyond && high >= least && low <= greatest;
}

/**
 * A series as it is drawn: values and intervals end at what is possible. An interval that is wholly
 * outside stays as it is, with its value: then what is taken for possible may be wrong.
 */
export function possible(series: Series, words: NumberWords): Series {
  const { least, greatest } = words;
  if (least === -Infinity && greatest === Infinity) return series;
  const isCutAt = series.lows.map((low, i) => {
    const high = series.highs[i] ?? null;
    return (low !== null || high !== null) && isCut([low ?? -Infinity, high ?? Infinity], words);
  });
  const cut = (list: readonly (number | null)[]): readonly (number | null)[] =>
    list.map((value, i) => (value === null || !isCutAt[i]! ? value
      : Math.min(greatest, Math.max(least, value))));
  return {
    ...series, values: cut(series.values), lows: cut(series.lows), highs: cut(series.highs),
  };
}

/** An interval of which an open end is at what is possible. */
function closed(
  [low, high]: readonly [number, number], { least, greatest }: NumberWords,
): readonly [number, number] {
  return [
    low === -Infinity && high >= least ? least : low,
    high === Infinity && low <= greatest ? greatest : high,
  ];
}

/** One number with its interval. What is impossible of the interval is cut off. */
export interface ShownNumber {
  /** The value; where noise is larger than it, both ends of its interval. */
  readonly lead: string;
  /** The interval in words; why there is none otherwise. */
  readonly range: string;
}

/**
 * A number and its interval in words. Where the interval ends at what is possible, the noise is as
 * large as the number, so the interval is the answer. A number whose whole interval is outside of
 * what is possible is shown as it was released.
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
