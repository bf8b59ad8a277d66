import { assert } from '../../base/assert.js';
import type { RandomBits } from '../bits.js';
import { bernoulliExp, bernoulliExpBig, bernoulliInverseE } from './bernoulli.js';

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
export function laplaceMagnitude(bits: RandomBits, scale: number): number {
  let offset: number;
  do offset = bits.below(scale);
  while (!bernoulliExp(bits, offset, scale));
  let units = 0;
  while (bernoulliInverseE(bits)) units += 1;
  return offset + scale * units;
}

/**
 * P(y) proportional to exp(-|y| / scale) over all integers y, exactly. Canonne, Kamath, Steinke
 * 2020, algorithm 2: for scale n / d, a geometric draw of scale n is divided by d. Minus zero is
 * drawn again, so that zero is not counted twice. The expected number of coins is bounded for every
 * scale.
 */
export function discreteLaplace(bits: RandomBits, scale: Rational): bigint {
  const { numerator, denominator } = scale;
  assert(numerator > 0n && denominator > 0n, 'the scale of a discrete Laplace is positive');
  for (;;) {
    const offset = bits.belowBig(numerator);
    if (!bernoulliExpBig(bits, offset, numerator)) continue;
    let units = 0n;
    while (bernoulliInverseE(bits)) units += 1n;
    const magnitude = (offset + numerator * units) / denominator;
    const negative = bits.bit();
    if (negative && magnitude === 0n) continue;
    return negative ? -magnitude : magnitude;
  }
}
