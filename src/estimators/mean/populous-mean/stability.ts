import { InvalidParameterError } from '../../../base/errors.js';

/** Public constants that turn agreement into weights. */
export interface Thresholds {
  /** Mean agreement Q that the test must find, in (none, 1). */
  readonly agreement: number;
  /** Groups that agree with at most this share of the groups weigh nothing. */
  readonly none: number;
  /** Groups that agree with at least this share weigh 1. */
  readonly full: number;
}

/** Fewer groups would make the constants below useless. */
export const groupsMin = 40;
/** Agreement compares every pair of groups. */
export const groupsMax = 4_000;

/**
 * c_k: the weighted average moves by at most 2 r c_k / k when one group's point is replaced by
 * anything, in any data set whose mean agreement is at least `agreement` before and after.
 *
 * Claim. Let q_i be the share of the k points within r of point i (itself included), w(q) the ramp
 * from 0 at `none` to 1 at `full`, of slope s, and Y = sum w(q_i) Y_i / sum w(q_i). Let the mean of
 * q be >= Q0 in both data sets. Then |Y - Y'| <= 2 r c_k / k.
 *
 * Why. Replacing one point changes every other q_i by at most 1/k, hence every other weight by at
 * most s/k, and only where the ramp is not flat: a weight that fell was not 0 before, so q_i > a
 * there, and is not 1 after, so q_i < b + 1/k. Here a is `none` and b is `full`. Call those points
 * T and order the two data sets so that the weight sums satisfy W >= W'. As probability vectors
 * over the k + 1 atoms (the replaced point and its replacement are two atoms), the weightings
 * overlap by at least (W - |T| s/k - 1) / W, so their total variation distance is at most (|T| s/k
 * + 1) / W. For y = max((s + 1)/(Q0 - a), s/(1 - b - 1/k)) and c = 1 + (1 - Q0) y, s [a < q < b +
 * 1/k] - c w(q) + y (q - Q0) <= -1 for every q in [0, 1]: the left side is piecewise convex in q
 * with its peaks at q = 1 (equality by choice of c), q just above a (s + y (a - Q0) <= -1 by the
 * first term of y) and q just below b + 1/k (s - c + y (b + 1/k - Q0) <= -1 by the second).
 * Averaging over i and using mean q >= Q0 gives |T| s/k + 1 <= c W/k, so the distance is at most
 * c/k. Last, all points of positive weight in either data set lie within 2 r of each other: each
 * has more than a k - 1 common neighbours among the k - 1 common points, and 2 (a k - 1) >= k - 1,
 * so any two share one. Two averages over a set of diameter 2 r differ by at most 2 r times the
 * total variation distance.
 *
 * Source: the construction of Ashtiani and Liaw (2022), Algorithm 1, with an explicit constant.
 *
 * @throws InvalidParameterError when the thresholds or k do not satisfy what the argument needs.
 */
export function stabilityConstant(groups: number, thresholds: Thresholds): number {
  const { agreement, none, full } = thresholds;
  if (!(none > 0.5 && none < full && full < 1 && none < agreement && agreement < 1)) {
    throw new InvalidParameterError(
      'the thresholds must satisfy 0.5 < none < full < 1 and none < agreement < 1',
      { agreement, none, full },
    );
  }
  if (!(groups * (2 * none - 1) >= 1 && groups * (1 - full) > 1)) {
    throw new InvalidParameterError(
      `${groups} groups are too few for these thresholds`, { groups, none, full },
    );
  }
  const slope = 1 / (full - none);
  const steep = Math.max((slope + 1) / (agreement - none), slope / (1 - full - 1 / groups));
  return 1 + (1 - agreement) * steep;
}

const agreements = [0.9, 0.875, 0.85, 0.825, 0.8, 0.775, 0.75, 0.725, 0.7, 0.675, 0.65] as const;
/**
 * Just above one half, so that groups of positive weight share a neighbour; c_k falls as it falls.
 */
const noneChosen = 0.52;

/**
 * For each level of agreement the ramp with the smallest c_k. A lower level lets more groups be
 * spoiled and costs noise: c_k is 3 at .9, 3.6 at .85, 4.5 at .8, 7.5 at .7 for many groups.
 */
export function thresholdChoices(
  groups: number, wanted: readonly number[] = agreements,
): readonly Thresholds[] {
  return wanted.map((agreement) => {
    let best: Thresholds = { agreement, none: noneChosen, full: 0.6 };
    for (let full = 0.62; full < 0.93; full += 0.02) {
      const tried = { agreement, none: noneChosen, full: Math.round(full * 100) / 100 };
      if (stabilityConstant(groups, tried) < stabilityConstant(groups, best)) best = tried;
    }
    return best;
  });
}

/** Weight of a group that agrees with `count` of `groups` groups, itself included. */
export function weightOf(count: number, groups: number, thresholds: Thresholds): number {
  const share = (count / groups - thresholds.none) / (thresholds.full - thresholds.none);
  return Math.min(1, Math.max(0, share));
}
