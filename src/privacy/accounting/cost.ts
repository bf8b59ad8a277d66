import type { Amount } from './amount.js';

/**
 * The cost of one release to a contributor.
 *
 * `rho`, `delta`: delta-approximate rho-zCDP, the ledger's default unit. Every event but a mask has
 * it.
 * `epsilon`: pure differential privacy; null if some event is not pure.
 * `gaussian`: half the squared mu of Gaussian differential privacy; null if some event has none.
 */
export interface PrivacyCost {
  readonly rho: Amount;
  readonly delta: Amount;
  readonly epsilon: Amount | null;
  readonly gaussian: Amount | null;
  /**
   * Set if some event has a finite Renyi divergence only up to some order, so that the plan has no
   * zCDP cost. It is the divergence of the whole plan at one order, rounded up. `rho` then has no
   * meaning, and only a budget with rule `renyi` and the same order can pay.
   */
  readonly renyi?: RenyiCost;
}

/** A Renyi divergence at one order. */
export interface RenyiCost {
  readonly order: number;
  readonly amount: Amount;
}

/** The rule of a budget, fixed at its creation. */
export type BudgetRule =
  | { readonly rule: 'zcdp' }
  | { readonly rule: 'pure' }
  | { readonly rule: 'gaussian' }
  | { readonly rule: 'renyi'; readonly order: number };

/** How the arms of a plan add up: disjoint arms cost their maximum, all others their sum. */
export interface ArmComposition {
  readonly disjoint: readonly string[];
}
