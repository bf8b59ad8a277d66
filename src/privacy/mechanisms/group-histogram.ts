import { assert } from '../../base/assert.js';
import type { GroupHistogramEvent, GroupWeightsEvent } from '../accounting/events.js';
import { addSteps, nearestSteps, valueOfSteps } from '../accounting/grid.js';
import { keyKeepingSteps, leastOfKey, type KeysEvent } from './bounds.js';
import type { FoundKeys, KeptKey } from './contract.js';
import type { Steps } from '../../random/samplers/discrete-laplace.js';
import type { Draw } from './draw.js';

/**
 * How many contributors have which key, for keys that nobody listed. Keys with fewer than t
 * contributors (the prefilter) are dropped. The others get discrete Gaussian noise, and those whose
 * noisy count is above a threshold are published.
 *
 * Neighbours: one contributor, who adds 1 to the count of at most K distinct keys, is replaced by
 * anything or by nothing. K is the event's `groupsMax`.
 * Claim: (K / sigma^2, delta), delta-approximate zCDP.
 *
 * Proof. Let A and A' be the contributor's keys on the two sides. The count of a key is the same on
 * both sides unless the key is in exactly one of A and A'; then the counts differ by 1.
 * 1. Call a key lone on one side if it has at least t contributors there, and fewer on the other
 *    side. The counts differ by at most 1, so a lone key has exactly t contributors on its side,
 *    and it is in that side's A. So each side has at most K lone keys.
 * 2. A lone key is kept if t plus its noise is strictly above t + m + 1 steps, where m is sigma
 *    z(d0) rounded up. So its noise is at least m + 2 steps. By the tail bound in
 *    mechanisms/threshold, that has at most the probability of a continuous normal number above m +
 *    1 steps, so at most d0 = 1 - (1 - delta)^(1/K).
 * 3. Noise is independent between keys. So on each side, all lone keys of that side stay hidden
 *    with probability at least (1 - d0)^K = 1 - delta. Call this the good event of the side.
 *    Delta-approximate zCDP asks for it on each side apart, so the cost is delta and not 2 delta.
 * 4. Given its good event, a side shows a function of the noisy counts of the keys that pass the
 *    prefilter on both sides. Their noise is independent of the good event, because that is about
 *    other keys. These keys are the same for both sides. At most |A| + |A'| <= 2K of them differ,
 *    by 1 each. So the squared L2 distance is at most 2K, and the Renyi divergence of order a is at
 *    most a 2K / (2 sigma^2), in both directions (mechanisms/gaussian). The names of keys and their
 *    order are functions of which keys were kept and of their noisy counts.
 *
 * Known keys are public: nobody's rows of this data set decide which they are, so they are the same
 * on both sides. Each has a noisy count on both sides, and is kept. So none of them is lone, and
 * they are among the keys of step 4, which holds for them whatever their counts are. The cost is
 * the same, and delta is for the other keys.
 *
 * Places follow from the order of arrival. So noise is drawn in an order of the keys themselves,
 * and places are not published. How many draws there are depends on the data: one for each key that
 * passes the prefilter. One contributor changes that by at most K draws, not by one. A server
 * publishes after a planned time, which has room for the draws of all people that an epoch takes
 * (questions/release-time).
 * Cost: O(k log k) comparisons and k draws for k keys that pass the prefilter.
 * Source: Korolova, Kenthapadi, Mishra and Ntoulas 2009; Wilkins, Kifer, Zhang and Karrer 2024, for
 * Gaussian noise.
 */
export function drawGroupHistogram(
  draw: Draw, event: GroupHistogramEvent | GroupWeightsEvent, counts: ArrayLike<number>,
  keys: HistogramKeys,
): readonly KeptKey[] {
  return keptKeys(draw, event, counts, keys)
    .map(({ key, noisyCount, isKnown }) => ({ key, noisyCount, isKnown }));
}

/** The keys of a histogram. */
export interface HistogramKeys {
  readonly found: FoundKeys;
  /** Public keys, all different, which are kept whatever their counts are. */
  readonly known: readonly (readonly string[])[];
}

/** A key that is kept, and its place; -1 for a known key that nobody sent. */
export interface KeptPlace extends KeptKey {
  readonly place: number;
}

/** Draws the noisy counts of the proof above, or weights, and decides which keys are kept. */
export function keptKeys(
  draw: Draw, event: KeysEvent, counts: ArrayLike<number>,
  { found, known }: HistogramKeys,
): readonly KeptPlace[] {
  assert(counts.length <= found.size, 'every place that has a count has a key');
  const threshold = keyKeepingSteps(event);
  const noisySteps = (count: number): Steps =>
    addSteps(nearestSteps(count, event.grid), draw());
  const kept = known.map((key): KeptPlace => {
    const place = found.find(key);
    const noisy = noisySteps(counts[place] ?? 0);
    return { key, place, noisyCount: valueOfSteps(noisy, event.grid), isKnown: true };
  });
  const knownPlaces = new Set(kept.map(({ place }) => place));
  const unit = event.kind === 'group-weights' ? event.grid : 1;
  for (const place of placesFrom(leastOfKey(event), counts, unit).sort((left, right) =>
    found.compare(left, right))) {
    if (knownPlaces.has(place)) continue;
    const noisy = noisySteps(counts[place]!);
    if (noisy <= threshold) continue;
    const noisyCount = valueOfSteps(noisy, event.grid);
    kept.push({ key: found.partsOf(place), place, noisyCount, isKnown: false });
  }
  // The sort is stable: equal noisy counts stay in the order of their keys, the known ones first.
  return kept.sort((left, right) => right.noisyCount - left.noisyCount);
}

/**
 * At most `top` of the kept keys, in their order: all that are known, and of the others those with
 * the largest noisy counts. Post-processing.
 */
export function shownOf<Kept extends KeptKey>(kept: readonly Kept[], top: number): Kept[] {
  let room = top - kept.filter(({ isKnown }) => isKnown).length;
  return kept.filter(({ isKnown }) => isKnown || room-- > 0);
}

/** The places with at least this count, or weight. All are whole multiples of `unit`. */
function placesFrom(least: number, counts: ArrayLike<number>, unit: number): Uint32Array {
  let length = 0;
  for (let place = 0; place < counts.length; place++) {
    const count = counts[place]!;
    assert(
      Number.isSafeInteger(count / unit) && count >= 0, 'counts and weights are whole numbers',
    );
    if (count >= least) length += 1;
  }
  // Most keys may have one contributor, so the memory is of those that pass.
  const places = new Uint32Array(length);
  for (let place = 0, at = 0; at < length; place++) {
    if (counts[place]! >= least) places[at++] = place;
  }
  return places;
}
