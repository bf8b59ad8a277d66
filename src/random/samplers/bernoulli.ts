import type { RandomBits } from '../bits.js';

/**
 * Exact coins, after Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy"
 * (2020), section 5. All arithmetic is on integers: Number up to 2^53, where it is exact, and
 * BigInt above. No decision compares rounded floats.
 */
const exactLimit = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * True with probability numerator / denominator. Integers, 0 <= numerator <= denominator <= 2^53,
 * denominator > 0.
 */
export function bernoulli(bits: RandomBits, numerator: number, denominator: number): boolean {
  if (numerator >= denominator) return true;
  return numerator > 0 && bits.below(denominator) < numerator;
}

/** As `bernoulli`, for integers of any size. */
export function bernoulliBig(bits: RandomBits, numerator: bigint, denominator: bigint): boolean {
  if (numerator >= denominator) return true;
  return numerator > 0n && bits.belowBig(denominator) < numerator;
}

/**
 * Draws exp(-x), x in [0,1], from its alternating series. For k = 1, 2, ... it throws a coin of
 * probability x / k until one fails. P(more than j successes) = x^(j+1) / (j+1)!, so the first
 * failure is at an odd k with probability 1 - x + x^2/2! - ... = exp(-x). The coin x / k is two
 * independent coins, 1 / k and x, so that the denominator does not grow. 1 / k comes first because
 * it fails most often.
 */
function expRace(bits: RandomBits, coin: () => boolean): boolean {
  let k = 1;
  while (bits.below(k) === 0 && coin()) k += 1;
  return (k & 1) === 1;
}

function expOfUnit(bits: RandomBits, numerator: number, denominator: number): boolean {
  let k = 1;
  while (bits.below(k) === 0 && bernoulli(bits, numerator, denominator)) k += 1;
  return (k & 1) === 1;
}

/** True with probability exp(-1). */
export function bernoulliInverseE(bits: RandomBits): boolean {
  let k = 2;
  while (bits.below(k) === 0) k += 1;
  return (k & 1) === 1;
}

/**
 * True with probability exp(-numerator / denominator). Integers in [0, 2^53], denominator > 0. A
 * quotient above 1 is split: each whole unit needs a coin of exp(-1) of its own. So the expected
 * work is bounded for every size.
 */
export function bernoulliExp(bits: RandomBits, numerator: number, denominator: number): boolean {
  if (numerator <= denominator) return expOfUnit(bits, numerator, denominator);
  // The remainder of doubles is exact, so the quotient below is an exact division.
  const remainder = numerator % denominator;
  for (let whole = (numerator - remainder) / denominator; whole > 0; whole--) {
    if (!bernoulliInverseE(bits)) return false;
  }
  return expOfUnit(bits, remainder, denominator);
}

/** As `bernoulliExp`, for integers of any size. */
export function bernoulliExpBig(bits: RandomBits, numerator: bigint, denominator: bigint): boolean {
  if (denominator <= exactLimit && numerator <= exactLimit) {
    return bernoulliExp(bits, Number(numerator), Number(denominator));
  }
  const remainder = numerator % denominator;
  for (let whole = numerator / denominator; whole > 0n; whole--) {
    if (!bernoulliInverseE(bits)) return false;
  }
  return expRace(bits, () => bernoulliBig(bits, remainder, denominator));
}
