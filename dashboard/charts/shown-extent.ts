import type { Series } from '../base/model.js';

/** An interval may reach this many times as far as three quarters of the others do. */
const reachMost = 4;

/**
 * The smallest and the largest value that a chart shows; null if it has no answer. Every answer is
 * in it. So are the intervals, unless a few are so wide that all else would be flat: these are cut
 * off. O(n log n) for n releases.
 */
export function shownExtent(
  { values, lows, highs }: Pick<Series, 'values' | 'lows' | 'highs'>,
): readonly [number, number] | null {
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
