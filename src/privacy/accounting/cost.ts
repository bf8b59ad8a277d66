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
  /**
   * Set for a plan with an event whose Renyi divergence is finite only up to some order, so that it has no zCDP cost:
   * the divergence of the whole plan at one order, rounded up. `rho` then says nothing, and only a budget of rule
   * `renyi` at that very order can pay.
   */
  readonly renyi?: RenyiCost;
}

/** A Renyi divergence at one order. */
export interface RenyiCost {
  readonly order: number;
  readonly amount: Amount;
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
