import { assert } from '../../src/base/assert.js';
import type { Coins } from '../../src/random/samplers/coins.js';
import type { Rational } from '../../src/random/samplers/discrete-laplace.js';

/**
 * For comparison with the shipped sampler (random/samplers/choice).
 *
 * Chooses index i with probability proportional to exp(-loss(i)), exactly. It draws a candidate
 * uniformly, keeps it with probability exp(-loss), and else draws again. No weight is ever rounded.
 * A Gumbel draw in doubles or a cumulative sum of float weights would round, and no account covers
 * the difference. At least one loss must be 0, so that the expected number of tries is at most
 * `count`. Each try costs a few coins.
 * @param loss - exact and not negative. It is called again if the same candidate is drawn again.
 */
export function chooseByRejection(
  coins: Coins, count: number, loss: (index: number) => Rational,
): number {
  assert(Number.isSafeInteger(count) && count > 0, 'a choice has at least one candidate');
  return coins.until(() => {
    const index = coins.below(count);
    const { numerator, denominator } = loss(index);
    assert(numerator >= 0n && denominator > 0n, 'a loss is not negative');
    return coins.bernoulliExpBig(numerator, denominator) ? index : undefined;
  });
}
