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

/** Public or released facts about the counts. */
export interface BumpLimits {
  /** Standard deviation of each count. */
  readonly noise: number;
  /** Rows in all, about. */
  readonly present: number;
  /** More rows than this are not hostile. */
  readonly most: number;
  /** Rows that were clipped have this score or more. */
  readonly clippedFrom: number;
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

/** More intervals than this are the rows' own: whole numbers, or several groups of honest rows. */
const intervalsMax = 2;

/**
 * The interval whose bins hold more rows than some bin below them. No tail does that, while rows
 * that stand together do. Rows inside this interval are removed; a threshold would also remove the
 * honest rows farther out, and so move the mean of lopsided ones.
 *
 * Honest rows may have such intervals of their own: whole numbers have gaps, and groups of people
 * differ. So nothing is removed where an interval holds more rows than may be hostile, or where
 * there are more than two of them.
 * @param counts - noisy, one per edge.
 * @returns the one that holds most; null when there is none.
 */
export function bumpOf(
  edges: readonly number[], counts: Float64Array, limits: BumpLimits,
): ScoreInterval | null {
  const { noise, present, most, clippedFrom } = limits;
  const edge = edgeBin(edges, counts, clippedFrom);
  const found: { from: number; to: number; excess: number }[] = [];
  let valley = 0;
  for (let at = 0; at < edge; at++) {
    const lowest = Math.max(0, counts[valley]!);
    const isOut = (bin: number): boolean => counts[bin]! > standsOut * lowest + certain * noise;
    if (!isOut(at)) {
      if (counts[at]! <= lowest) valley = at;
      continue;
    }
    let excess = 0;
    for (; at < edge && isOut(at); at++) excess += counts[at]! - lowest;
    const isFalling = (): boolean =>
      counts[at]! > 2 * noise && counts[at]! < fallsOff * counts[at - 1]!;
    while (at < edge && isFalling()) at++;
    found.push({ from: valley + 1, to: at, excess });
  }
  const rowsIn = (from: number, to: number): number =>
    counts.subarray(from, to).reduce((sum, count) => sum + count, 0);
  if (found.length > intervalsMax) return null;
  if (found.some(({ from, to }) => rowsIn(from, to) > most)) return null;
  const best = found.reduce<typeof found[number] | null>((one, other) =>
    (other.excess > (one?.excess ?? leastShare * present) ? other : one), null);
  return best === null ? null : { low: edges[best.from]!, high: edges[best.to] ?? Infinity };
}

/** Bins in an octave of distance: scores are squares. */
const octave = 8;
/**
 * Rows beyond the ball stand at its edge. A tail with a variance has at most a third of the rows
 * there that it has in the octave before, so more than this are a cluster.
 */
const edgeShare = 0.6;

/** The first bin of clipped rows, if they are as many as a tail may have there; or all bins. */
function edgeBin(
  edges: readonly number[], counts: Float64Array, clippedFrom: number,
): number {
  const next = edges.findIndex((edge) => edge > clippedFrom);
  const bin = Math.max(1, (next === -1 ? edges.length : next) - 1);
  const sum = (from: number, to: number): number =>
    counts.subarray(from, to).reduce((total, count) => total + Math.max(0, count), 0);
  return sum(bin, counts.length) > edgeShare * sum(Math.max(0, bin - octave), bin)
    ? counts.length : bin;
}
