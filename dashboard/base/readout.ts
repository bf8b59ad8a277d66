import { ifFalseText } from '../../client/words.js';
import { endsOf } from '../../src/answers/intervals.js';
import { halfOf } from '../../client/base/digits.js';
import { clockTime, rangeText, whole } from './format.js';
import {
  intervalBetween, newestIn, reasonInWords, type Series, type ValueOutcome,
} from './model.js';
import { numberText, shownNumber, unitText, type NumberWords } from './number-words.js';

/** The newest number of a series with its interval, in words. */
export function numberNow(series: Series, words: NumberWords): ReturnType<typeof shownNumber> {
  const at = newestIn(series);
  if (at < 0) return { lead: 'none', range: 'no answer yet' };
  return shownNumber(series.values[at], intervalAt(series, at), words);
}

/** The interval of one release of a series; null if there is none. An open end is infinite. */
export function intervalAt({ lows, highs }: Series, at: number): readonly [number, number] | null {
  return intervalBetween(lows[at] ?? null, highs[at] ?? null);
}

/**
 * One release in words: its time, epoch, number and interval, or why it refused. Without a place:
 * the meaning of the crosses on the chart.
 */
export function readoutOf(
  series: Series, smoothed: Series | null, words: NumberWords, place: number | null,
): string {
  const refused = series.refusals.filter((reason) => reason !== null).length;
  if (place === null) return refused === 0
    ? ' ' : `× marks ${refused === 1 ? 'an epoch' : 'epochs'} without an answer`;
  const epoch = series.epochs[place];
  if (epoch === undefined) return ' ';
  const when = `${clockTime(series.times[place]!)}, epoch ${whole(epoch)}`;
  const reason = series.refusals[place];
  if (reason !== null && reason !== undefined) return `${when}: refused, ${reasonInWords(reason)}`;
  const more = smoothed === null ? '' : `; smoothed ${valueText(smoothed, place, words)}`;
  return `${when}: ${valueText(series, place, words)}${unitText(words)}${more}`;
}

/** The words of an answer with two intervals: with liars and without. */
export interface LiarsWords {
  /** After the shown interval, such as `, also if up to 5 % lie`. */
  readonly also: string;
  /** The other interval, such as `if nobody lies: 7.78 to 8.11 minutes`. */
  readonly honest: string;
}

/**
 * The case that the shown interval allows for, and the interval of the other case; null if the
 * release states one interval only.
 * @param place of the number in the estimate.
 */
export function liarsWords(
  { estimate, interval95, intervalIfFalse95 }: ValueOutcome, place: number, words: NumberWords,
  parameters: Readonly<Record<string, unknown>>,
): LiarsWords | null {
  if (interval95 === undefined || intervalIfFalse95 === undefined) return null;
  const isKnown = endsOf(intervalIfFalse95, place) !== null;
  const also = `${isKnown ? ',' : ' that holds'} ${ifFalseText(parameters)}`;
  const ends = endsOf(interval95, place);
  if (ends === null) return { also, honest: 'if nobody lies: no interval' };
  const half = halfOf(estimate[place]!, ends);
  return { also, honest:
    `if nobody lies: ${rangeText(ends, (end) => numberText(end, half, words))}${unitText(words)}` };
}

/** The number of one release and both ends of its interval, without the unit. */
export function valueText(series: Series, place: number, words: NumberWords): string {
  const interval = intervalAt(series, place);
  const half = interval === null ? null : halfOf(series.values[place] ?? 0, interval);
  const text = (value: number): string => numberText(value, half, words);
  const value = numberText(series.values[place], half, words);
  return interval === null || half === 0 ? value : `${value}, ${rangeText(interval, text)}`;
}
