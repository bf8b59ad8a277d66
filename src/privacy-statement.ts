import type { Plan, PrivacyTarget } from './estimators/contract/estimator.js';
import { amountToNumber } from './privacy/accounting/amount.js';
import { epsilonOfSpent } from './privacy/accounting/spent.js';

/** The cost of a release, as results state it. */
export interface PrivacyStatement {
  readonly epsilon: number;
  readonly delta: number;
  /** Under `renyi` the divergence over its order: there is no zCDP bound then. */
  readonly rho: number;
  /** For a release whose cost is known at one order only: the divergence there. */
  readonly renyi?: { readonly order: number; readonly divergence: number };
  /** Which data sets the bound compares. */
  readonly neighbours: string;
}

/**
 * The (epsilon, delta) statement that was asked for, which the plan meets (`planWithin`), and the
 * zCDP amount that is charged. A pure plan states its own epsilon and delta 0; one with a
 * cost at one order only states the epsilon that this comes to.
 */
export function statementOf(
  plan: Pick<Plan, 'cost' | 'guarantee'>, target: PrivacyTarget,
): PrivacyStatement {
  const { rho, epsilon, delta, renyi } = plan.cost;
  const { neighbours } = plan.guarantee;
  if (renyi !== undefined) {
    const { order, amount } = renyi;
    const divergence = amountToNumber(amount);
    return {
      epsilon: epsilonOfSpent({ rule: 'renyi', order }, amount, delta, target.deltaTotal),
      delta: target.deltaTotal,
      rho: divergence / order,
      renyi: { order, divergence },
      neighbours,
    };
  }
  const isPure = epsilon !== null;
  return {
    epsilon: isPure ? amountToNumber(epsilon) : target.epsilon,
    delta: isPure ? 0 : target.deltaTotal,
    rho: amountToNumber(rho),
    neighbours,
  };
}
