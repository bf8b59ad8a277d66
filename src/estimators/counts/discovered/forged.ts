import { normalCdf } from '../../../numerics/normal.js';
import type { KeyHistogramEvent, KeySumsEvent } from '../../../privacy/accounting/events.js';
import { keyKeepingCount } from '../../../privacy/mechanisms/bounds.js';

/**
 * What hostile contributors can do to discovered keys. Nothing here is about privacy.
 *
 * A key that m of them send, and nobody else, has the count m. Its noise is normal but for the
 * grid, so it is shown with probability Phi((m - T) / sigma), where T is the threshold; below the
 * prefilter it is not shown at all. Each of them may send K keys. So n of them show at most
 * n K max over m of Phi((m - T) / sigma) / m forged keys on average. Honest keys stay: no key's
 * count depends on which other keys there are.
 */

/** An event that shows keys. */
export type KeysEvent = KeyHistogramEvent | KeySumsEvent;

/** How likely a key is shown that has exactly so many contributors. */
export function shownChance(event: KeysEvent, contributors: number): number {
  return shownAbove(keyKeepingCount(event), event, contributors);
}

function shownAbove(threshold: number, event: KeysEvent, contributors: number): number {
  if (contributors < event.prefilter) return 0;
  return normalCdf((contributors - threshold) / event.sigma);
}

/**
 * The fewest hostile contributors for each forged key that is shown, on average, if they divide
 * themselves in the way that is best for them.
 */
export function hostilePerForgedKey(event: KeysEvent): number {
  const threshold = keyKeepingCount(event);
  const most = Math.ceil(threshold + 8 * event.sigma);
  let fewest = Infinity;
  for (let together = event.prefilter; together <= most; together++) {
    fewest = Math.min(fewest, together / shownAbove(threshold, event, together));
  }
  return fewest / event.keysMax;
}
