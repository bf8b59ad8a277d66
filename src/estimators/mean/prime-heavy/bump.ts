/**
 * Which scores too many rows have, by their noisy histogram. Works on released numbers alone, so at
 * no cost.
 */

/**
 * Scores of honest rows vary about 1. From there on fewer and fewer rows have higher ones, bin for
 * bin.
 */
export const leastHeavyScore = 1;

/** An interval of scores: from `low`, up to below `high`. */
export interface ScoreInterval {
  readonly low: number;
  readonly high: number;
}

/** A bin stands out with this many times as many rows as a lower bin, noise apart. */
const standsOut = 1.25;
/** In standard deviations of a bin's noise. */
const certain = 4.5;
/** An interval with less than this share of the rows hardly matters, and is left alone. */
const leastShare = 0.001;

/**
 * On its far side an interval goes on while bins exceed their noise and each holds at most this
 * share of the one before: faster than any tail falls off.
 */
const fallsOff = 0.65;

/**
 * The interval whose bins hold more rows than some bin below them. No tail does that, while rows
 * that stand together do. Rows inside this interval are removed; a threshold would also remove the
 * honest rows farther out, and so move the mean of lopsided ones.
 * @param counts - noisy, one per edge.
 * @param noise - standard deviation of each.
 * @param present - rows in all, about.
 * @returns the one that holds most; null when there is none.
 */
export function bumpOf(
  edges: readonly number[], counts: Float64Array, noise: number, present: number,
): ScoreInterval | null {
  let best: { from: number; to: number; excess: number } | null = null;
  let valley = 0;
  for (let at = 0; at < counts.length; at++) {
    const lowest = Math.max(0, counts[valley]!);
    const isOut = (bin: number): boolean => counts[bin]! > standsOut * lowest + certain * noise;
    if (!isOut(at)) {
      if (counts[at]! <= lowest) valley = at;
      continue;
    }
    let excess = 0;
    for (; at < counts.length && isOut(at); at++) excess += counts[at]! - lowest;
    const isFalling = (): boolean =>
      counts[at]! > 2 * noise && counts[at]! < fallsOff * counts[at - 1]!;
    while (at < counts.length && isFalling()) at++;
    if (excess > leastShare * present && excess > (best?.excess ?? 0)) {
      best = { from: valley + 1, to: at, excess };
    }
  }
  return best === null ? null : { low: edges[best.from]!, high: edges[best.to] ?? Infinity };
}
