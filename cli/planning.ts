import { limits } from '../src/base/limits.js';
import type { Estimator, Infeasible, ParameterValues, Plan, PrivacyTarget } from '../src/estimators/contract.js';

/** Plans for any cohort, the rest fixed. */
export type PlanFor = (cohort: number) => Plan | Infeasible;

export function plannerOf(
  estimator: Estimator,
  parameters: ParameterValues,
  facts: { readonly dimension: number; readonly target: PrivacyTarget; readonly participation: 'secret' | 'public' },
): PlanFor {
  return (cohort) => estimator.plan(parameters, { ...facts, cohort });
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
