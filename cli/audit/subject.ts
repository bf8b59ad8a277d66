import type { ParameterValues, Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { InvariantError } from '../../src/base/errors.js';
import { planWithin } from '../../src/plan.js';

/** What is audited. It can be sent to threads: planning again gives the same plan. */
export interface AuditSubject {
  readonly estimator: string;
  readonly parameters: ParameterValues;
  readonly facts: StudyFacts;
  /**
   * Names of the events that are audited alone, given the answers of all others. Absent: all
   * events.
   */
  readonly alone?: readonly string[];
}

/** @throws InvariantError if there is no plan. The command has checked this before. */
export function planOf({ estimator, parameters, facts }: AuditSubject): Plan {
  const plan = planWithin(findEstimator(estimator), parameters, facts);
  if (plan.kind === 'infeasible') throw new InvariantError('an audited subject has a plan');
  return plan;
}
