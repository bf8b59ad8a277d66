import { log2 } from '../../../base/elementary.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { gaussianHistogramEvent } from '../../../privacy/accounting/calibration.js';
import type { GaussianHistogramEvent } from '../../../privacy/accounting/events.js';
import type { KeptBin } from '../../../privacy/mechanisms/contract.js';
import type { Infeasible, PrivacyTarget } from '../../contract/estimator.js';
import { withoutDelta } from '../../contract/planning.js';

/**
 * Where the components of a mixture are, and how wide, from the gaps between neighbours in sorted
 * order.
 *
 * A value y and its upper neighbour at distance r > 0 fall in the bucket of scale
 * 2^a <= r < 2^(a+1) and of place floor(y / 2^(a+g)), where g is log2 of the public number of
 * contributors, rounded up. A place is about as wide as a component whose values have such gaps.
 *
 * Claim. Neighbours: one row replaced by anything, or by nothing, or added. Cost: (rho, delta),
 * delta-approximate zCDP.
 * Why: one value less in the sorted list removes the pairs that it makes with both neighbours and
 * makes one new pair of these two. One value more does the reverse. So a replaced row removes at
 * most 3 pairs and adds at most 3: the counts move by at most sqrt 18 in L2 (all three from one
 * bucket into another). Noise of standard deviation sigma on every occupied bucket then costs
 * 18 / (2 sigma^2) = 9 / sigma^2. That is what the event of nine coordinates is charged. The counts
 * are the first of the nine, the others are empty. At most 3 buckets are occupied on one side only,
 * with counts of at most 3. The answer depends only on buckets that exceed the event's threshold by
 * more than 2. That is 3 + sigma Phi^-1(1 - delta/9), which a count of 3 passes with probability at
 * most delta/9, and three of them together with less than delta. Without these buckets the rest is
 * the Gaussian mechanism. For c columns everything is c times as much. The number of contributors
 * enters as the public number, so that an absence moves pairs in one place only.
 *
 * Source: Ashtiani, Majid, Narayanan (2024), Algorithm 3: the buckets of scale and place, and lemma
 * F.5, the three pairs. The paper adds truncated Laplace noise. Here the noise is Gaussian, and the
 * constants are derived above.
 */
const pairsChanged = 3;
const scaleMaximum = 200;
const placeMaximum = 2 ** 43;

/**
 * A stretch of the line, [place - width, place + 2 width], width a power of two and place a
 * multiple of it.
 */
export interface Window {
  readonly place: number;
  readonly width: number;
}

/**
 * Null when the target allows gaps, which need a delta and have no pure form.
 * @param where - the components that are looked for: "anywhere".
 */
export function gapsNotAllowed(target: PrivacyTarget, where: string): Infeasible | null {
  const delta = target.isPure === true ? 0 : target.delta;
  const what = `finding components ${where}`;
  return withoutDelta({ ...target, delta }, what, 'use select with a public list');
}

/**
 * @param options.columns - whose gaps are counted, each by itself. Their squared moves add up.
 *   Default 1.
 */
export function gapsEvent(
  { columns = 1, ...options }: { cohort: string; rho: number; delta: number; columns?: number },
): GaussianHistogramEvent {
  return gaussianHistogramEvent({
    name: 'gaps', coordinates: columns * pairsChanged ** 2, ...options,
  });
}

/** A bucket is used from this noisy count on. */
export function usedFrom(event: GaussianHistogramEvent): number {
  return keepingCount(event) + pairsChanged - 1;
}

/** Pairs per bucket. @param contributors - the public number. */
export function countGaps(values: Float64Array, contributors: number): Map<number, number> {
  const sorted = values.slice().sort();
  const g = Math.ceil(log2(contributors));
  const counts = new Map<number, number>();
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i]! - sorted[i - 1]!;
    if (!(gap > 0 && gap < Infinity)) continue;
    const scale = Math.min(scaleMaximum, Math.max(-scaleMaximum, Math.floor(log2(gap))));
    const place = Math.floor(sorted[i - 1]! / 2 ** (scale + g));
    if (!(Math.abs(place) < placeMaximum)) continue;
    const bucket = (scale + scaleMaximum) * 2 * placeMaximum + place + placeMaximum;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  return counts;
}

/**
 * At most `most` windows, fullest buckets first. A bucket inside a chosen window of about its scale
 * is left out.
 */
export function windowsOf(
  kept: readonly KeptBin[], threshold: number, contributors: number, most: number,
): readonly Window[] {
  const g = Math.ceil(log2(contributors));
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

/** Windows within this factor of the finest one show components of its width. */
const alike = 16;

/**
 * The windows, and others of the finest width between and beside those that show components of that
 * width: one whose gaps lie half in one bucket and half in the next may have no window of its own.
 * Where that takes more than there is room for, they are wider, or there are none. A function of
 * windows, which are released.
 * @param most - as for `windowsOf`; the answer has no more.
 */
export function filledWindows(windows: readonly Window[], most: number): readonly Window[] {
  const finest = Math.min(...windows.map(({ width }) => width));
  const fine = windows.filter(({ width }) => width <= alike * finest);
  for (let width = finest; width <= alike * finest; width *= 2) {
    const laid = laidBetween(fine, width, finest, most);
    if (windows.length + laid.length <= most) return [...windows, ...laid];
  }
  return windows;
}

/** Windows of one width over what `fine` leaves uncovered of its span and a little more. */
function laidBetween(
  fine: readonly Window[], width: number, finest: number, most: number,
): readonly Window[] {
  const end = Math.max(...fine.map((one) => one.place + 2 * one.width)) + 2 * finest;
  let at = Math.min(...fine.map((one) => one.place - one.width)) - 2 * finest;
  const laid: Window[] = [];
  while (at < end && laid.length <= most) {
    const from = at;
    const covered = fine.filter((one) => one.place - one.width <= from)
      .reduce((far, one) => Math.max(far, one.place + 2 * one.width), from);
    if (covered > at) {
      at = covered;
      continue;
    }
    const place = Math.floor(at / width + 1) * width;
    laid.push({ place, width });
    at = place + 2 * width;
  }
  return laid;
}
