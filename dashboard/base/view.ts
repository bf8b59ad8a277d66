import { partOf, type Series } from './model.js';

/** Which releases the charts of a study show, and how. The address holds it, so a link does too. */
export interface View {
  readonly range: Range;
  /** The first and the last epoch that were chosen; they come before `range`. */
  readonly chosen: readonly [from: number, to: number] | null;
  readonly axis: 'time' | 'epoch';
  readonly isSmooth: boolean;
  /** The epoch whose numbers are read out; null for none. */
  readonly epoch: number | null;
  /** Numbers on one chart, of this study or others, as `comparedName` writes them. */
  readonly compared: readonly string[];
}

/** Most numbers on one chart: each needs a colour of its own. */
export const comparedMax = 4;

/**
 * The name of a number in an address: the beginning of the study's id, the question, and the
 * number's place among those of `numbersOf`.
 */
export function comparedName(id: string, question: string, slot: number): string {
  return `${id.slice(0, 12)}.${question}.${slot}`;
}

/** Ranges that end with the newest release. */
export const ranges = ['20', 'day', 'week', 'all'] as const;
/** One of them. */
export type Range = (typeof ranges)[number];

/** The view where the address asks for none. */
export const plainView: View =
  { range: 'all', chosen: null, axis: 'time', isSmooth: false, epoch: null, compared: [] };

const wholeNumber = (text: string | null): number | null =>
  (text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null);

/** Reads the part of an address after the question mark. Unknown and wrong parts are left out. */
export function viewOf(query: string): View {
  const given = new URLSearchParams(query);
  const [from, to] = [wholeNumber(given.get('from')), wholeNumber(given.get('to'))];
  return {
    range: ranges.find((each) => each === given.get('range')) ?? plainView.range,
    chosen: from !== null && to !== null && from <= to ? [from, to] : null,
    axis: given.get('axis') === 'epoch' ? 'epoch' : 'time',
    isSmooth: given.get('smooth') === '1',
    epoch: wholeNumber(given.get('epoch')),
    compared: [...new Set(given.get('with')?.split('_') ?? [])]
      .filter((name) => /^[0-9a-f]{12}\.[a-z][a-z0-9-]{0,31}\.\d{1,2}$/.test(name))
      .slice(0, comparedMax),
  };
}

/** The same for an address, with a question mark in front; empty for the plain view. */
export function queryOf({ range, chosen, axis, isSmooth, epoch, compared }: View): string {
  const query = new URLSearchParams({
    ...(range !== plainView.range && { range }),
    ...(chosen !== null && { from: String(chosen[0]), to: String(chosen[1]) }),
    ...(axis !== plainView.axis && { axis }),
    ...(isSmooth && { smooth: '1' }),
    ...(epoch !== null && { epoch: String(epoch) }),
    ...(compared.length > 0 && { with: compared.join('_') }),
  }).toString();
  return query === '' ? '' : `?${query}`;
}

const dayMs = 86_400_000;
const lengthsMs = { day: dayMs, week: 7 * dayMs } as const;

/** The releases of a series that a view shows. Days and weeks end with the newest one. */
export function within(series: Series, { range, chosen }: View): Series {
  const { epochs, times } = series;
  let [first, end] = [0, epochs.length];
  if (chosen !== null) {
    first = placeFrom(epochs, chosen[0]);
    end = placeFrom(epochs, chosen[1] + 1);
  } else if (range === '20') first = Math.max(0, end - 20);
  else if (range !== 'all') first = placeFrom(times, (times.at(-1) ?? 0) - lengthsMs[range] + 1);
  return part(series, first, end);
}

/** The releases of a series that closed within a time: Unix milliseconds, with both ends. */
export function closedWithin(series: Series, [from, to]: readonly [number, number]): Series {
  return part(series, placeFrom(series.times, from), placeFrom(series.times, to + 1));
}

function part(series: Series, first: number, end: number): Series {
  if (first === 0 && end === series.epochs.length) return series;
  return partOf(series, (list) => list.slice(first, end));
}

/** The first place whose number is at least this; the length if there is none. */
function placeFrom(numbers: readonly number[], least: number): number {
  const place = numbers.findIndex((each) => each >= least);
  return place < 0 ? numbers.length : place;
}
