import type { GroupWeightsEvent } from '../accounting/events.js';
import type { KeptKey } from './contract.js';
import type { Draw } from './draw.js';
import { drawGroupHistogram, type HistogramKeys } from './group-histogram.js';

/**
 * Which keys that nobody listed have much weight. A contributor with k keys adds at most
 * 1 / sqrt(k) to the weight of each. Weights get discrete Gaussian noise, and the keys whose noisy
 * weight is above a threshold are published. A contributor has L2 norm 1 however many keys it has,
 * so the noise does not grow with K, and the threshold hardly does.
 *
 * Neighbours: one contributor, who has at most K distinct keys, is replaced by anything or by
 * nothing. K is the event's `groupsMax`.
 * Claim: (1 / sigma^2, delta), delta-approximate zCDP.
 *
 * Proof. Let A and A' be the contributor's keys on the two sides, and w and w' its weights. In
 * steps of the grid, k keys get the largest whole weight u with k u^2 <= N^2, where N steps are 1.
 * So the L2 norms of w and w' are at most 1, and a weight of k keys is at most 1 / sqrt(k). Others
 * add the same on both sides, in whole steps, so sums are exact.
 * 1. Call a key lone on one side if it has weight there, and none on the other side. Then nobody
 *    else gives it weight, so it is in that side's A and weighs at most 1 / sqrt(k), where k is the
 *    number of keys in A. So a side has j lone keys with j <= k, and each weighs at most
 *    1 / sqrt(j). (A contributor may give some of its keys no weight, by the question's threshold.
 *    Then j is smaller, and this holds too.)
 * 2. The threshold is the largest over j of 1 / sqrt(j) and sigma z(d(j)), each rounded up to a
 *    step, plus one step, where d(j) = 1 - (1 - delta)^(1/j). A lone key is kept strictly above it.
 *    So its noise is at least sigma z(d(j)) and 2 steps. By the tail bound in mechanisms/threshold
 *    that has probability at most d(j).
 * 3. Noise is independent between keys. So all j lone keys of a side stay hidden with probability
 *    at least (1 - d(j))^j = 1 - delta, whatever j is. This is the good event of the side, and
 *    delta-approximate zCDP asks for it on each side apart.
 * 4. Given its good event, a side shows a function of the noisy weights of the keys that have
 *    weight on both sides. These keys are the same for both sides, and their noise is independent
 *    of the good event. The squared L2 distance is at most |w - w'|^2 = |w|^2 + |w'|^2 - 2 w.w',
 *    which is at most 2 since no weight is below 0. So the Renyi divergence of order a is at most
 *    a 2 / (2 sigma^2).
 * Disjoint keys that others have too reach the distance: the cost is not smaller.
 *
 * Known keys are public, as in mechanisms/group-histogram: they are among the keys of step 4.
 * Which keys a contributor has, and their number, follow from its own rows alone.
 * Cost: that of the histogram, with a draw for every key.
 * Source: Gopi, Gulhane, Kulkarni, Shen, Shokouhi and Yekhanin 2020.
 */
export function drawGroupWeights(
  draw: Draw, event: GroupWeightsEvent, weights: ArrayLike<number>, keys: HistogramKeys,
): readonly KeptKey[] {
  return drawGroupHistogram(draw, event, weights, keys);
}
