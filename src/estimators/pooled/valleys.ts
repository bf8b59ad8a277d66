/**
 * Clusters that stand apart from the other rows, in released histograms. A function of released
 * counts, so post-processing.
 *
 * A cluster is behind a valley: a stretch of bins that holds more rows than the bins before it. No
 * tail that falls outwards has a valley, however heavy it is.
 */

/** Width of a bin along an axis, in the units of the rows. */
export const binWidth = 0.25;
/** Bins along an axis, from -8 to 8. The outermost bins are open-ended. */
export const axisBins = 64;

/** Where the outermost bins begin, on both sides. */
export const axisEnd = binWidth * (axisBins / 2 - 1);

/** The bin of an entry along an axis; every number has one. */
export function binAlongAxis(entry: number): number {
  return Math.min(axisBins - 1, Math.max(0, Math.floor(entry / binWidth) + axisBins / 2));
}

/** A cluster has at most so many times the rows that may be hostile, and at least this part. */
export const clusterShares = { most: 1.5, least: 1 / 8 } as const;
/** Bins of a valley. */
export const valleys = [1, 2, 4] as const;
/** Bins of a cluster's stretch, at most. */
export const stretchMax = 12;
/** A stretch is so many times as dense as the valley before it. */
export const denser = 1.25;

export const sumOf = (counts: Float64Array): number =>
  counts.reduce((sum, count) => sum + count, 0);

/** Sums of the first 0, 1, 2, ... counts. */
export function runningSums(counts: Float64Array): readonly number[] {
  const sums = [0];
  for (const count of counts) sums.push(sums.at(-1)! + count);
  return sums;
}

/** A stretch of bins, and the valley right before it. */
export interface Stretch {
  readonly start: number;
  /** Bins of the stretch, and of the valley. */
  readonly size: number;
  readonly valley: number;
}

/**
 * True if the stretch holds clearly more rows than the valley would by its density.
 * @param sums - `runningSums` of noisy counts.
 * @param doubt.noise - standard deviation of a count.
 * @param doubt.chance - standard deviations that noise and chance may add.
 * @param doubt.times - how many times as dense as the valley it has to be; default `denser`.
 */
export function standsAbove(
  sums: readonly number[], { start, size, valley }: Stretch,
  { noise, chance, times = denser }: {
    readonly noise: number; readonly chance: number; readonly times?: number;
  },
): boolean {
  const factor = (times * size) / valley;
  const expected = factor * Math.max(0, sums[start]! - sums[start - valley]!);
  const held = sums[start + size]! - sums[start]!;
  const variance =
    noise ** 2 * (size + factor ** 2 * valley) + factor * expected + Math.max(0, held);
  return held > expected + chance * Math.sqrt(variance);
}
