import { ln } from '../../base/elementary.js';

/** Trials of one pair and one proposal: the logarithm of a weight, then the loss, of each. */
export type Losses = Float64Array;

/** A level of epsilon, and a cap that was fixed before the trials that it is used on. */
export interface Level {
  readonly epsilon: number;
  /** Weighted excesses above it count as the cap. */
  readonly cap: number;
}

/** The densities of calls are computed in doubles: each trial counts for this much less. */
const slack = 2e-3;

/** Weight times the positive part of 1 - e^(epsilon - loss). */
function excess(losses: Losses, trial: number, epsilon: number): number {
  const kept = 1 - Math.exp(epsilon + slack - losses[2 * trial + 1]!);
  // Not a number: an output that neither side gives.
  return kept > 0 ? Math.exp(losses[2 * trial]! - slack) * kept : 0;
}

/**
 * A lower bound on delta at a level of epsilon, which may fail with probability `failure`.
 *
 * Claim: delta(epsilon) = sum over outputs of the positive part of P - e^epsilon Q. For trials from
 * a proposal R, it is the expectation of X = (P / R) (1 - e^epsilon Q / P)+. Capped, X / cap is
 * between 0 and 1 and its mean is no larger. So the mean of n trials bounds it from below by the
 * theorem of Hoeffding: if the true mean is p, P(mean >= m) <= exp(-n KL(m || p)) for m > p.
 * Assumptions: trials are independent, R, cap, epsilon and n were fixed before the first of them,
 * and P / R and P / Q are those of the outputs (see callLoss).
 * Source: W. Hoeffding, Probability inequalities for sums of bounded random variables, 1963,
 * theorem 1; for delta as this sum, Barthe and Olmedo 2013.
 * Cost: O(n).
 */
export function deltaBound(losses: Losses, { epsilon, cap }: Level, failure: number): number {
  const trials = losses.length / 2;
  let sum = 0;
  for (let i = 0; i < trials; i++) sum += Math.min(1, excess(losses, i, epsilon) / cap);
  return cap * leastMean(sum / trials, trials, failure);
}

/** The smallest mean of trials in [0, 1] for which `seen` is not surprising. */
export function leastMean(seen: number, trials: number, failure: number): number {
  if (!(seen > 0)) return 0;
  const allowed = -ln(failure) / trials;
  const divergence = (mean: number): number => seen * ln(seen / mean)
    + (seen < 1 ? (1 - seen) * (Math.log1p(-seen) - Math.log1p(-mean)) : 0);
  let [low, high] = [-700, ln(Math.min(seen, 1 - 1e-12))];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (divergence(Math.exp(middle)) > allowed) low = middle;
    else high = middle;
  }
  return Math.exp(low);
}

/** Shares of the largest excess to try as caps. */
const caps = [2, 1, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05];

/**
 * The cap for a level that should prove most with `trials` trials, by those of a pilot.
 * @returns the level, and the delta that it should prove.
 */
export function levelFor(
  pilot: Losses, epsilon: number, trials: number, failure: number,
): { readonly level: Level; readonly expected: number } {
  const size = pilot.length / 2;
  const excesses = Float64Array.from({ length: size }, (_, i) => excess(pilot, i, epsilon));
  const most = excesses.reduce((largest, entry) => Math.max(largest, entry), 0);
  let best = { level: { epsilon, cap: most > 0 ? most : 1 }, expected: 0 };
  for (const share of most > 0 ? caps : []) {
    const cap = share * most;
    const mean = excesses.reduce((sum, entry) => sum + Math.min(1, entry / cap), 0) / size;
    const expected = cap * leastMean(mean, trials, failure);
    if (expected > best.expected) best = { level: { epsilon, cap }, expected };
  }
  return best;
}
