import type { Amount } from './amount.js';
import type { MechanismEvent } from './events.js';

/**
 * What one release costs a contributor.
 *
 * `rho`, `delta`: delta-approximate rho-zCDP, the ledger's default unit; every event has one.
 * `epsilon`: pure differential privacy; null when some event is not pure.
 */
export interface PrivacyCost {
  readonly rho: Amount;
  readonly delta: Amount;
  readonly epsilon: Amount | null;
}

/** The rule a budget fixes at creation. */
export type BudgetRule =
  | { readonly rule: 'zcdp' }
  | { readonly rule: 'pure' }
  | { readonly rule: 'renyi'; readonly order: number };

/** How the cohorts of a plan relate: disjoint cohorts cost the maximum, pooled ones the sum. */
export interface CohortComposition {
  readonly disjoint: readonly string[];
}

/** Implemented in privacy/composition.ts. */
export type CostOfEvents = (events: readonly MechanismEvent[], cohorts: CohortComposition) => PrivacyCost;
