import type { Plan, PrivacyTarget } from '../src/estimators/contract.js';
import { amountToNumber } from '../src/privacy/amount.js';

/** What a release costs, as results state it. */
export interface PrivacyStatement {
  readonly epsilon: number;
  readonly delta: number;
  readonly rho: number;
  /** Which data sets the bound compares. */
  readonly neighbours: string;
}

/**
 * The (epsilon, delta) statement that was asked for, which the plan's cost meets by construction,
 * and the zCDP amount that is charged. A pure plan states its own epsilon and delta 0.
 */
export function statementOf(plan: Plan, target: PrivacyTarget): PrivacyStatement {
  const { rho, epsilon } = plan.cost;
  const { neighbours } = plan.guarantee;
  const isPure = epsilon !== null;
  return {
    epsilon: isPure ? amountToNumber(epsilon) : target.epsilon,
    delta: isPure ? 0 : target.deltaTotal,
    rho: amountToNumber(rho),
    neighbours,
  };
}
