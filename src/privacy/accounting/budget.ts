import { InvalidParameterError } from '../../base/errors.js';
import {
  amountAtLeast, amountOf, ratioOfDouble, zeroAmount, amountUnit, type Amount, type PureAmount,
} from './amount.js';
import type { BudgetRule, PrivacyCost } from './cost.js';

/**
 * The decision rule of every budget, shared by the store, the planner and the reports.
 *
 * Caps are fixed when the budget is made. A release may choose its cost after seeing earlier
 * releases. For zCDP, the sums of rho and of delta under fixed caps form a privacy filter
 * (Whitehouse, Ramdas, Rogers, Wu 2023, theorem 1). The same holds for pure epsilon and for one
 * Renyi order (Rogers et al. 2016; Feldman and Zrnic 2021), and for squares of mu (Smith and
 * Thakurta 2022). So free choice costs no more than costs
 * fixed in advance. The rule never looks at data.
 *
 * Beside these sums a budget of (E, D) keeps the sum of pure epsilons, and either sum pays
 * (`admits`).
 *
 * Claim: releases are chosen after seeing earlier ones, and each is made only if after it the pure
 * sum is at most E (and every charge so far was pure), or the filter above holds for (E, D). Then
 * everything released is (E, D)-differentially private.
 * Proof. Let A be the transcripts at whose end the filter holds. Costs are functions of the
 * transcript, so A is a set of transcripts. Let M1 be the process that stops where the filter
 * would first break, M2 the one that stops where the pure sum would. The sums only grow: on A the
 * filter held all along, and off A the pure sum did. So on A the process M and M1 have the same
 * probabilities, off A M and M2. With Q for the neighbour, P(S) = P1(S and A) + P2(S minus A)
 * <= e^E Q1(S and A) + D + e^E Q2(S minus A) = e^E Q(S) + D.
 * Two sums that both use delta may not be joined like this: delta would double. So zCDP and the
 * squares of mu (gaussian-curve) are rules of a budget, which has one of them.
 */
export interface Balance {
  readonly rhoCap: Amount;
  readonly deltaCap: Amount;
  readonly pureCap: Amount;
  readonly rhoSpent: Amount;
  readonly deltaSpent: Amount;
  readonly pureSpent: PureAmount;
  readonly rhoReserved: Amount;
  readonly deltaReserved: Amount;
  readonly pureReserved: PureAmount;
}

/** A charge, or a sum of charges. */
export interface Charge {
  /** In the unit of a budget's rule: rho, epsilon or a Renyi divergence. */
  readonly rho: Amount;
  readonly delta: Amount;
  /** Pure epsilon. */
  readonly pure: PureAmount;
}

/** The caps of a budget; that of the pure sum is its epsilon. */
export interface Caps extends Charge {
  readonly pure: Amount;
}

/** True if a budget may come to this total: the claim above. */
export function admits(caps: Caps, total: Charge): boolean {
  return (total.rho <= caps.rho && total.delta <= caps.delta)
    || (total.pure !== null && total.pure <= caps.pure);
}

/** `none` absorbs. */
export function plusPure(left: PureAmount, right: PureAmount): PureAmount {
  return left === null || right === null ? null : (left + right) as Amount;
}

/** The sum of two charges. */
export function plusCharge(left: Charge, right: Charge): Charge {
  return {
    rho: (left.rho + right.rho) as Amount, delta: (left.delta + right.delta) as Amount,
    pure: plusPure(left.pure, right.pure),
  };
}

/** True if a reservation pays for a charge in every sum. */
export function coversCharge(reserved: Charge, charge: Charge): boolean {
  return charge.rho <= reserved.rho && charge.delta <= reserved.delta
    && (reserved.pure === null || (charge.pure !== null && charge.pure <= reserved.pure));
}

function leftOver(cap: Amount, ...taken: readonly Amount[]): Amount {
  const left = taken.reduce<bigint>((rest, amount) => rest - amount, cap);
  return (left > 0n ? left : 0n) as Amount;
}

/**
 * The amounts neither spent nor reserved; zero if more was spent than a cap allows, by the other
 * sum or before the cap was lowered. No pure amount is left after a charge that is not pure.
 */
export function remaining(balance: Balance): Charge {
  const { pureSpent, pureReserved } = balance;
  return {
    rho: leftOver(balance.rhoCap, balance.rhoSpent, balance.rhoReserved),
    delta: leftOver(balance.deltaCap, balance.deltaSpent, balance.deltaReserved),
    pure: pureSpent === null || pureReserved === null
      ? null : leftOver(balance.pureCap, pureSpent, pureReserved),
  };
}

/**
 * How many more charges of this size fit, and which cap stops the next one. Infinity if the charge
 * is zero.
 */
export function releasesThatFit(
  balance: Balance,
  asked: Charge,
): { readonly count: number; readonly binds: 'rho' | 'delta' | 'epsilon' } {
  const left = remaining(balance);
  const times = (rest: Amount, each: Amount): number =>
    (each === 0n ? Infinity : Number(rest / each));
  const byRho = times(left.rho, asked.rho);
  const byDelta = times(left.delta, asked.delta);
  const byPure = left.pure === null || asked.pure === null ? 0 : times(left.pure, asked.pure);
  if (byPure > Math.min(byRho, byDelta)) return { count: byPure, binds: 'epsilon' };
  return byDelta < byRho ? { count: byDelta, binds: 'delta' } : { count: byRho, binds: 'rho' };
}

/** The balance of an unused budget. */
export function freshBalance(
  caps: { readonly rhoCap: Amount; readonly deltaCap: Amount; readonly pureCap: Amount },
): Balance {
  return {
    rhoCap: caps.rhoCap,
    deltaCap: caps.deltaCap,
    pureCap: caps.pureCap,
    rhoSpent: zeroAmount,
    deltaSpent: zeroAmount,
    pureSpent: zeroAmount,
    rhoReserved: zeroAmount,
    deltaReserved: zeroAmount,
    pureReserved: zeroAmount,
  };
}

/**
 * A plan's cost in the unit of a budget's rule.
 * - zcdp: (rho, delta) as they are, and epsilon beside them if the plan is pure.
 * - pure: epsilon in the place of rho, and no delta.
 * - gaussian: half the squared mu in the place of rho, no delta, and epsilon beside it if the plan
 *   is pure.
 * - renyi at order a: the divergence that the plan states for that order, or else a rho, the
 *   divergence of a rho-zCDP release. delta as it is, and no pure epsilon.
 * @throws InvalidParameterError when the rule cannot express the cost.
 */
export function chargeUnder(rule: BudgetRule, cost: PrivacyCost): Charge {
  if (cost.renyi !== undefined) {
    const { order, amount } = cost.renyi;
    if (rule.rule === 'renyi' && rule.order === order) {
      return { rho: amount, delta: cost.delta, pure: null };
    }
    throw new InvalidParameterError(
      `this plan draws noise whose divergence is known at order ${order} only, which a budget with `
      + `rule "${rule.rule}"${rule.rule === 'renyi' ? ` at order ${rule.order}` : ''} cannot hold; `
      + 'give the budget the rule "renyi", and plan for its order', { order },
    );
  }
  switch (rule.rule) {
    case 'zcdp':
      return { rho: cost.rho, delta: cost.delta, pure: pureOf(cost) };
    case 'pure':
      if (cost.epsilon === null || cost.delta !== 0n) {
        throw new InvalidParameterError(
          'this plan draws noise that is not pure differential privacy, which a budget with rule '
          + '"pure" cannot hold; choose the rule "zcdp" or an estimator with a pure variant',
        );
      }
      return { rho: cost.epsilon, delta: zeroAmount, pure: cost.epsilon };
    case 'gaussian':
      if (cost.gaussian === null) {
        throw new InvalidParameterError(
          'this plan draws noise with a delta, such as that of thresholds, which a budget with '
          + 'rule "gaussian" cannot hold; choose the rule "zcdp"',
        );
      }
      return { rho: cost.gaussian, delta: zeroAmount, pure: pureOf(cost) };
    case 'renyi': {
      const order = ratioOfDouble(rule.order);
      const rho = amountAtLeast({
        numerator: cost.rho * order.numerator,
        denominator: amountUnit * order.denominator,
      });
      return { rho, delta: cost.delta, pure: null };
    }
  }
}

/** The pure epsilon of a cost; `none` if some event is not pure. */
export function pureOf(cost: PrivacyCost): PureAmount {
  return cost.delta === 0n && cost.renyi === undefined ? cost.epsilon : null;
}

/** A charge from doubles, rounded up, of noise that is not pure. */
export function chargeOf(rho: number, delta: number): Charge {
  return { rho: amountOf(rho), delta: amountOf(delta), pure: null };
}
