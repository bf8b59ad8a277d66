import { assert } from '../../base/assert.js';
import type { Coins } from './coins.js';

/** A positive rational. Need not be reduced. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** An integer number of grid steps. It is a Number only if it is a safe integer. */
export type Steps = number | bigint;

/**
 * |y| of a discrete Laplace draw of integer scale t, before the sign: P(m) proportional to exp(-m /
 * t), m >= 0. m = u + t v. u is uniform below t and kept with probability exp(-u / t). v counts
 * successes of a coin of exp(-1) before its first failure.
 */
export function laplaceMagnitude(coins: Coins, scale: number): number {
  const offset = coins.until(() => {
    const tried = coins.below(scale);
    return coins.bernoulliExp(tried, scale) ? tried : undefined;
  });
  let units = 0;
  while (coins.bernoulliInverseE()) units += 1;
  return offset + scale * units;
}

/**
 * P(y) proportional to exp(-|y| / scale) over all integers y, exactly. Canonne, Kamath, Steinke
 * 2020, algorithm 2: for scale n / d, a geometric draw of scale n is divided by d. Minus zero is
 * drawn again, so that zero is not counted twice. The expected number of coins is bounded for every
 * scale.
 */
export function discreteLaplace(coins: Coins, scale: Rational): bigint {
  const { numerator, denominator } = scale;
  assert(numerator > 0n && denominator > 0n, 'the scale of a discrete Laplace is positive');
  return coins.until(() => {
    const offset = coins.belowBig(numerator);
    if (!coins.bernoulliExpBig(offset, numerator)) return undefined;
    let units = 0n;
    while (coins.bernoulliInverseE()) units += 1n;
    const magnitude = (offset + numerator * units) / denominator;
    const negative = coins.bit();
    if (negative && magnitude === 0n) return undefined;
    return negative ? -magnitude : magnitude;
  });
}
