import { normalQuantile } from '../../numerics/normal.js';
import type { KeptBin } from '../mechanisms/contract.js';

/**
 * A deviation from noisy counts of differences per doubling: a function of what was released, so
 * post-processing.
 */

/** A share of normal differences is at most so many of their deviations. */
const within = (share: number): number => normalQuantile((1 + share) / 2);
/** Of two normal values the difference has so many times their deviation. */
const ofDifference = Math.SQRT2;
/** Honest differences beyond so many of their deviations are a few in a thousand. */
const reach = 3;
/** A larger share below an edge than this one says nothing more of a normal shape. */
const shareMax = 0.99;
const passes = 4;

/**
 * Where a quarter of the differences are nearer than this share of what the half says, rows have
 * heavy tails: their deviation is more than the half says. No attack of bench/accuracy on normal
 * rows comes below .95, rows with tails of index 3 on one side show .82.
 */
const peaked = 0.9;
const peakedPower = 4;
const widestPeaked = 2;

/**
 * The deviation of rows whose differences, two by two, lie in the bins 2^bin .. 2^(bin + 1); at
 * least one bin.
 *
 * It is that of normal rows with the same median difference. The median is read off between the
 * edges of its bin, linearly in the normal quantiles of the shares below them: exact for a normal
 * shape, and within the bin for any. Bins beyond what such rows can be apart are left out and the
 * median is taken again, so that whoever stands far out moves it by nothing. Bins below the lowest
 * one kept hold together about as much as that one does, differences near zero being evenly spread:
 * so much is added below, or losing them would raise the median. Differences more peaked than any
 * attack makes those of normal rows widen the answer, to twice at most: honest tails would look
 * hostile in units of a median.
 */
export function deviationOf(kept: readonly KeptBin[]): number {
  let bins = [...kept].sort((left, right) => left.bin - right.bin);
  let deviation = deviationAt(bins, 0.5);
  for (let pass = 1; pass < passes; pass++) {
    const near = bins.filter(({ bin }) => 2 ** bin <= reach * ofDifference * deviation);
    if (near.length === bins.length) break;
    bins = near;
    deviation = deviationAt(bins, 0.5);
  }
  const width = ((peaked * deviation) / deviationAt(bins, 0.25)) ** peakedPower;
  return deviation * Math.min(widestPeaked, Math.max(1, width));
}

/**
 * The deviation of normal rows of which a share of the differences is as near. Bins ascending,
 * counts positive.
 */
function deviationAt(bins: readonly KeptBin[], share: number): number {
  return placeOf(bins, share) / (within(share) * ofDifference);
}

function placeOf(bins: readonly KeptBin[], share: number): number {
  const lowest = bins[0]!;
  const total = bins.reduce((sum, { noisyCount }) => sum + noisyCount, lowest.noisyCount);
  let below = lowest.noisyCount;
  if (below > share * total) return 2 ** lowest.bin * ((share * total) / below);
  for (const { bin, noisyCount } of bins) {
    const upTo = below + noisyCount;
    if (upTo >= share * total) return between(2 ** bin, share, below / total, upTo / total);
    below = upTo;
  }
  return 2 ** (bins.at(-1)!.bin + 1);
}

/** Where a share is reached between `edge` and twice that, from the shares below the two. */
function between(edge: number, share: number, below: number, upTo: number): number {
  const [low, high] = [within(Math.min(below, shareMax)), within(Math.min(upTo, shareMax))];
  return high > low
    ? edge * (1 + Math.min(1, Math.max(0, (within(share) - low) / (high - low)))) : edge;
}
