import { RandomBits } from '../bits.js';

/**
 * Exact coins, after Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy"
 * (2020), section 5. All arithmetic is on integers: Number up to 2^53, where it is exact, and
 * BigInt above. No decision compares rounded floats.
 */
const exactLimit = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Random bits, the coins that the samplers toss with them, and their loop of attempts. A sampler
 * takes all of its randomness from the methods of this class. So a check can put branches in the
 * place of random bits and walk through every outcome (src/audit/exact).
 */
export class Coins extends RandomBits {
  /**
   * True with probability numerator / denominator. Integers, 0 <= numerator <= denominator <= 2^53,
   * denominator > 0.
   */
  bernoulli(numerator: number, denominator: number): boolean {
    if (numerator >= denominator) return true;
    return numerator > 0 && this.below(denominator) < numerator;
  }

  /** As `bernoulli`, for integers of any size. */
  bernoulliBig(numerator: bigint, denominator: bigint): boolean {
    if (numerator >= denominator) return true;
    return numerator > 0n && this.belowBig(denominator) < numerator;
  }

  /** True with probability exp(-1). */
  bernoulliInverseE(): boolean {
    let k = 2;
    while (this.below(k) === 0) k += 1;
    return (k & 1) === 1;
  }

  /**
   * True with probability exp(-numerator / denominator). Integers in [0, 2^53], denominator > 0. A
   * quotient above 1 is split: each whole unit needs a coin of exp(-1) of its own. So the expected
   * work is bounded for every size.
   */
  bernoulliExp(numerator: number, denominator: number): boolean {
    if (numerator <= denominator) return this.#expOfUnit(numerator, denominator);
    // The remainder of doubles is exact, so the quotient below is an exact division.
    const remainder = numerator % denominator;
    for (let whole = (numerator - remainder) / denominator; whole > 0; whole--) {
      if (!this.bernoulliInverseE()) return false;
    }
    return this.#expOfUnit(remainder, denominator);
  }

  /** As `bernoulliExp`, for integers of any size. */
  bernoulliExpBig(numerator: bigint, denominator: bigint): boolean {
    if (denominator <= exactLimit && numerator <= exactLimit) {
      return this.bernoulliExp(Number(numerator), Number(denominator));
    }
    const remainder = numerator % denominator;
    for (let whole = numerator / denominator; whole > 0n; whole--) {
      if (!this.bernoulliInverseE()) return false;
    }
    let k = 1;
    while (this.below(k) === 0 && this.bernoulliBig(remainder, denominator)) k += 1;
    return (k & 1) === 1;
  }

  /**
   * The result of the first attempt that has one. The law is that of one attempt, given that it has
   * a result.
   * @param attempt - takes its randomness from these coins, and depends on nothing that an earlier
   *   attempt has changed. undefined: no result.
   */
  until<T>(attempt: () => T | undefined): T {
    for (;;) {
      const result = attempt();
      if (result !== undefined) return result;
    }
  }

  /**
   * Draws exp(-x), x in [0,1], from its alternating series. For k = 1, 2, ... it throws a coin of
   * probability x / k until one fails. P(more than j successes) = x^(j+1) / (j+1)!, so the first
   * failure is at an odd k with probability 1 - x + x^2/2! - ... = exp(-x). The coin x / k is two
   * independent coins, 1 / k and x, so that the denominator does not grow. 1 / k comes first
   * because it fails most often.
   */
  #expOfUnit(numerator: number, denominator: number): boolean {
    let k = 1;
    while (this.below(k) === 0 && this.bernoulli(numerator, denominator)) k += 1;
    return (k & 1) === 1;
  }
}
