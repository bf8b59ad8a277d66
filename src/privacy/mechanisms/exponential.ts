import { chooseByLoss } from '../../random/samplers/choice.js';
import type { Coins } from '../../random/samplers/coins.js';
import type { Rational } from '../../random/samplers/discrete-laplace.js';
import { ratioOfDouble } from '../accounting/amount.js';
import type { ExponentialEvent } from '../accounting/events.js';

/**
 * The exponential mechanism: it returns index i with probability proportional to exp(epsilon u_i /
 * (2 sensitivity)).
 *
 * Claim: if no score changes by more than `sensitivity` between neighbours, one call costs pure
 * epsilon, and epsilon^2 / 8 zCDP.
 * Source: McSherry and Talwar 2007; the zCDP cost by bounded range, Cesar and Rogers 2021.
 * Why the code meets it: between neighbours the log-odds of two candidates change by at most
 * epsilon. The choice is exact: the code computes the loss epsilon (max u - u_i) / (2 sensitivity)
 * as a rational number from the doubles. It draws a candidate uniformly and keeps it with
 * probability exp(-loss), by exact coins. The scores count as given: their sensitivity must include
 * the rounding in their own computation.
 */
export function drawExponential(
  coins: Coins, event: ExponentialEvent, scores: Float64Array,
): number {
  let best = -Infinity;
  for (const score of scores) if (score > best) best = score;
  const rate = ratioOfDouble(event.epsilon);
  const width = ratioOfDouble(event.sensitivity);
  const numerator = rate.numerator * width.denominator;
  const denominator = 2n * rate.denominator * width.numerator;
  return chooseByLoss(coins, scores.length, (index) => {
    const gap = exactDifference(best, scores[index]!);
    return { numerator: gap.numerator * numerator, denominator: gap.denominator * denominator };
  });
}

/** larger - smaller, exactly. */
function exactDifference(larger: number, smaller: number): Rational {
  const difference = larger - smaller;
  if (Number.isSafeInteger(larger) && Number.isSafeInteger(smaller)
      && Number.isSafeInteger(difference)) {
    return { numerator: BigInt(difference), denominator: 1n };
  }
  const left = signedRatio(larger);
  const right = signedRatio(smaller);
  return {
    numerator: left.numerator * right.denominator - right.numerator * left.denominator,
    denominator: left.denominator * right.denominator,
  };
}

function signedRatio(value: number): Rational {
  const { numerator, denominator } = ratioOfDouble(Math.abs(value));
  return { numerator: value < 0 ? -numerator : numerator, denominator };
}
