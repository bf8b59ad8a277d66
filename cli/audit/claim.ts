import type { Claim } from '../../src/audit/index.js';
import type { Plan, PrivacyTarget } from '../../src/estimators/contract/estimator.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import type { PrivacyCost } from '../../src/privacy/accounting/cost.js';
import { epsilonOfApproximateZcdp } from '../../src/privacy/accounting/conversion.js';
import { UsageError } from '../base/errors.js';
import { statementOf } from '../../src/privacy-statement.js';

/**
 * The plan's events that the user asked for: by name, or by the part before the slash. "mean" means
 * both "mean/sum" and "mean/count". Null if the user asked for none.
 * @throws UsageError that lists the events, if one does not exist.
 */
export function eventsAsked(plan: Plan, asked: readonly string[]): readonly string[] | null {
  if (asked.length === 0) return null;
  const known = plan.events.map(({ name }) => name);
  for (const word of asked) {
    if (!known.some((name) => isNamed(name, word))) {
      throw new UsageError(
        `--event: the plan has no event ${JSON.stringify(word)}, only ${known.join(', ')}`,
      );
    }
  }
  return known.filter((name) => asked.some((word) => isNamed(name, word)));
}

function isNamed(name: string, word: string): boolean {
  return name === word || name.startsWith(`${word}/`);
}

/**
 * The promise of the whole release; for some of its events, the promise of their cost alone at the
 * same delta.
 */
export function claimOf(
  plan: Plan, target: PrivacyTarget, events: readonly string[] | null,
): Claim {
  if (events === null) {
    const { epsilon, delta } = statementOf(plan, target);
    return { epsilon, delta };
  }
  const cost = costOf(plan, events);
  const delta = cost.epsilon === null ? target.deltaTotal : 0;
  return { epsilon: epsilonOf(cost, delta), delta };
}

/**
 * The epsilon that the cost of a plan, or of some of its events, promises at a delta. Null if the
 * events' own delta is not below it, or if the cost is known at one order only.
 */
export function claimAt(
  plan: Plan, events: readonly string[] | null, delta: number,
): number | null {
  const cost = costOf(plan, events);
  const isKnown = cost.renyi === undefined
    && (cost.epsilon !== null || amountToNumber(cost.delta) < delta);
  return isKnown ? epsilonOf(cost, delta) : null;
}

/** The charge for a plan, or for some of its events. */
export function costOf(plan: Plan, events: readonly string[] | null): PrivacyCost {
  if (events === null) return plan.cost;
  const chosen = plan.events.filter(({ name }) => events.includes(name));
  const disjoint = plan.arms.length > 1 ? plan.arms.map(({ name }) => name) : [];
  return costOfEvents(chosen, { disjoint });
}

function epsilonOf({ rho, delta, epsilon }: PrivacyCost, whole: number): number {
  return epsilon !== null ? amountToNumber(epsilon)
    : epsilonOfApproximateZcdp(amountToNumber(rho), amountToNumber(delta), whole);
}
