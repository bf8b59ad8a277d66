import { normalQuantile } from '../numerics/normal.js';
import type { KeptBin } from './mechanisms/contract.js';

/** A deviation from noisy counts of differences per doubling: a function of what was released, so post-processing. */

/** Half of normal values are at most so many deviations from their mean. */
const halfWithin = normalQuantile(0.75);
/** Of two normal values the difference has so many times their deviation. */
const ofDifference = Math.SQRT2;
/** Honest differences beyond so many of their deviations are a few in a thousand. */
const reach = 3;
/** A larger share below an edge than this one says nothing more of a normal shape. */
const shareMax = 0.99;
const passes = 4;

/**
 * The deviation of rows whose differences, two by two, lie in the bins 2^bin .. 2^(bin + 1); at least one bin.
 *
 * It is that of normal rows with the same median difference. The median is read off between the edges of its bin,
 * linearly in the normal quantiles of the shares below them: exact for a normal shape, and within the bin for any.
 * Bins beyond what such rows can be apart are left out and the median is taken again, so that whoever stands far out
 * moves it by nothing. Bins below the lowest one kept hold together about as much as that one does, differences near
 * zero being evenly spread: so much is added below, or losing them would raise the median.
 */
export function deviationOf(kept: readonly KeptBin[]): number {
  let bins = [...kept].sort((left, right) => left.bin - right.bin);
  let median = medianOf(bins);
  for (let pass = 1; pass < passes; pass++) {
    const farthest = (reach * median) / halfWithin;
    const near = bins.filter(({ bin }) => 2 ** bin <= farthest);
    if (near.length === bins.length) break;
    bins = near;
    median = medianOf(bins);
  }
  return median / (halfWithin * ofDifference);
}

/** Bins ascending; their counts are positive, since they were kept. */
function medianOf(bins: readonly KeptBin[]): number {
  const lost = bins[0]!.noisyCount;
  const total = bins.reduce((sum, { noisyCount }) => sum + noisyCount, lost);
  let below = lost;
  for (const { bin, noisyCount } of bins) {
    const upTo = below + noisyCount;
    if (upTo >= total / 2) return between(2 ** bin, below / total, upTo / total);
    below = upTo;
  }
  return 2 ** (bins.at(-1)!.bin + 1);
}

/** Where half are reached between `edge` and twice that, from the shares below the two. */
function between(edge: number, below: number, upTo: number): number {
  const quantileOf = (share: number): number => normalQuantile((1 + Math.min(share, shareMax)) / 2);
  const [low, high] = [quantileOf(below), quantileOf(upTo)];
  return edge * (1 + Math.min(1, Math.max(0, (halfWithin - low) / (high - low))));
}
