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
 * The smallest cohort that passes, by doubling and halving; null when even the largest supported
 * one fails. A plan that works for a cohort works for larger ones, up to the grain of whole groups.
 */
export function smallestCohort(passes: (cohort: number) => boolean): number | null {
  let fails = 0;
  let works = 1;
  while (!passes(works)) {
    if (works === limits.cohortMax) return null;
    fails = works;
    works = Math.min(2 * works, limits.cohortMax);
  }
  while (works - fails > 1) {
    const middle = Math.floor((works + fails) / 2);
    if (passes(middle)) works = middle;
    else fails = middle;
  }
  return works;
}
