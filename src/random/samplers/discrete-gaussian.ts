import { assert } from '../../base/assert.js';
import type { Coins } from './coins.js';
import {
  discreteLaplace, laplaceMagnitude, type Rational, type Steps,
} from './discrete-laplace.js';

/** Up to this integer standard deviation, 2 sigma^2 <= 2^53 and arithmetic on Number is exact. */
const fastDeviation = 2 ** 26;
/** Squares of integers up to this are below 2^53. */
const fastGap = 94_906_265;

/** Draws P(y) proportional to exp(-y^2 / (2 variance)) over all integers y, exactly. */
export type GaussianSampler = (coins: Coins) => Steps;

/**
 * Canonne, Kamath, Steinke 2020, algorithm 3. Let v be the variance. A discrete Laplace draw y of
 * scale t is kept with probability exp(-(|y| - v/t)^2 / (2 v)). The product of the two is
 * proportional to exp(-y^2 / (2 v)) for every t > 0, so any t is correct. If sigma is an integer, t
 * = sigma: the exponent is then (|y| - sigma)^2 / (2 sigma^2), with small integers. Otherwise t =
 * floor(sigma) + 1. About 0.76 of the draws are kept.
 *
 * The time of a draw depends a little on its size (the coins are geometric). A caller must not let
 * an outsider time single draws.
 */
export function gaussianSampler(variance: Rational): GaussianSampler {
  const { numerator, denominator } = variance;
  assert(numerator > 0n && denominator > 0n, 'the variance of a discrete Gaussian is positive');
  if (numerator % denominator === 0n) {
    const whole = numerator / denominator;
    const deviation = squareRoot(whole);
    if (deviation * deviation === whole && deviation <= BigInt(fastDeviation)) {
      return (coins) => wholeDeviation(coins, Number(deviation));
    }
  }
  const scale = squareRoot(numerator / denominator) + 1n;
  return (coins) => anyVariance(coins, variance, scale);
}

function wholeDeviation(coins: Coins, deviation: number): Steps {
  return coins.until(() => {
    const magnitude = laplaceMagnitude(coins, deviation);
    const gap = Math.abs(magnitude - deviation);
    if (!keepWhole(coins, gap, deviation)) return undefined;
    const negative = coins.bit();
    if (negative && magnitude === 0) return undefined;
    return negative ? -magnitude : magnitude;
  });
}

function keepWhole(coins: Coins, gap: number, deviation: number): boolean {
  if (gap <= fastGap) return coins.bernoulliExp(gap * gap, 2 * deviation * deviation);
  const wide = BigInt(gap);
  return coins.bernoulliExpBig(wide * wide, 2n * BigInt(deviation) ** 2n);
}

function anyVariance(coins: Coins, variance: Rational, scale: bigint): bigint {
  const { numerator, denominator } = variance;
  // (|y| - v/t)^2 / (2 v) with v = a/b: (|y| b t - a)^2 / (2 a b t^2).
  const divisor = 2n * numerator * denominator * scale * scale;
  return coins.until(() => {
    const draw = discreteLaplace(coins, { numerator: scale, denominator: 1n });
    const magnitude = draw < 0n ? -draw : draw;
    const gap = magnitude * denominator * scale - numerator;
    return coins.bernoulliExpBig(gap * gap, divisor) ? draw : undefined;
  });
}

/**
 * The largest integer whose square is at most `value`; value >= 0. Newton's method from above: it
 * begins with the root of the leading 96 to 100 bits, which a double has but for less than 1.
 */
export function squareRoot(value: bigint): bigint {
  assert(value >= 0n, 'a square root is taken of a number that is not negative');
  if (value < 2n) return value;
  const shift = BigInt(Math.max(0, 2 * value.toString(16).length - 50));
  const leading = Math.ceil(Math.sqrt(Number(value >> (2n * shift))));
  let guess = (BigInt(leading) + 2n) << shift;
  for (;;) {
    const next = (guess + value / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}
