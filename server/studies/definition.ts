import type { Estimator, Plan, PrivacyTarget } from '../../src/estimators/contract/estimator.js';
import { findEstimator as findRegistered } from '../../src/estimators/registry.js';
import { planStudy } from '../../src/plan-study.js';
import type { Charge } from '../../src/privacy/accounting/budget.js';
import type { BudgetCaps } from '../../src/privacy/accounting/target.js';
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
 * Works out plan, target and budget from a study's facts.
 * @param enrolled the keys behind the document's digest; null when admission is by no list.
 * @param order of a Renyi budget that exists, as for `planStudy`.
 * @throws KeelsonError as `planStudy` does.
 */
export function defineStudy(
  document: StudyDocument,
  enrolled: ReadonlySet<string> | null = null,
  findEstimator: FindEstimator = findRegistered,
  order?: number,
): StudyDefinition {
  const estimator = findEstimator(document.estimator);
  const { caps, ...planned } = planStudy(document, estimator, order);
  return { document, estimator, ...planned, enrolled, budget: budgetSpecOf(document, caps) };
}

function budgetSpecOf(document: StudyDocument, caps: BudgetCaps): BudgetSpec {
  const { scope, population, epsilon, delta, perMs } = document.budget;
  return {
    key: scope === 'population' ? `population:${population}` : `study:${document.study}`,
    scope, rule: caps.rule, rhoCap: caps.rhoCap, deltaCap: caps.deltaCap, epsilon, delta,
    ...(perMs !== undefined && { windowMs: perMs }),
  };
}
