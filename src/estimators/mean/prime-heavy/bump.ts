/**
 * What a noisy histogram of scores tells: which of them are too many. Works on released numbers
 * alone, so it is free.
 */

/** Edges to a factor of two in scores, which are squared distances. */
const binsPerDoubling = 4;
/**
 * Scores of honest rows are spread about 1: from there on fewer and fewer rows have higher ones,
 * bin for bin.
 */
const leastScore = 1;

/** Edges of the bins, from what is not looked at up to what a score inside a ball can be. */
export function heavyEdges(radius: number): readonly number[] {
  const bins = Math.ceil(binsPerDoubling * Math.max(1, Math.log2((4 * radius * radius) / leastScore)));
  return Array.from({ length: bins }, (_, j) => leastScore * 2 ** (j / binsPerDoubling));
}

/** A stretch of scores: from `low`, up to below `high`. */
export interface Stretch {
  readonly low: number;
  readonly high: number;
}

/** A bin stands out where it holds so many times what lower bins hold, noise apart. */
const standsOut = 1.25;
/** In standard deviations of a bin's noise. */
const certain = 4.5;
/** A stretch with less than this share of the rows is left alone: it hardly matters. */
const leastShare = 0.001;

/**
 * On its far side a stretch goes on for as long as bins are seen above their noise and fall off
 * faster than any tail.
 */
const fallsOff = 0.65;

/**
 * The stretch in which rows are more than in some bin below it: nothing that tails off does that,
 * whatever its tails, while rows that stand together do. Whoever is in it goes; honest rows farther
 * out stay, which a threshold would take too and thereby move the mean of lopsided ones.
 * @param counts - noisy, one per edge.
 * @param noise - standard deviation of each.
 * @param present - rows in all, about.
 * @returns the one that holds most; null when there is none.
 */
export function bumpOf(edges: readonly number[], counts: Float64Array, noise: number, present: number): Stretch | null {
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
    while (at < counts.length && counts[at]! > 2 * noise && counts[at]! < fallsOff * counts[at - 1]!) at++;
    if (excess > leastShare * present && excess > (best?.excess ?? 0)) best = { from: valley + 1, to: at, excess };
  }
  return best === null ? null : { low: edges[best.from]!, high: edges[best.to] ?? Infinity };
}
