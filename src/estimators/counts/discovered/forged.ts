import { normalCdf } from '../../../numerics/normal.js';
import { keyKeepingCount, leastOfKey, type KeysEvent } from '../../../privacy/mechanisms/bounds.js';

/**
 * The effect of hostile contributors on discovered keys. Nothing here is about privacy.
 *
 * A key that m of them send, and nobody else, has the count m. Its noise is normal but for the
 * grid, so it is shown with probability Phi((m - T) / sigma), where T is the threshold; below the
 * prefilter it is not shown at all. Each of them may send K keys. So n of them show at most
 * n K max over m of Phi((m - T) / sigma) / m forged keys on average. Honest keys stay: no key's
 * count depends on which other keys there are.
 *
 * Where keys have weights, m people who send k keys each give a key the weight m / sqrt(k). In
 * w = m / sqrt(k) the number of people for each forged key is w / Phi((w - T) / sigma) / sqrt(k),
 * so it is smallest for k = K.
 */

/** How likely a key is shown that has exactly this count, or weight. */
export function shownChance(event: KeysEvent, count: number): number {
  return shownAbove(keyKeepingCount(event), event, count);
}

function shownAbove(threshold: number, event: KeysEvent, count: number): number {
  if (count < leastOfKey(event)) return 0;
  return normalCdf((count - threshold) / event.sigma);
}

/**
 * The fewest hostile contributors for each forged key that is shown, on average, if they divide
 * themselves in the way that is best for them.
 */
export function hostilePerForgedKey(event: KeysEvent): number {
  const threshold = keyKeepingCount(event);
  const isWeights = event.kind === 'group-weights';
  const weight = isWeights ? 1 / Math.sqrt(event.groupsMax) : 1;
  const most = Math.ceil((threshold + 8 * event.sigma) / weight);
  let fewest = Infinity;
  for (let together = isWeights ? 1 : event.prefilter; together <= most; together++) {
    fewest = Math.min(fewest, together / shownAbove(threshold, event, together * weight));
  }
  return fewest / event.groupsMax;
}
