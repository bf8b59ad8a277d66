import { normalQuantile } from '../../../numerics/normal.js';

/**
 * What noisy histograms of rows say about crowds and tails. All of it is a function of released
 * counts, so post-processing.
 */

/** Width of a bin, after the map. */
export const binWidth = 0.25;
/** Bins along an axis, from -8 to 8. The outermost bins of all histograms are open-ended. */
export const axisBins = 64;
/** Bins of the distance, from 0 to 8. */
export const distanceBins = 32;

/** The bin of an entry along an axis; every number has one. */
export function binAlongAxis(entry: number): number {
  return Math.min(axisBins - 1, Math.max(0, Math.floor(entry / binWidth) + axisBins / 2));
}

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

/** What a histogram is judged by. */
export interface Judgement {
  /** Standard deviation of the noise of a bin. */
  readonly noise: number;
  readonly corruption: number;
}

/** A crowd has at most so many times the rows that may be hostile, and at least this part. */
const crowdMost = 1.5;
const crowdLeast = 1 / 8;
/** The crowd is so much denser than the valley before it. */
const denser = 1.25;
/** What noise and chance may add, in standard deviations. */
const chance = 4;
const valleys = [1, 2, 4] as const;
const crowdBins = 12;

/** The first bin that is itself denser than the valley. The crowd is, so there is one. */
function pastValley(counts: Float64Array, from: number, valley: number): number {
  const bottom = counts.subarray(from - valley, from).reduce((sum, count) => sum + count, 0);
  let start = from;
  while (counts[start]! <= (denser * bottom) / valley) start += 1;
  return start;
}

/**
 * The first bin, from `from` on, at which a crowd begins that stands apart: behind a valley of 1, 2
 * or 4 bins come up to 12 bins that are clearly denser. All beyond may be hostile, and is not too
 * little to matter. No tail that only falls has a valley, however heavy it is.
 * @param counts - noisy, outwards.
 * @returns the number of bins when there is no crowd.
 */
export function crowdStart(
  counts: Float64Array, from: number, { noise, corruption }: Judgement,
): number {
  const sums = [0];
  for (const count of counts) sums.push(sums.at(-1)! + count);
  const rows = sums.at(-1)!;
  const isCrowd = (start: number, valley: number, size: number): boolean => {
    const factor = (denser * size) / valley;
    const expected = factor * Math.max(0, sums[start]! - sums[start - valley]!);
    const held = sums[start + size]! - sums[start]!;
    const variance = noise ** 2 * (size + factor ** 2 * valley) + factor * expected
      + Math.max(0, held);
    return held > expected + chance * Math.sqrt(variance);
  };
  for (let start = from + 1; start < counts.length; start++) {
    const beyond = rows - sums[start]!;
    if (beyond > crowdMost * corruption * rows) continue;
    if (beyond < crowdLeast * corruption * rows + noise * Math.sqrt(counts.length - start)) break;
    for (const valley of valleys) {
      if (start - valley < from) continue;
      for (let size = 1; size <= Math.min(crowdBins, counts.length - start); size++) {
        if (isCrowd(start, valley, size)) return pastValley(counts, start, valley);
      }
    }
  }
  return counts.length;
}

/** What limits a tail. */
export interface TailLimit {
  /** The highest of the moments. */
  readonly order: number;
  /** On the mean of powers of twice that order. */
  readonly bound: number;
  /** No cap is below. */
  readonly least: number;
  /** Nor above. */
  readonly most: number;
}

/** What noise may add to all bins from one on, in standard deviations. */
const unseen = 2;
/** The same where a tail that is only noise would pull honest rows in. */
const unseenTail = 3;

/** The number of bins up to the last one from which on the counts are more than noise may be. */
function seenBins(counts: Float64Array, noise: number, deviations: number): number {
  let beyond = 0;
  for (let bin = counts.length - 1; bin >= 0; bin--) {
    beyond += counts[bin]!;
    if (beyond > deviations * noise * Math.sqrt(counts.length - bin)) return bin + 1;
  }
  return 0;
}

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
    sum + count * Math.min(cap, (bin + 0.5) * binWidth) ** (2 * order), 0);
  let cap = most;
  while (cap > least && powers(cap) > bound * rows) {
    cap = Math.max(least, (Math.ceil(cap / binWidth) - 1) * binWidth);
  }
  return cap;
}

/** A cap is so many bins farther out than rows are seen. */
const unseenBins = 2;

/**
 * How far out rows are seen: beyond the answer are fewer of them than noise may be. Farther out
 * hostile rows would be hidden by the noise.
 * @param noise - standard deviation of a bin.
 */
export function seenReach(counts: Float64Array, noise: number): number {
  return (seenBins(counts, noise, unseen) + unseenBins) * binWidth;
}
