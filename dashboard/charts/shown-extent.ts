import { intervalBetween, type Series } from '../base/model.js';
import type { Point } from '../../src/answers/drawing.js';

/**
 * Opacity of the band that holds if nobody lies, as a part of that of the band around it. It is
 * painted on top of it, so it is darker.
 */
export const honestBand = 0.5;

/** An interval may reach this many times as far as three quarters of the others do. */
const reachMost = 4;

type Ends = Pick<Series, 'values' | 'lows' | 'highs'>;

/**
 * The smallest and the largest value that a chart of some lines shows; null if they have no answer.
 * Every answer is in it. So are the intervals, unless a few are so wide that all else would be
 * flat: these are cut off. O(n log n) for n releases.
 */
export function shownExtent(...lines: readonly Ends[]): readonly [number, number] | null {
  const extents = lines.map(extentOf).filter((each) => each !== null);
  return extents.length === 0 ? null : [
    Math.min(...extents.map(([low]) => low)), Math.max(...extents.map(([, high]) => high)),
  ];
}

function extentOf({ values, lows, highs }: Ends): readonly [number, number] | null {
  let [least, greatest, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  const reaches: number[] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const [from, to] = [lows[i] ?? value, highs[i] ?? value];
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
    low = Math.min(low, from, value);
    high = Math.max(high, to, value);
    if (to > from) reaches.push(Math.max(value - from, to - value));
  });
  if (least > greatest) return null;
  const sorted = Float64Array.from(reaches).sort();
  const usual = sorted[Math.floor((sorted.length - 1) * 0.75)] ?? 0;
  const room = Math.max(usual * reachMost, greatest - least);
  return [Math.max(low, least - room), Math.min(high, greatest + room)];
}

/**
 * The ends of the interval of one release as they are drawn: an open end is infinite, so that it is
 * at the edge of the chart. Both are null where there is no interval.
 */
export function endsAt(
  { lows, highs }: Pick<Series, 'lows' | 'highs'>, at: number,
): readonly [low: number | null, high: number | null] {
  return intervalBetween(lows[at] ?? null, highs[at] ?? null) ?? [null, null];
}

/** An end of an interval where the chart shows it: at the edge if it is beyond. */
export function within(end: number, [least, greatest]: readonly [number, number]): number {
  return Math.min(greatest, Math.max(least, end));
}

/**
 * The corners of a triangle at each edge of a chart that an interval reaches beyond.
 * @param top pixels of the upper edge; `bottom` those of the lower one.
 */
export function beyondMarks(
  { x, low, high }: Readonly<Record<'low' | 'high', number | null>> & { readonly x: number },
  [least, greatest]: readonly [number, number], [top, bottom]: readonly [number, number],
  size: number,
): readonly (readonly Point[])[] {
  const triangle = (edge: number, tall: number): readonly Point[] =>
    [[x, edge], [x + 0.7 * size, edge + tall], [x - 0.7 * size, edge + tall]];
  return [
    ...(high !== null && high > greatest ? [triangle(top, size)] : []),
    ...(low !== null && low < least ? [triangle(bottom, -size)] : []),
  ];
}
