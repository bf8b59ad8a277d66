import { InvalidParameterError } from '../../base/errors.js';
import {
  amountAtLeast, amountOf, ratioOfDouble, zeroAmount, amountUnit, type Amount,
} from './amount.js';
import type { BudgetRule, PrivacyCost } from './cost.js';

/**
 * The decision rule of every budget, shared by the store, the planner and the reports.
 *
 * Caps are fixed when the budget is made. A release may choose its cost after seeing earlier
 * releases. For zCDP, the sums of rho and of delta under fixed caps form a privacy filter
 * (Whitehouse, Ramdas, Rogers, Wu 2023, theorem 1). The same holds for pure epsilon and for one
 * Renyi order (Rogers et al. 2016; Feldman and Zrnic 2021). So free choice costs no more than costs
 * fixed in advance. The rule never looks at data.
 */
export interface Balance {
  readonly rhoCap: Amount;
  readonly deltaCap: Amount;
  readonly rhoSpent: Amount;
  readonly deltaSpent: Amount;
  readonly rhoReserved: Amount;
  readonly deltaReserved: Amount;
}

/** A charge in the unit of a budget's rule. `rho` holds rho, epsilon or a Renyi divergence. */
export interface Charge {
  readonly rho: Amount;
  readonly delta: Amount;
}

function leftOver(cap: Amount, ...taken: readonly Amount[]): Amount {
  const left = taken.reduce<bigint>((rest, amount) => rest - amount, cap);
  return (left > 0n ? left : 0n) as Amount;
}

/** The amounts neither spent nor reserved; zero if a cap was lowered below what was spent. */
export function remaining(balance: Balance): Charge {
  return {
    rho: leftOver(balance.rhoCap, balance.rhoSpent, balance.rhoReserved),
    delta: leftOver(balance.deltaCap, balance.deltaSpent, balance.deltaReserved),
  };
}

/**
 * Whether spent, reserved and asked together stay within both caps. Asking for nothing always fits.
 */
export function fits(balance: Balance, asked: Charge): boolean {
  const left = remaining(balance);
  return asked.rho <= left.rho && asked.delta <= left.delta;
}

/**
 * How many more charges of this size fit, and which cap stops the next one. Infinity if the charge
 * is zero.
 */
export function releasesThatFit(
  balance: Balance,
  asked: Charge,
): { readonly count: number; readonly binds: 'rho' | 'delta' } {
  const left = remaining(balance);
  const byRho = asked.rho === 0n ? Infinity : Number(left.rho / asked.rho);
  const byDelta = asked.delta === 0n ? Infinity : Number(left.delta / asked.delta);
  return byDelta < byRho ? { count: byDelta, binds: 'delta' } : { count: byRho, binds: 'rho' };
}

/** The balance of an unused budget. */
export function freshBalance(
  caps: { readonly rhoCap: Amount; readonly deltaCap: Amount },
): Balance {
  return {
    rhoCap: caps.rhoCap,
    deltaCap: caps.deltaCap,
    rhoSpent: zeroAmount,
    deltaSpent: zeroAmount,
    rhoReserved: zeroAmount,
    deltaReserved: zeroAmount,
  };
}

/**
 * A plan's cost in the unit of a budget's rule.
 * - zcdp: (rho, delta) as they are.
 * - pure: epsilon in the place of rho, and no delta.
 * - renyi at order a: the divergence that the plan states for that order, or else a rho, the
 *   divergence of a rho-zCDP release. delta as it is.
 * @throws InvalidParameterError when the rule cannot express the cost.
 */
export function chargeUnder(rule: BudgetRule, cost: PrivacyCost): Charge {
  if (cost.renyi !== undefined) {
    const { order, amount } = cost.renyi;
    if (rule.rule === 'renyi' && rule.order === order) return { rho: amount, delta: cost.delta };
    throw new InvalidParameterError(
      `this plan draws noise whose divergence is known at order ${order} only, which a budget with `
      + `rule "${rule.rule}"${rule.rule === 'renyi' ? ` at order ${rule.order}` : ''} cannot hold; `
      + 'give the budget the rule "renyi", and plan for its order', { order },
    );
  }
  switch (rule.rule) {
    case 'zcdp':
      return { rho: cost.rho, delta: cost.delta };
    case 'pure':
      if (cost.epsilon === null || cost.delta !== 0n) {
        throw new InvalidParameterError(
          'this plan draws noise that is not pure differential privacy, which a budget with rule '
          + '"pure" cannot hold; choose the rule "zcdp" or an estimator with a pure variant',
        );
      }
      return { rho: cost.epsilon, delta: zeroAmount };
    case 'renyi': {
      const order = ratioOfDouble(rule.order);
      const rho = amountAtLeast({
        numerator: cost.rho * order.numerator,
        denominator: amountUnit * order.denominator,
      });
      return { rho, delta: cost.delta };
    }
  }
}

/** A charge from doubles, rounded up. */
export function chargeOf(rho: number, delta: number): Charge {
  return { rho: amountOf(rho), delta: amountOf(delta) };
}
