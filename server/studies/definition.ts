import { InvalidParameterError, KeelsonError } from '../../src/base/errors.js';
import type { Estimator, Plan, PrivacyTarget } from '../../src/estimators/contract.js';
import { findEstimator as findRegistered } from '../../src/estimators/registry.js';
import { chargeUnder, freshBalance, releasesThatFit, type Charge } from '../../src/privacy/budget.js';
import { capsOf, perReleaseTarget, resolveTarget, type BudgetCaps } from '../../src/privacy/target.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { FindEstimator } from '../epochs/engine.js';
import type { BudgetSpec } from '../store/contract.js';

/** A study that can run: its facts, and what follows from them alone. */
export interface StudyDefinition {
  readonly document: StudyDocument;
  readonly estimator: Estimator;
  readonly plan: Plan;
  readonly target: PrivacyTarget;
  readonly budget: BudgetSpec;
  /** What one epoch costs, in the unit of the budget's rule. */
  readonly charge: Charge;
  /** Epochs that the whole budget pays for, and the cap that stops the next one. */
  readonly releases: number;
  readonly binds: 'rho' | 'delta';
  /** Keys that may contribute, lower-case hex; null when anyone may. Not part of the facts, which hold its digest. */
  readonly enrolled: ReadonlySet<string> | null;
}

/**
 * Works out plan, target and budget from a study's facts. Pure: every thread and every restart gets the same.
 * @param enrolled the keys behind the document's digest; null when admission is open.
 * @throws KeelsonError('plan-infeasible') when no plan exists, and 'invalid-study' when the budget is smaller than one
 *   release; both say what would help.
 */
export function defineStudy(
  document: StudyDocument,
  enrolled: ReadonlySet<string> | null = null,
  findEstimator: FindEstimator = findRegistered,
): StudyDefinition {
  const { rule } = document.budget;
  const caps = capsOf(document.budget);
  // Under zCDP a release's delta is bounded by its share of the budget's, so that delta is not what runs out first.
  const target = rule === 'zcdp'
    ? perReleaseTarget(document.privacy, document.budget).target
    : resolveTarget(document.privacy);
  const estimator = findEstimator(document.estimator);
  const plan = estimator.plan(document.parameters, {
    dimension: document.columns.length,
    cohort: document.cohort,
    participation: document.participation,
    target,
  });
  if (plan.kind === 'infeasible') {
    const { reason, remedy, cohortNeeded } = plan;
    throw new KeelsonError('plan-infeasible', `the study ${document.study} cannot be planned: ${reason}; ${remedy}`, {
      details: { study: document.study, reason, remedy, ...(cohortNeeded !== undefined && { cohortNeeded }) },
    });
  }
  const charge = chargeOfPlan(document, caps, plan);
  const { count, binds } = releasesThatFit(freshBalance(caps), charge);
  if (count < 1) {
    throw new KeelsonError(
      'invalid-study',
      `the budget of ${document.study} (epsilon ${document.budget.epsilon}) does not pay for one release `
      + `(epsilon ${document.privacy.epsilon}): raise budget.epsilon and budget.delta, or lower privacy.epsilon`,
      { details: { path: 'budget.epsilon', value: document.budget.epsilon } },
    );
  }
  return {
    document, estimator, plan, target, charge, releases: count, binds, enrolled,
    budget: budgetSpecOf(document, caps),
  };
}

function chargeOfPlan(document: StudyDocument, caps: BudgetCaps, plan: Plan): Charge {
  try {
    return chargeUnder(caps.rule, plan.cost);
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    throw new KeelsonError(
      'plan-infeasible', `the study ${document.study} cannot be charged: ${error.message}`, { cause: error },
    );
  }
}

function budgetSpecOf(document: StudyDocument, caps: BudgetCaps): BudgetSpec {
  const { scope, population, epsilon, delta } = document.budget;
  return {
    key: scope === 'population' ? `population:${population}` : `study:${document.study}`,
    scope, rule: caps.rule, rhoCap: caps.rhoCap, deltaCap: caps.deltaCap, epsilon, delta,
  };
}
