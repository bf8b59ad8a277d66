import { budgetRuleNames } from '../../base/budget-rules.js';
import { ln, pow } from '../../base/elementary.js';
import { InvalidParameterError } from '../../base/errors.js';
import { checkObject } from '../../base/given.js';
import { amountUnit, capOf, zeroAmount, type Amount } from './amount.js';
import { chargeOf, chargeUnder, freshBalance, releasesThatFit, type Charge } from './budget.js';
import {
  epsilonOfApproximateZcdp, pureForRho, rhoForApproximateZcdp, rhoOfPure,
} from './conversion.js';
import { halfSquareFor } from './gaussian-curve.js';
import type { BudgetRule } from './cost.js';

/**
 * The most that one release may cost. `delta` is for the charges of its events. The rest of the
 * requested delta pays for the conversion.
 */
export interface PrivacyTarget {
  /** zCDP that this release may spend. */
  readonly rho: number;
  /** Most that the deltas of its events may add up to. */
  readonly delta: number;
  /** The requested guarantee: (epsilon, deltaTotal). */
  readonly epsilon: number;
  readonly deltaTotal: number;
  /**
   * Only pure costs are accepted. Estimators that can draw pure noise do so, and `epsilon` is what
   * they may spend. Never false.
   */
  readonly isPure?: true;
  /**
   * No other release shares a budget with this one. So its plan may spend (epsilon, deltaTotal) by
   * whichever account allows the least noise; see `planWithin`. Estimators do not look at it. Never
   * false.
   */
  readonly isAlone?: true;
  /**
   * The order of the Renyi budget that pays. An estimator whose cost is known at one order only
   * plans for this order.
   */
  readonly order?: number;
}

/** A guarantee (epsilon, delta), as users ask for it. */
export interface Statement {
  readonly epsilon: number;
  readonly delta: number;
}

/**
 * Caps of a budget in ledger units, rounded down. With rule `pure`, rhoCap holds epsilon; with
 * `renyi`, a divergence.
 */
export interface BudgetCaps {
  readonly rule: BudgetRule;
  readonly rhoCap: Amount;
  readonly deltaCap: Amount;
  /** The most that pure epsilons may add up to: the budget's epsilon. */
  readonly pureCap: Amount;
}

/**
 * Range for one release. Far below it, shares of its zCDP would round to nothing in the ledger
 * (2^-64), and noise would grow without bound.
 */
export const epsilonRange = { atLeast: 1e-6, atMost: 100 } as const;
/** Range of the zCDP of one release. */
export const rhoRange = { atLeast: 1e-12, atMost: 1000 } as const;

function checkStatement(asked: Statement, deltaMayBeZero: boolean): void {
  checkObject(asked, 'a statement is { epsilon, delta }');
  const { epsilon, delta } = asked;
  const { atLeast, atMost } = epsilonRange;
  if (!(epsilon >= atLeast && epsilon <= atMost)) {
    throw new InvalidParameterError(
      `epsilon must be at least ${atLeast} and at most ${atMost}; usual values are 0.1 to 10`,
      { epsilon },
    );
  }
  if (!(delta < 0.5 && (delta >= 1e-100 || (deltaMayBeZero && delta === 0)))) {
    throw new InvalidParameterError(
      'delta must be in [1e-100, 0.5); usual values are below 1 / (10 * contributors), such as '
        + '1e-6',
      { delta },
    );
  }
}

/**
 * The zCDP that one release may spend so that it is (epsilon, delta)-DP. `deltaChargeable` is what
 * its events may charge (default: half of delta). The rest pays for the conversion. rho is the
 * largest that stays within epsilon.
 * @throws InvalidParameterError when epsilon is not in [1e-6, 100], delta not in [1e-100, 0.5), or
 *   deltaChargeable not below delta.
 */
export function privacyTarget(
  asked: Statement & { readonly deltaChargeable?: number },
): PrivacyTarget {
  checkStatement(asked, false);
  const chargeable = asked.deltaChargeable ?? asked.delta / 2;
  const rho = rhoForApproximateZcdp(asked.epsilon, chargeable, asked.delta);
  return { rho, delta: chargeable, epsilon: asked.epsilon, deltaTotal: asked.delta };
}

/**
 * A target given in zCDP: half of `delta` is for events, and epsilon is what the conversion
 * reports.
 */
export function targetFromRho(rho: number, delta: number): PrivacyTarget {
  if (!(rho >= rhoRange.atLeast && rho <= rhoRange.atMost)) {
    throw new InvalidParameterError('rho must be at least 1e-12 and at most 1000', { rho });
  }
  checkStatement({ epsilon: 1, delta }, false);
  return {
    rho, delta: delta / 2, epsilon: epsilonOfApproximateZcdp(rho, delta / 2, delta),
    deltaTotal: delta,
  };
}

/**
 * The order at which a Renyi budget of (epsilon, delta) pays for the most zCDP releases, and its
 * cap R(a) = epsilon + (log((a-1) d) - a log(1 - 1/a)) / (a-1). d is half of delta, which pays for
 * the conversion. The order maximises R(a) / a.
 */
function renyiCap(
  { epsilon, delta }: Statement, order?: number,
): { readonly order: number; readonly cap: number } {
  const cap = (b: number): number =>
    epsilon + (ln(b * (delta / 2)) + (1 + b) * (Math.log1p(b) - ln(b))) / b;
  if (order !== undefined) return { order, cap: cap(order - 1) };
  let [best, value] = [2, -Infinity];
  for (let step = 0; step <= 4000; step++) {
    const b = pow(10, -2 + step / 500);
    const share = cap(b) / (1 + b);
    if (share > value) [best, value] = [1 + b, share];
  }
  return { order: best, cap: cap(best - 1) };
}

/**
 * The largest divergence at one order that keeps a release within its target's guarantee. The order
 * is that of the budget that pays, else the best one for the guarantee. Half of the target's delta
 * pays for the conversion, as for caps.
 */
export function renyiAllowance(target: PrivacyTarget): {
  readonly order: number; readonly divergence: number;
} {
  const { order, cap } =
    renyiCap({ epsilon: target.epsilon, delta: target.deltaTotal }, target.order);
  return { order, divergence: cap * (1 - 2 ** -40) };
}

/**
 * The caps of a budget given as (epsilon, delta).
 * - zcdp: half of delta is for the deltas of events. The rest pays for the conversion of the whole
 *   budget.
 * - pure: epsilon, and no delta. The given delta is ignored.
 * - gaussian: the largest half of a squared mu that is (epsilon, delta). No event has a delta.
 * - renyi: the divergence at one order, chosen here unless the rule names it, and half of delta for
 *   events.
 * @throws InvalidParameterError when a number is outside its range, or the Renyi order leaves
 *   nothing to spend.
 */
export function capsOf(
  budget: Statement & { readonly rule: BudgetRule['rule'] | BudgetRule },
): BudgetCaps {
  checkObject(budget, 'a budget is { epsilon, delta, rule }');
  const rule = typeof budget.rule === 'string' ? budget.rule : budget.rule?.rule;
  if (!budgetRuleNames.includes(rule)) {
    throw new InvalidParameterError(
      `the rule of a budget is one of ${budgetRuleNames.join(', ')}: give one of these`,
    );
  }
  checkStatement(budget, rule === 'pure');
  const pureCap = capOf(budget.epsilon);
  if (rule === 'pure') return { rule: { rule }, rhoCap: pureCap, deltaCap: zeroAmount, pureCap };
  if (rule === 'gaussian') {
    const rhoCap = capOf(halfSquareFor(budget.epsilon, budget.delta));
    return { rule: { rule }, rhoCap, deltaCap: zeroAmount, pureCap };
  }
  const deltaCap = capOf(budget.delta / 2);
  if (rule === 'zcdp') {
    const rhoCap = capOf(rhoForApproximateZcdp(budget.epsilon, budget.delta / 2, budget.delta));
    return { rule: { rule }, rhoCap, deltaCap, pureCap };
  }
  const given = typeof budget.rule === 'object' && budget.rule.rule === 'renyi'
    ? budget.rule.order : undefined;
  if (given !== undefined && !(given > 1 && Number.isFinite(given))) {
    throw new InvalidParameterError(
      'the order of a Renyi budget must be above 1', { order: given },
    );
  }
  const { order, cap } = renyiCap(budget, given);
  if (!(cap > 0)) {
    throw new InvalidParameterError('at this order the budget leaves nothing to spend', { order });
  }
  return { rule: { rule, order }, rhoCap: capOf(cap * (1 - 2 ** -40)), deltaCap, pureCap };
}

/**
 * The target of one release that must be pure epsilon-DP, before an estimator has planned it. It
 * allows as much zCDP as one pure mechanism of this epsilon has. Several mechanisms within that
 * zCDP may together have more epsilon; the caller then plans again with less (`lessFor`).
 * @throws InvalidParameterError when epsilon is not in [1e-6, 100], or delta is neither 0 nor in
 *   [1e-100, 0.5).
 */
export function resolvePureTarget(asked: Statement): PrivacyTarget {
  checkStatement(asked, true);
  const { epsilon, delta } = asked;
  return { rho: rhoOfPure(epsilon), delta: delta / 2, epsilon, deltaTotal: delta, isPure: true };
}

/**
 * A smaller pure target, for a plan that needed `reached` and must stay within `allowed`. The zCDP
 * of a pure mechanism grows with the square of its epsilon.
 */
export function lessFor(target: PrivacyTarget, reached: number, allowed: number): PrivacyTarget {
  const factor = (allowed / reached) * (1 - 2 ** -40);
  return { ...target, rho: target.rho * factor ** 2, epsilon: target.epsilon * factor };
}

/** The most that a pure mechanism may spend of a target, even one that allows other noise. */
export function pureEpsilonOf({ isPure, epsilon, rho }: PrivacyTarget): number {
  return isPure === true ? epsilon : pureForRho(rho);
}

/**
 * The target of one release that shares its budget with no other. Pure where delta is 0.
 * @throws InvalidParameterError when epsilon is not in [1e-6, 100], or delta is neither 0 nor in
 *   [1e-100, 0.5).
 */
export function targetAlone(asked: Statement): PrivacyTarget {
  if (asked.delta === 0) return resolvePureTarget(asked);
  return { ...privacyTarget(asked), isAlone: true };
}

/**
 * The target of one release under a zCDP budget, or under a Renyi budget of a given order. Its
 * chargeable delta is at most half of what it asks for. It is also at most an equal share of the
 * budget's delta, over the releases that the other cap allows, so that delta does not run out
 * first.
 * `epochs`: how many releases at this target fit. `binds`: the cap that stops the next one. If
 * `epochs` is 0, the budget is smaller than one release.
 */
export function perReleaseTarget(
  privacy: Statement,
  budget: Statement,
  rule: Exclude<BudgetRule, { rule: 'pure' | 'gaussian' }> = { rule: 'zcdp' },
): {
  readonly target: PrivacyTarget; readonly epochs: number;
  readonly binds: ReturnType<typeof releasesThatFit>['binds'];
} {
  const caps = capsOf({ ...budget, rule });
  const charge = (rho: number, delta: number): Charge =>
    chargeUnder(rule, { ...chargeOf(rho, delta), epsilon: null, gaussian: null });
  const balance = freshBalance(caps);
  const half = privacyTarget(privacy);
  const allowedByRho = releasesThatFit(balance, charge(half.rho, 0)).count;
  // With less chargeable delta, more is left for the conversion. So rho is larger, and no more
  // epochs fit than counted here.
  const share = allowedByRho === 0 ? half.delta : partOfCap(caps.deltaCap, allowedByRho);
  const target = share >= half.delta ? half : privacyTarget({ ...privacy, deltaChargeable: share });
  const { count, binds } = releasesThatFit(balance, charge(target.rho, target.delta));
  return {
    target: rule.rule === 'renyi' ? { ...target, order: rule.order } : target, epochs: count, binds,
  };
}

/**
 * The target of one release under a budget of rule `gaussian`: its rho stands for half a squared
 * mu, and no event has a delta.
 */
export function gaussianTarget(asked: Statement): PrivacyTarget {
  checkStatement(asked, false);
  const { epsilon, delta } = asked;
  return { rho: halfSquareFor(epsilon, delta), delta: 0, epsilon, deltaTotal: delta };
}

/**
 * The target of one of so many releases that a budget must last for: at most an equal part of
 * each cap.
 */
export function targetForReleases(
  target: PrivacyTarget, caps: BudgetCaps, releases: number,
): PrivacyTarget {
  const rho = Math.min(target.rho, partOfCap(caps.rhoCap, releases));
  const delta = Math.min(target.delta, partOfCap(caps.deltaCap, releases));
  if (rho === target.rho && delta === target.delta) return target;
  const { deltaTotal } = target;
  return { ...target, rho, delta, epsilon: epsilonOfApproximateZcdp(rho, delta, deltaTotal) };
}

/** cap / parts as a double. Its charge, times `parts`, stays within the cap. */
function partOfCap(cap: Amount, parts: number): number {
  const units = cap / BigInt(parts);
  const near = Number(units) / Number(amountUnit);
  return near * (1 - 2 ** -50);
}

/**
 * A share of a total, rounded down a little. If the doubles of all shares sum to 1, the shares
 * never add up to more than the total. Use it to split rho and delta between events.
 */
export function shareOf(total: number, share: number): number {
  if (!(share >= 0 && share <= 1)) {
    throw new InvalidParameterError('a share lies between 0 and 1', { share });
  }
  return total * share * (1 - 2 ** -48);
}
