import { usualRadius } from '../../pooled/parameters.js';
import { distanceBins, distanceEdge, readDistances } from '../../pooled/radius.js';

/**
 * The radius that rows are pulled into, from the released histogram of their distances. A function
 * of released counts, so post-processing. Lengths are in units of the mapped rows.
 */
export interface FoundRadius {
  readonly radius: number;
  /** What pulling rows in may move the mean by, what noise may hide included. */
  readonly lost: number;
  /** Mean distance of the rows beyond the usual radius, up to this radius. */
  readonly beyond: number;
  /** Root mean square distance over sqrt(d), within 1 and 2.5. */
  readonly spread: number;
}

export interface RadiusRequest {
  /** Released: of rows that are left. */
  readonly counts: Float64Array;
  /** Standard deviation of the noise of each count. */
  readonly noise: number;
  readonly dimension: number;
  /** Number of rows, public: the least that counts may add up to is a quarter of it. */
  readonly cohort: number;
  readonly corruption: number;
  /** Standard deviation of the noise of a sum's entry, in units of the radius. */
  readonly sigma: number;
  /** Given: only the rest is worked out. */
  readonly radius: number | null;
}

const spreadMax = 2.5;
/** Radii within an octave that are tried. */
const perOctave = 16;

/**
 * Balances the noise, which grows with the radius, with what pulling rows in moves the mean by.
 * Rows beyond the usual radius may be hostile, so what they add stays below what a crowd could
 * hide. The smallest radius is sqrt(d).
 */
export function findRadius(request: RadiusRequest): FoundRadius {
  const { counts, noise, dimension, cohort, corruption, sigma, radius } = request;
  const rows = Math.max(cohort / 4, counts.reduce((sum, count) => sum + count, 0));
  const distances = readDistances({ counts, sigma: noise, dimension, rows });
  const usual = usualRadius(dimension);
  const spread = Math.min(spreadMax, Math.max(1, distances.spread));
  const beyondMax = corruption === 0 ? Infinity : spread * Math.sqrt(corruption);
  const bias = Math.max(0.5, 1.2 / Math.sqrt(dimension));
  const root = Math.sqrt(dimension);
  const far = 2 * distanceEdge(distanceBins - 1, dimension);
  let best = radius ?? root;
  let least = Infinity;
  for (let at = root; radius === null && at <= far; at *= 2 ** (1 / perOctave)) {
    if (at > usual && distances.added(usual, at) > beyondMax) break;
    const cost = Math.hypot((sigma * at * root) / rows, bias * distances.added(at, far));
    if (cost < least) [best, least] = [at, cost];
  }
  return {
    radius: best, spread, beyond: distances.added(usual, best),
    lost: distances.beyond(best) + distances.hidden(best),
  };
}
