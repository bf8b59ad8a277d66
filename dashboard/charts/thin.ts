import type { Series } from '../base/model.js';
import { endsAt } from './shown-extent.js';

/**
 * The mark in one column of pixels. Several releases in one column become one mark that covers them
 * all.
 */
export interface Mark {
  readonly x: number;
  /** The first and the last answer in it, and the smallest and the largest one. */
  readonly first: number;
  least: number;
  greatest: number;
  last: number;
  /** Over all intervals in it, infinite if one is open; null if no release in it has one. */
  low: number | null;
  high: number | null;
}

/**
 * The answers of a series as runs of marks, at most one for every column of pixels. A refusal ends
 * a run. Nothing visible is lost: each release lies within its mark, and some release reaches each
 * end of a mark. One pass, O(releases).
 * @param xOf the column of pixels of a place on the axis: an integer that never decreases.
 * @param along the place of each release on the axis; its epoch by default.
 */
export function marksOf(
  series: Series, xOf: (at: number) => number,
  along: readonly number[] = series.epochs,
): readonly Mark[][] {
  const { epochs, values } = series;
  const runs: Mark[][] = [];
  let run: Mark[] | undefined;
  for (let i = 0; i < epochs.length; i++) {
    const value = values[i] ?? null;
    if (value === null) {
      run = undefined;
      continue;
    }
    if (run === undefined) runs.push(run = []);
    const x = xOf(along[i]!);
    const [low, high] = endsAt(series, i);
    const mark = run.at(-1);
    if (mark === undefined || mark.x !== x) {
      run.push({ x, first: value, least: value, greatest: value, last: value, low, high });
      continue;
    }
    mark.last = value;
    if (value < mark.least) mark.least = value;
    if (value > mark.greatest) mark.greatest = value;
    if (low !== null && (mark.low === null || low < mark.low)) mark.low = low;
    if (high !== null && (mark.high === null || high > mark.high)) mark.high = high;
  }
  return runs;
}
