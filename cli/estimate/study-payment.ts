import type { StudyDefinition } from '../../server/studies/definition.js';
import { KeelsonError } from '../../src/base/errors.js';
import type { Infeasible } from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { ledgerState, payFrom, type Ledger, type LedgerState } from '../../src/ledger.js';
import { planStudy } from '../../src/plan-study.js';
import type { PrivacyCost } from '../../src/privacy/accounting/cost.js';
import type { PlannedQuestion } from '../../src/questions/plan.js';

/** Charges the answers to a study's questions. */
export function payForStudy(
  ledger: Ledger, { document, cost, questions }: StudyDefinition,
  planned: readonly PlannedQuestion[],
): { readonly refused?: Infeasible; readonly ledger: LedgerState } {
  const names = planned.map(({ question }) => question.name);
  const { epsilon, delta } = document.privacy;
  const costOf = (all: Pick<StudyDefinition, 'cost' | 'questions'>): PrivacyCost =>
    (planned.length === questions.length ? all.cost
      : all.questions.find(({ question: { name } }) => name === names[0])!.plan.cost);
  const refused = payFrom(ledger, {
    answer: names.length === 1 && names[0] === planned[0]!.question.estimator
      ? names[0] : `${names.join(', ')} of ${document.study}`,
    asked: { epsilon, delta }, participation: document.participation,
    costs: [costOf({ cost, questions })],
    neighbours: planned[0]!.plan.guarantee.neighbours,
    again(target) {
      const privacy = { epsilon: target.epsilon, delta };
      try {
        return [costOf(planStudy({ ...document, privacy }, findEstimator))];
      } catch (error) {
        if (error instanceof KeelsonError) return null;
        throw error;
      }
    },
  });
  return { ...(refused !== null && { refused }), ledger: ledgerState(ledger, epsilon) };
}
