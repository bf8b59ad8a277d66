import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { gaussianHistogramEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianHistogramEvent } from '../../../privacy/accounting/events.js';
import type { KeptBin } from '../../../privacy/mechanisms/contract.js';

/**
 * Where the components of a mixture are, and how wide, from the gaps between neighbours in sorted order.
 *
 * A value y and its upper neighbour at distance r > 0 fall in the bucket of scale 2^a <= r < 2^(a+1) and of place
 * floor(y / 2^(a+g)), g = ceil(log2 of the public number of contributors): a place about as wide as a component whose
 * values have such gaps.
 *
 * Claim, one row replaced by anything, or by nothing, or added: (rho, delta), delta-approximate zCDP.
 * Why: taking one value out of the sorted list removes the pairs that it makes with both neighbours and makes one new
 * pair of these two; putting one in does the reverse. So a replaced row takes at most 3 pairs out and puts at most 3
 * in: the counts move by at most sqrt 18 in L2 (all three from one bucket into another). Noise of deviation sigma on
 * every occupied bucket then costs 18 / (2 sigma^2) = 9 / sigma^2, which is what the event of nine coordinates is
 * charged; the counts are the first of the nine, the others are empty. At most 3 buckets are occupied on one side only,
 * with counts of at most 3, and the answer depends on buckets above 2 more than the event's threshold only: that is
 * 3 + sigma Phi^-1(1 - delta/9), which a count of 3 passes with probability at most delta/9, three of them together with
 * less than delta. Leaving these out, the rest is the Gaussian mechanism. Of c columns all is c times as much.
 * What depends on the number of contributors uses the public number, so absence moves pairs in one place only.
 *
 * Source: Ashtiani, Majid, Narayanan (2024), Algorithm 3: the buckets of scale and place, and lemma F.5, the three pairs.
 * The paper adds truncated Laplace noise; here the noise is Gaussian, and the constants are worked out above.
 */
const pairsChanged = 3;
const scaleMaximum = 200;
const placeMaximum = 2 ** 43;

/** A stretch of the line, [place - width, place + 2 width], width a power of two and place a multiple of it. */
export interface Window {
  readonly place: number;
  readonly width: number;
}

/** @param asked.columns - whose gaps are counted, each by itself: their squared moves add up. Default 1. */
export function gapsEvent(
  { columns = 1, ...asked }: { cohort: string; rho: number; delta: number; columns?: number },
): GaussianHistogramEvent {
  return gaussianHistogramEvent({ name: 'gaps', coordinates: columns * pairsChanged ** 2, ...asked });
}

/** From which noisy count on a bucket is used. */
export function usedFrom(event: GaussianHistogramEvent): number {
  return keepingCount(event) + pairsChanged - 1;
}

/** Pairs per bucket. @param contributors - the public number. */
export function countGaps(values: Float64Array, contributors: number): Map<number, number> {
  const sorted = values.slice().sort();
  const g = Math.ceil(Math.log2(contributors));
  const counts = new Map<number, number>();
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i]! - sorted[i - 1]!;
    if (!(gap > 0 && gap < Infinity)) continue;
    const scale = Math.min(scaleMaximum, Math.max(-scaleMaximum, Math.floor(Math.log2(gap))));
    const place = Math.floor(sorted[i - 1]! / 2 ** (scale + g));
    if (!(Math.abs(place) < placeMaximum)) continue;
    const bucket = (scale + scaleMaximum) * 2 * placeMaximum + place + placeMaximum;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  return counts;
}

/** At most `most` windows, fullest buckets first, without those that lie in a chosen one of about their scale. */
export function windowsOf(kept: readonly KeptBin[], threshold: number, contributors: number, most: number): readonly Window[] {
  const g = Math.ceil(Math.log2(contributors));
  const windows: Window[] = [];
  for (const { bin, noisyCount } of kept) {
    if (!(noisyCount > threshold) || windows.length === most) continue;
    const scale = Math.floor(bin / (2 * placeMaximum));
    const width = 2 ** (scale - scaleMaximum + g);
    const place = (bin - scale * 2 * placeMaximum - placeMaximum) * width;
    const isInside = windows.some((one) => one.width / width <= 4 && width / one.width <= 4
      && place >= one.place - one.width && place + width <= one.place + 2 * one.width);
    if (!isInside) windows.push({ place, width });
  }
  return windows;
}
