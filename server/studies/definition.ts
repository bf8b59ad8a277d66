import { InvalidParameterError, KeelsonError } from '../../src/base/errors.js';
import type { Estimator, Infeasible, Plan, PrivacyTarget } from '../../src/estimators/contract/estimator.js';
import { findEstimator as findRegistered } from '../../src/estimators/registry.js';
import { chargeUnder, freshBalance, releasesThatFit, type Charge } from '../../src/privacy/accounting/budget.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { capsOf, lessFor, perReleaseTarget, resolvePureTarget, type BudgetCaps } from '../../src/privacy/accounting/target.js';
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
  /** Epochs that the whole budget pays for (of one that renews: in one window), and the cap that stops the next one. */
  readonly releases: number;
  readonly binds: 'rho' | 'delta';
  /** Keys that may contribute, lower-case hex; null where no list says so. Not part of the facts, which hold its digest. */
  readonly enrolled: ReadonlySet<string> | null;
}

/**
 * Works out plan, target and budget from a study's facts. Pure: every thread and every restart gets the same.
 * @param enrolled the keys behind the document's digest; null when admission is by no list.
 * @param order of a Renyi budget that exists: it was fixed when the budget was made, and a smaller budget, or another
 *   rounding of logarithms, must not choose another. Default: the one at which a new budget goes furthest.
 * @throws KeelsonError('plan-infeasible') when no plan exists, and 'invalid-study' when the budget is smaller than one
 *   release; both say what would help.
 */
export function defineStudy(
  document: StudyDocument,
  enrolled: ReadonlySet<string> | null = null,
  findEstimator: FindEstimator = findRegistered,
  order?: number,
): StudyDefinition {
  const { rule } = document.budget;
  const caps = capsOf({
    ...document.budget, rule: rule === 'renyi' && order !== undefined ? { rule, order } : rule,
  });
  const estimator = findEstimator(document.estimator);
  const { plan, target } = planFor(document, caps, estimator);
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

interface Planned {
  readonly plan: Plan;
  readonly target: PrivacyTarget;
}

function planFor(document: StudyDocument, { rule }: BudgetCaps, estimator: Estimator): Planned {
  const attempt = (target: PrivacyTarget): Plan | Infeasible => estimator.plan(document.parameters, {
    dimension: document.columns.length,
    cohort: document.cohort,
    participation: document.participation,
    target,
  });
  if (rule.rule === 'pure') return planPure(document, attempt);
  // A release's delta is bounded by its share of the budget's, so that delta is not what runs out first.
  const { target } = perReleaseTarget(document.privacy, document.budget, rule);
  return { plan: feasible(document, attempt(target)), target };
}

/** More than one round only when several pure mechanisms share the target; each round reaches it from above. */
const pureRounds = 4;
/** A usual delta, to find out what keeps a plan from being made without one. */
const probeDelta = 1e-6;

function planPure(document: StudyDocument, attempt: (target: PrivacyTarget) => Plan | Infeasible): Planned {
  let target = resolvePureTarget(document.privacy);
  for (let round = 0; round < pureRounds; round++) {
    const plan = feasible(document, attemptPure(document, target, attempt));
    const { epsilon } = plan.cost;
    if (epsilon === null || plan.cost.delta !== 0n) throw notPure(document);
    // Rounded up, so a plan that meets the target exactly may be a unit above it.
    const reached = amountToNumber(epsilon);
    if (reached <= target.epsilon * (1 + 2 ** -40)) return { plan, target };
    target = lessFor(target, reached);
  }
  throw new KeelsonError(
    'plan-infeasible', `the study ${document.study} cannot be planned: ${document.estimator} does not come down to a `
    + `pure epsilon of ${document.privacy.epsilon} per release; use the rule "zcdp"`,
  );
}

/** With privacy.delta 0 an estimator whose noise is not pure may not know how to begin: asked with one, it shows. */
function attemptPure(
  document: StudyDocument, target: PrivacyTarget, attempt: (target: PrivacyTarget) => Plan | Infeasible,
): Plan | Infeasible {
  const plan = attempt(target);
  if (plan.kind === 'plan' || target.delta > 0) return plan;
  const probe = attempt({ ...target, delta: probeDelta / 2, deltaTotal: probeDelta });
  if (probe.kind === 'plan' && probe.cost.epsilon === null) throw notPure(document);
  return plan;
}

function notPure(document: StudyDocument): KeelsonError {
  return new KeelsonError(
    'plan-infeasible', `the study ${document.study} cannot be charged: ${document.estimator} draws noise that is not `
    + 'pure differential privacy, which a budget with rule "pure" cannot hold; choose the rule "zcdp", or an estimator '
    + 'whose noise is pure', { details: { study: document.study, path: 'budget.rule' } },
  );
}

function feasible(document: StudyDocument, plan: Plan | Infeasible): Plan {
  if (plan.kind === 'plan') return plan;
  const { reason, remedy, cohortNeeded } = plan;
  throw new KeelsonError('plan-infeasible', `the study ${document.study} cannot be planned: ${reason}; ${remedy}`, {
    details: { study: document.study, reason, remedy, ...(cohortNeeded !== undefined && { cohortNeeded }) },
  });
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
  const { scope, population, epsilon, delta, perMs } = document.budget;
  return {
    key: scope === 'population' ? `population:${population}` : `study:${document.study}`,
    scope, rule: caps.rule, rhoCap: caps.rhoCap, deltaCap: caps.deltaCap, epsilon, delta,
    ...(perMs !== undefined && { windowMs: perMs }),
  };
}
