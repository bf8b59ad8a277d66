import { assert } from '../../base/assert.js';
import type { GroupSumsEvent } from '../accounting/events.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';
import type { KeptSums, PlaceTable } from './contract.js';
import type { Draw } from './draw.js';
import { keptKeys, type HistogramKeys } from './group-histogram.js';

/**
 * How many contributors have which key, for keys that nobody listed, and what their values add up
 * to. Counts get noise and a threshold as in mechanisms/group-histogram. The sums of the keys that
 * are kept get noise of their own.
 *
 * Neighbours: one contributor is replaced by anything or by nothing. It has at most K distinct keys
 * (the event's `groupsMax`). Under each it adds 1 to the count, and s numbers (`values`) between -1
 * and 1 to the sums.
 * Claim: (rho, delta), delta-approximate zCDP, with rho = K (s / S^2 + max(s / S^2, 1 / sigma^2)).
 * Here sigma is the deviation of the noise of a count, and S that of a sum.
 *
 * Proof. Let A and A' be the contributor's keys on the two sides.
 * 1. Which keys are kept is decided by noisy counts alone, as in mechanisms/group-histogram. So
 *    steps 1 to 3 of its proof hold word for word: on each side the lone keys of that side stay
 *    hidden with probability at least 1 - delta, and nothing of their sums is shown. This good
 *    event is about the noise of the counts of lone keys.
 * 2. Given its good event, a side shows a function of the noisy counts and noisy sums of the keys
 *    that pass the prefilter on both sides. (That noise is drawn only for the sums of kept keys
 *    changes nothing: it is independent of everything else.) The list of these keys is the same on
 *    both sides. A key in both A and A' has the same count, and each of its sums moves by at most
 *    2: its divergence of order a is at most a 4s / (2 S^2). A key in one of them moves by 1 in the
 *    count and by at most 1 in each sum: a (1 / sigma^2 + s / S^2) / 2. Other keys do not move.
 *    Known keys, which are public, are among these too.
 * 3. Let j keys be in both. Then at most 2 (K - j) are in one. Noise is independent, so the
 *    divergences add up to at most a (2 j s / S^2 + (K - j) (1 / sigma^2 + s / S^2)). This is
 *    linear in j, so its largest value is at j = 0 or j = K: a K (s / S^2 + the larger of 1 /
 *    sigma^2 and s / S^2).
 *
 * Why one draw. With S^2 = s sigma^2 the counts are free: the sums alone cost the same. A histogram
 * of the keys, and then a Gaussian draw of the sums under the keys that it showed, is private too,
 * because the costs of the two steps add up: K / sigma^2 + 2 K s / S^2. For the same noise this is
 * 3 K / sigma^2 in place of 2 K / sigma^2, so at equal cost its noise is larger by sqrt(3 / 2), in
 * counts, sums and threshold.
 *
 * Sums are multiples of the event's `sumsGrid`, so they are exact before noise is added. Noise is
 * drawn in the order of the kept keys, which does not depend on places.
 * Cost: that of the histogram, and s draws for each kept key.
 */
export function drawGroupSums(
  [draw, drawSum]: readonly [counts: Draw, sums: Draw], event: GroupSumsEvent,
  { counts, sumsOf }: PlaceTable, keys: HistogramKeys,
): readonly KeptSums[] {
  const nothing = new Float64Array(event.values);
  return keptKeys(draw, event, counts, keys).map(({ place, key, noisyCount, isKnown }) => {
    const sums = (counts[place] ?? 0) > 0 ? sumsOf(place) : nothing;
    assert(sums.length === event.values, 'a key has the number of sums that was charged');
    const noisySums = sums.map((sum) => {
      assert(Number.isInteger(sum / event.sumsGrid), 'sums of keys are on the grid');
      return valueOfSteps(addSteps(nearestSteps(sum, event.sumsGrid), drawSum()), event.sumsGrid);
    });
    return { key, noisyCount, noisySums, isKnown };
  });
}
