import { pow } from '../../../base/elementary.js';
import { normalQuantile } from '../../../numerics/normal.js';
import {
  binWidth, clusterShares, denser, runningSums, standsAbove, stretchMax, valleys,
} from '../../pooled/valleys.js';

/**
 * Finds clusters and tails in noisy histograms of rows. All of it is a function of released
 * counts, so post-processing.
 */

/** Bins of the distance, from 0 to 8. */
export const distanceBins = 32;

/** The bin of a distance. */
export function binOfDistance(distance: number): number {
  return Math.min(distanceBins - 1, Math.floor(distance / binWidth));
}

/** Where `share` of the counts is reached, in bins from the first. */
export function quantileOf(counts: Float64Array, share: number): number {
  const target = share * counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    const count = counts[bin]!;
    if (count > 0 && below + count >= target) {
      return bin + Math.max(0, (target - below) / count);
    }
    below += count;
  }
  return counts.length;
}

/** Part of the rows on either side that a width leaves out: more than liars can be. */
export const outerShare = 0.15;

/** The deviation of normal rows that have the same middle 70 % as the counts. */
export function middleWidth(counts: Float64Array): number {
  const width = quantileOf(counts, 1 - outerShare) - quantileOf(counts, outerShare);
  return (binWidth * width) / (2 * normalQuantile(1 - outerShare));
}

/** The numbers by which a histogram is judged. */
export interface Judgement {
  /** Standard deviation of the noise of a bin. */
  readonly noise: number;
  readonly corruption: number;
}

/** Allowance for noise and chance, in standard deviations. */
const chance = 4;

/** The first bin that is itself denser than the valley. The cluster is, so there is one. */
function pastValley(counts: Float64Array, from: number, valley: number): number {
  const bottom = counts.subarray(from - valley, from).reduce((sum, count) => sum + count, 0);
  let start = from;
  while (counts[start]! <= (denser * bottom) / valley) start += 1;
  return start;
}

/**
 * The first bin, from `from` on, at which a cluster begins that stands apart: behind a valley of 1,
 * 2 or 4 bins come up to 12 bins that are clearly denser. All beyond may be hostile, and is not too
 * little to matter. No tail that only falls has a valley, however heavy it is.
 * @param counts - noisy, outwards.
 * @returns the number of bins when there is no cluster.
 */
export function clusterStart(
  counts: Float64Array, from: number, { noise, corruption }: Judgement,
): number {
  const sums = runningSums(counts);
  const rows = sums.at(-1)!;
  for (let start = from + 1; start < counts.length; start++) {
    const beyond = rows - sums[start]!;
    if (beyond > clusterShares.most * corruption * rows) continue;
    if (beyond < clusterShares.least * corruption * rows
      + noise * Math.sqrt(counts.length - start)) break;
    for (const valley of valleys) {
      if (start - valley < from) continue;
      for (let size = 1; size <= Math.min(stretchMax, counts.length - start); size++) {
        if (standsAbove(sums, { start, size, valley }, { noise, chance })) {
          return pastValley(counts, start, valley);
        }
      }
    }
  }
  return counts.length;
}

/** The limits of a tail. */
export interface TailLimit {
  /** Order of the highest moment. */
  readonly order: number;
  /** Bound on the mean of powers of twice that order. */
  readonly bound: number;
  /** The smallest cap. */
  readonly least: number;
  /** The largest cap. */
  readonly most: number;
}

/** The number of bins up to the last one from which on the counts are more than noise may be. */
function seenBins(counts: Float64Array, noise: number, deviations: number): number {
  let beyond = 0;
  for (let bin = counts.length - 1; bin >= 0; bin--) {
    beyond += counts[bin]!;
    if (beyond > deviations * noise * Math.sqrt(counts.length - bin)) return bin + 1;
  }
  return 0;
}

/** The same where a tail that is only noise would pull honest rows in. */
const unseenTail = 3;

/**
 * The largest cap to which entries must be pulled in for the mean of their powers to keep to its
 * bound.
 * @param counts - noisy, of entries that are not negative, outwards from 0.
 * @param noise - standard deviation of a bin. Tails that it explains count as empty.
 */
export function tailCap(
  counts: Float64Array, noise: number, { order, bound, least, most }: TailLimit,
): number {
  const seen = counts.slice(0, seenBins(counts, noise, unseenTail));
  const rows = seen.reduce((sum, count) => sum + count, 0);
  const powers = (cap: number): number => seen.reduce((sum, count, bin) =>
    sum + count * pow(Math.min(cap, (bin + 0.5) * binWidth), 2 * order), 0);
  let cap = most;
  while (cap > least && powers(cap) > bound * rows) {
    cap = Math.max(least, (Math.ceil(cap / binWidth) - 1) * binWidth);
  }
  return cap;
}

/** Allowance for noise in all bins from one on, in standard deviations. */
const unseen = 2;

/** A cap is this many bins farther out than rows are seen. */
const unseenBins = 2;

/**
 * How far out rows are seen: beyond the answer are fewer of them than noise may be. Farther out
 * hostile rows would be hidden by the noise.
 * @param noise - standard deviation of a bin.
 */
export function seenReach(counts: Float64Array, noise: number): number {
  return (seenBins(counts, noise, unseen) + unseenBins) * binWidth;
}
