import { Sensitive } from '../base/brands.js';
import { findingsMax } from '../base/findings.js';
import type { Finding, Outcome } from '../base/outcome.js';
import type { Plan } from '../estimators/contract/estimator.js';
import { countNoise } from '../estimators/counts/tables/count-noise.js';
import { costOfEvents } from '../privacy/accounting/composition.js';
import { epsilonOfApproximateZcdp } from '../privacy/accounting/conversion.js';
import type { PrivacyCost } from '../privacy/accounting/cost.js';
import type { MechanismEvent } from '../privacy/accounting/events.js';
import { resolvePureTarget, shareOf, type PrivacyTarget } from '../privacy/accounting/target.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';

/** The part of a question's cost that the number of truncated contributors has. */
const part = 0.02;
const name = 'truncated';

/** How many contributors had more than `keysMax` keys, with noise. */
export interface TruncatedCount {
  readonly event: MechanismEvent;
  readonly standardDeviation: number;
  readonly cost: PrivacyCost;
  /** Adds it to the findings of an answer. @param contributors - the exact number. */
  withFinding(outcome: Outcome, mechanisms: Mechanisms, contributors: number): Outcome;
}

/**
 * The noisy number of contributors who lost keys because only `keysMax` of them count.
 *
 * Claim. Neighbours: one contributor's rows replaced by anything or by nothing. It costs at most
 * 2 % of the question's rho, no delta; or 2 % of its pure epsilon.
 * Why: whether a contributor has more than `keysMax` keys follows from its own rows. So it adds 0
 * or 1 to the number, which moves by at most 1. It gets noise of sensitivity 1 (count-noise), drawn
 * once and beside the answer, so its cost adds to that of the answer's plan.
 * @param target - what the whole question may cost.
 */
export function planTruncated(target: PrivacyTarget, keysMax: number): TruncatedCount {
  const noise = countNoise({ name, counts: 1, l1: 1, l2: 1, target, share: part });
  // No cohort of the answer: their costs always add up.
  const event = { ...noise.event, cohort: name };
  return {
    event,
    standardDeviation: noise.standardDeviation,
    cost: costOfEvents([event], { disjoint: [] }),
    withFinding(outcome, mechanisms, contributors) {
      if (outcome.kind === 'refused') return outcome;
      const exact = Sensitive.of(Float64Array.of(contributors));
      const { value: [noisy] } = noise.draw(mechanisms, exact);
      const [high] = noise.interval95([0]).high;
      const finding: Finding =
        { reason: 'keys-cut', columns: [], amounts: [noisy!, high!, keysMax] };
      return {
        ...outcome, findings: [finding, ...(outcome.findings ?? [])].slice(0, findingsMax),
      };
    },
  };
}

/** What is left of a target for the answer itself. */
export function besideTruncated(target: PrivacyTarget): PrivacyTarget {
  const { delta, deltaTotal } = target;
  if (target.isPure === true) {
    // A plan may pass a pure target by a factor of 1 + 2^-40; see planWithin.
    const epsilon = shareOf(target.epsilon, 1 - part) * (1 - 2 ** -39);
    return resolvePureTarget({ epsilon, delta: deltaTotal });
  }
  const rho = shareOf(target.rho, 1 - part);
  return { ...target, rho, epsilon: epsilonOfApproximateZcdp(rho, delta, deltaTotal) };
}

/** The plan of the answer with the draw and the cost of the count. */
export function withTruncated(
  plan: Plan, { event, cost, standardDeviation }: TruncatedCount,
): Plan {
  const sum = <T extends bigint>(left: T, right: T): T => (left + right) as T;
  return {
    ...plan,
    events: [...plan.events, event],
    cost: {
      ...plan.cost,
      rho: sum(plan.cost.rho, cost.rho),
      delta: sum(plan.cost.delta, cost.delta),
      epsilon: plan.cost.epsilon === null || cost.epsilon === null
        ? null : sum(plan.cost.epsilon, cost.epsilon),
    },
    facts: { ...plan.facts, noiseOfTruncated: standardDeviation },
  };
}
