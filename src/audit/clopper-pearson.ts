import { ln } from '../base/elementary.js';
import { assert } from '../base/assert.js';

/**
 * An exact (Clopper-Pearson) confidence bound for a probability, from counted trials.
 *
 * `lowerBound(hits, trials, failure)` is the p at which `hits` or more hits have probability
 * `failure`. So for every true probability, it is below this bound at most with probability
 * `failure`. The tail of the binomial is the regularised incomplete beta function, from the
 * continued fraction of Didonato and Morris (1992) by Lentz's rule. `failure` is divided by 1.001
 * first, a thousand times the effect of double rounding on a tail.
 */
const roundingAllowance = 1.001;
const bisections = 80;

/** Below the true probability, except with probability `failure`. 0 if no trial hit. */
export function lowerBound(hits: number, trials: number, failure: number): number {
  checkCounts(hits, trials, failure);
  if (hits === 0) return 0;
  const wanted = failure / roundingAllowance;
  // P(at least `hits` | p) = P(Beta(hits, trials - hits + 1) <= p), which increases with p.
  return lastFalse((p) => incompleteBeta(p, hits, trials - hits + 1) > wanted);
}

function checkCounts(hits: number, trials: number, failure: number): void {
  assert(
    Number.isSafeInteger(hits) && Number.isSafeInteger(trials), 'trials and hits are whole numbers',
  );
  assert(hits >= 0 && hits <= trials && trials > 0, 'hits are among the trials');
  assert(failure > 0 && failure < 0.5, 'a bound may fail with a probability below one half');
}

/**
 * The last point at which a test is false, if it is false at 0 and true at 1. Searches
 * probabilities down to 1e-20 by their logarithm.
 */
function lastFalse(isBeyond: (p: number) => boolean): number {
  let low = -46;
  let high = 46;
  // p = 1 / (1 + e^-x): precise near both 0 and 1.
  const probability = (x: number): number => 1 / (1 + Math.exp(-x));
  for (let step = 0; step < bisections; step++) {
    const middle = (low + high) / 2;
    if (isBeyond(probability(middle))) high = middle;
    else low = middle;
  }
  return probability(low);
}

/** I_x(a, b), for a, b >= 1. Relative error below 1e-6 for a + b up to 10^9. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const logFront = logGamma(a + b) - logGamma(a) - logGamma(b) + a * ln(x)
    + b * Math.log1p(-x);
  if (x < (a + 1) / (a + b + 2)) return (Math.exp(logFront) / a) * betaFraction(x, a, b);
  return 1 - (Math.exp(logFront) / b) * betaFraction(1 - x, b, a);
}

/**
 * The continued fraction. It converges in about sqrt(max(a, b)) steps on the side of the mean where
 * it is used.
 */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300;
  const nonZero = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 200_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    const factor = d * c;
    fraction *= factor;
    if (Math.abs(factor - 1) < 1e-15) break;
  }
  return fraction;
}

/** log of the gamma function for x >= 1: Stirling's series above 20, the recurrence below. */
function logGamma(x: number): number {
  let shift = 0;
  let y = x;
  while (y < 20) {
    shift -= ln(y);
    y += 1;
  }
  const inverse = 1 / (y * y);
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / y;
  return shift + (y - 0.5) * ln(y) - y + 0.5 * ln(2 * Math.PI) + series;
}
