import { limits } from '../../src/base/limits.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, PrivacyTarget, StudyFacts,
} from '../../src/estimators/contract/estimator.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { lessFor } from '../../src/privacy/accounting/target.js';

/** Plans for any cohort, the rest fixed. */
export type PlanFor = (cohort: number) => Plan | Infeasible;

export function plannerOf(
  estimator: Estimator,
  parameters: ParameterValues,
  facts: { readonly dimension: number; readonly target: PrivacyTarget; readonly participation: 'secret' | 'public' },
): PlanFor {
  return (cohort) => planWithin(estimator, parameters, { ...facts, cohort });
}

/** Each round brings several pure mechanisms that share a target nearer to it, from above. */
const pureRounds = 4;

/** The estimator's plan; for a pure target (delta 0) one that is pure and within it, or what is in the way. */
export function planWithin(estimator: Estimator, parameters: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { target } = facts;
  let asked = target;
  for (let round = 0; round < pureRounds; round++) {
    const plan = estimator.plan(parameters, { ...facts, target: asked });
    if (plan.kind === 'infeasible' || target.isPure !== true) return plan;
    const { epsilon, delta } = plan.cost;
    if (epsilon === null || delta !== 0n) break;
    const reached = amountToNumber(epsilon);
    if (reached <= target.epsilon * (1 + 2 ** -40)) return plan;
    asked = lessFor(asked, reached);
  }
  return {
    kind: 'infeasible',
    reason: `the noise of ${estimator.name} is not pure, or not within epsilon ${target.epsilon}`,
    remedy: 'give a --delta above 0, or choose an estimator with pure noise: count, quantile, histogram with edges',
  };
}

/**
 * The smallest cohort that passes, by steps that double away from a guess and halve back; null when
 * even the largest supported one fails. Assumes that what passes for a cohort passes for larger
 * ones, which plans do up to the grain of whole groups.
 * @param guess - a cohort near the answer makes few calls of `passes`.
 */
export function smallestCohort(passes: (cohort: number) => boolean, guess = 1): number | null {
  const start = Math.min(Math.max(1, Math.floor(guess)), limits.cohortMax);
  let fails = 0;
  let works = limits.cohortMax + 1;
  const look = (cohort: number): boolean => {
    const passed = passes(cohort);
    if (passed) works = cohort;
    else fails = cohort;
    return passed;
  };
  const goesDown = look(start);
  for (let step = 1; works - fails > 1; step *= 2) {
    const next = goesDown ? works - step : fails + step;
    if (next <= fails || next >= works || look(next) !== goesDown) break;
  }
  while (works - fails > 1) look(Math.floor((works + fails) / 2));
  return works > limits.cohortMax ? null : works;
}

/** The smallest cohort with a plan; an infeasible plan's own advice is where the search starts. */
export function smallestPlan(planFor: PlanFor): number | null {
  const least = planFor(1);
  if (least.kind === 'plan') return 1;
  return smallestCohort((size) => planFor(size).kind === 'plan', least.cohortNeeded);
}
