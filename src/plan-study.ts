import { InvalidParameterError, KeelsonError } from './base/errors.js';
import type { Estimator, Plan, PrivacyTarget } from './estimators/contract/estimator.js';
import { planWithin } from './plan.js';
import {
  chargeUnder, freshBalance, releasesThatFit, type Charge,
} from './privacy/accounting/budget.js';
import {
  capsOf, perReleaseTarget, resolvePureTarget, type BudgetCaps,
} from './privacy/accounting/target.js';
import { shortForm, type StudyDocument } from './wire/study-document.js';

/** What follows from a study's public facts and its estimator alone. */
export interface StudyPlan {
  readonly plan: Plan;
  readonly target: PrivacyTarget;
  readonly caps: BudgetCaps;
  /** What one epoch costs, in the unit of the budget's rule. */
  readonly charge: Charge;
  /** Epochs that the whole budget pays for; of a budget that renews: in one window. */
  readonly releases: number;
  /** The cap that stops the epoch after these. */
  readonly binds: 'rho' | 'delta';
}

/**
 * Plans a study: its releases, their target and cost, and how many of them its budget pays for.
 * Pure: every thread and every restart gets the same.
 * @param estimator the one that the study names.
 * @param order of a Renyi budget that exists. It was fixed when the budget was made: a smaller
 *   budget, or another rounding of logarithms, must not choose another. Default: the one at which a
 *   new budget goes furthest.
 * @throws KeelsonError('plan-infeasible') when no plan exists, and 'invalid-study' when the budget
 *   is smaller than one release; both say what would help.
 */
export function planStudy(
  document: StudyDocument, estimator: Estimator, order?: number,
): StudyPlan {
  const { rule } = document.budget;
  const caps = capsOf({
    ...document.budget, rule: rule === 'renyi' && order !== undefined ? { rule, order } : rule,
  });
  const target = targetOf(document, caps);
  const plan = feasiblePlan(document, estimator, target);
  const charge = chargeOf(document, caps, plan);
  const { count, binds } = releasesThatFit(freshBalance(caps), charge);
  if (count < 1) {
    throw new KeelsonError(
      'invalid-study',
      `the budget of ${document.study} (epsilon ${document.budget.epsilon}) does not pay for one `
      + `release (epsilon ${document.privacy.epsilon}): raise budget.epsilon and budget.delta, or `
      + 'lower privacy.epsilon',
      { details: { path: 'budget.epsilon', value: document.budget.epsilon } },
    );
  }
  return { plan, target, caps, charge, releases: count, binds };
}

function targetOf({ privacy, budget }: StudyDocument, { rule }: BudgetCaps): PrivacyTarget {
  if (rule.rule === 'pure') return resolvePureTarget(privacy);
  // A release's delta is bounded by its share of the budget's, so that delta is not what runs out
  // first.
  return perReleaseTarget(privacy, budget, rule).target;
}

function feasiblePlan(document: StudyDocument, estimator: Estimator, target: PrivacyTarget): Plan {
  const { study, columns, cohort, participation, parameters } = shortForm(document);
  const plan =
    planWithin(estimator, parameters, { dimension: columns.length, cohort, participation, target });
  if (plan.kind === 'plan') return plan;
  const { reason, remedy, cohortNeeded } = plan;
  throw new KeelsonError(
    'plan-infeasible', `the study ${study} cannot be planned: ${reason}; ${remedy}`, {
      details: { study, reason, remedy, ...(cohortNeeded !== undefined && { cohortNeeded }) },
    },
  );
}

function chargeOf(document: StudyDocument, caps: BudgetCaps, plan: Plan): Charge {
  try {
    return chargeUnder(caps.rule, plan.cost);
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    throw new KeelsonError(
      'plan-infeasible', `the study ${document.study} cannot be charged: ${error.message}`,
      { cause: error },
    );
  }
}
