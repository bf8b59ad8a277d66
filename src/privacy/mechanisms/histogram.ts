import { assert } from '../../base/assert.js';
import type { GaussianHistogramEvent, LaplaceHistogramEvent } from '../accounting/events.js';
import { keepingSteps } from './bounds.js';
import type { KeptBin } from './contract.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * P5, a stable histogram over an unbounded set of bins: only occupied bins get noise, and only those whose noisy count
 * is above a threshold are shown.
 *
 * Claim, one contributor counting 1 in at most one bin of each coordinate, replaced by anything or by nothing:
 * (a) truncated Laplace, one coordinate: (epsilon, delta)-DP. The vector of counts over all bins changes by at most 2
 *     in L1, so truncated Laplace with D = 2 on every bin is (epsilon, delta)-DP; an empty bin's noise never exceeds A,
 *     so it is never shown, and leaving it out changes nothing.
 * (b) Gaussian, d coordinates: (d / sigma^2, delta). Per coordinate at most one bin is occupied on one side only, and
 *     its count is then 1. It is shown only when its noise exceeds sigma Phi^-1(1 - delta/d) by a step, which has
 *     probability at most delta/d (the tail bound of P4 (b)). Leaving these events out on both sides (each of total
 *     probability at most delta), the rest differs in at most two counts by 1 per coordinate: squared L2 distance 2 d,
 *     hence 2 d / (2 sigma^2).
 * Bins are taken in order of their numbers, so that the order of arrival has no part in the draws. Kept bins are
 * sorted by noisy count, then by number: post-processing.
 * Source: Korolova, Kenthapadi, Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016.
 */
export function drawHistogram(
  draw: Draw,
  event: GaussianHistogramEvent | LaplaceHistogramEvent,
  counts: readonly ReadonlyMap<number, number>[],
): readonly (readonly KeptBin[])[] {
  const threshold = keepingSteps(event);
  return counts.map((bins) => {
    const kept: KeptBin[] = [];
    for (const bin of Float64Array.from(bins.keys()).sort()) {
      const count = bins.get(bin)!;
      assert(Number.isInteger(bin) && Number.isInteger(count) && count >= 0, 'bins and counts are whole numbers');
      // A bin with nothing in it does not exist: listing it must not change the output's distribution.
      if (count === 0) continue;
      const noisy = addSteps(nearestSteps(count, event.grid), draw());
      if (noisy > threshold) kept.push({ bin, noisyCount: valueOfSteps(noisy, event.grid) });
    }
    return kept.sort((left, right) => right.noisyCount - left.noisyCount || left.bin - right.bin);
  });
}
