import { assert } from '../../base/assert.js';
import type { GaussianHistogramEvent } from '../accounting/events.js';
import { keepingSteps } from './bounds.js';
import type { KeptBin } from './contract.js';
import type { Draw } from './draw.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';

/**
 * A stable histogram over an unbounded set of bins, which are finite doubles. Only occupied bins
 * get noise. Only bins whose noisy count is above a threshold are published.
 *
 * Neighbours: one contributor, who adds 1 to at most one bin of each coordinate, is replaced by
 * anything or by nothing.
 * Claim: d coordinates cost (d / sigma^2, delta).
 * Why: in each coordinate at most one bin is occupied for one neighbour only, and its count is then
 * 1. That bin is published only if its noise exceeds sigma Phi^-1(1 - delta/d) by a step, which has
 * probability at most delta/d (by the tail bound in mechanisms/threshold). These events have total
 * probability at most delta on each side. Outside them, at most two counts in each coordinate
 * differ by 1. The squared L2 distance is 2 d, so the cost is 2 d / (2 sigma^2).
 * The code draws noise for bins in the order of their numbers, so draws do not depend on the order
 * of arrival. It sorts kept bins by noisy count, then by number, which is post-processing.
 * Source: Korolova, Kenthapadi, Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016.
 */
export function drawHistogram(
  draw: Draw,
  event: GaussianHistogramEvent,
  counts: readonly ReadonlyMap<number, number>[],
): readonly (readonly KeptBin[])[] {
  const threshold = keepingSteps(event);
  return counts.map((bins) => {
    const kept: KeptBin[] = [];
    for (const bin of Float64Array.from(bins.keys()).sort()) {
      const count = bins.get(bin)!;
      assert(Number.isFinite(bin) && Number.isInteger(count) && count >= 0,
        'bins are finite, and counts are whole numbers');
      // An empty bin does not exist: listing it must not change the distribution of the output.
      if (count === 0) continue;
      const noisy = addSteps(nearestSteps(count, event.grid), draw());
      if (noisy > threshold) kept.push({ bin, noisyCount: valueOfSteps(noisy, event.grid) });
    }
    return kept.sort((left, right) => right.noisyCount - left.noisyCount || left.bin - right.bin);
  });
}
