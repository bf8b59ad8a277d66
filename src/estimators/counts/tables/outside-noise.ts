import type { PrivacyTarget } from '../../contract/estimator.js';
import { outsideShare, reportedFromOf, sides } from '../../contract/outside.js';
import { countNoise, type CountNoise } from './count-noise.js';
import { rootAbove } from './key-places.js';

/** The noise of how many people are below and above the bounds of each column. */
export interface OutsideNoise {
  readonly numbers: CountNoise;
  /** A number is reported when it is above this. */
  readonly reportedFrom: number;
}

/**
 * Noise for how many of all rows are below and above the public bounds of each of d columns.
 *
 * Claim. The 2 d numbers cost `outsideShare` of the target: in rho, or in pure epsilon.
 * Neighbours: one contributor's rows, at most `most` of them, replaced by any such rows or by none.
 * Why: a row adds 1 to at most one of the two numbers of a column. So a contributor adds to each
 * pair of numbers a point of the triangle (0, 0), (most, 0), (0, most). Two such points are at most
 * sqrt(2) most apart in L2 and 2 most in L1. All d pairs are sqrt(2 d) most and 2 d most apart, as
 * where all rows go from below all bounds to above them.
 */
export function outsideNoise(
  columns: number, most: number, target: PrivacyTarget,
): OutsideNoise {
  const numbers = countNoise({
    name: 'outside', counts: sides * columns, l1: 2 * columns * most,
    l2: rootAbove(2 * columns) * most, target, share: outsideShare,
  });
  return { numbers, reportedFrom: reportedFromOf(sides * columns, numbers) };
}
