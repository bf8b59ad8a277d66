import type { ParameterValues, Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { InvariantError } from '../../src/base/errors.js';
import { planWithin } from '../../src/plan.js';

/** What is audited, so that it can cross threads: planning again gives the same plan. */
export interface AuditSubject {
  readonly estimator: string;
  readonly parameters: ParameterValues;
  readonly facts: StudyFacts;
  /** Names of the events that are audited alone, given answers of the others; absent: all. */
  readonly alone?: readonly string[];
}

/** @throws InvariantError when there is no plan; the command has checked. */
export function planOf({ estimator, parameters, facts }: AuditSubject): Plan {
  const plan = planWithin(findEstimator(estimator), parameters, facts);
  if (plan.kind === 'infeasible') throw new InvariantError('an audited subject has a plan');
  return plan;
}
