import { ln } from '../../base/elementary.js';
import { amountToNumber, type Amount, type PureAmount } from './amount.js';
import { epsilonOfApproximateZcdp } from './conversion.js';
import { epsilonOfHalfSquare } from './gaussian-curve.js';
import type { BudgetRule } from './cost.js';

/**
 * The epsilon of a ledger's amounts at a total `delta`, never below the true one.
 * - pure: the amount is epsilon.
 * - zcdp: the tight conversion of delta-approximate rho-zCDP.
 * - gaussian: the exact curve of one Gaussian number.
 * - renyi: a divergence R at order a gives R - (log((a-1) d) - a log(1 - 1/a)) / (a-1). d is the
 *   half of delta that the budget set aside for this conversion, which also made its cap.
 *
 * If the events alone use up delta, no epsilon holds, and the result is the largest double.
 * The pure sum is an epsilon as well, so the smaller one is given.
 * @param rho in the unit of the rule.
 * @param pure the pure epsilons of the same charges.
 */
export function epsilonOfSpent(
  rule: BudgetRule, rho: Amount, eventDelta: Amount, delta: number, pure: PureAmount = null,
): number {
  const bySum = epsilonBySum(rule, rho, eventDelta, delta);
  return pure === null ? bySum : Math.min(bySum, amountToNumber(pure));
}

function epsilonBySum(
  rule: BudgetRule, rho: Amount, eventDelta: Amount, delta: number,
): number {
  if (rho === 0n) return 0;
  const spent = amountToNumber(rho);
  if (rule.rule === 'zcdp' && amountToNumber(eventDelta) >= delta) return Number.MAX_VALUE;
  switch (rule.rule) {
    case 'pure':
      return spent;
    case 'zcdp':
      return epsilonOfApproximateZcdp(spent, amountToNumber(eventDelta), delta);
    case 'gaussian':
      return epsilonOfHalfSquare(spent, delta);
    case 'renyi': {
      const b = rule.order - 1;
      const gain = (ln(b * (delta / 2)) + rule.order * (Math.log1p(b) - ln(b))) / b;
      return Math.max(0, spent - gain) * (1 + 2 ** -40);
    }
  }
}
