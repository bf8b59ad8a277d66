import { needsQuestions } from '../../src/base/columns.js';
import { KeelsonError } from '../../src/base/errors.js';
import { findEstimator as findRegistered } from '../../src/estimators/registry.js';
import { peopleMaxOf } from '../../src/base/people.js';
import { keyMemoryOf } from '../../src/questions/key-table.js';
import { contributionBytes } from '../../src/questions/reduction.js';
import { planStudy, type StudyPlan } from '../../src/plan-study.js';
import { amountToNumber, type Amount } from '../../src/privacy/accounting/amount.js';
import type { BudgetCaps } from '../../src/privacy/accounting/target.js';
import type { Spend } from '../../src/wire/messages.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { FindEstimator } from '../epochs/engine.js';
import type { BudgetSpec } from '../store/contract.js';

/** A study that can run: its facts, and the results that follow from them alone. */
export interface StudyDefinition extends Omit<StudyPlan, 'caps'> {
  readonly document: StudyDocument;
  readonly budget: BudgetSpec;
  /** The rule of the budget was chosen, since the study leaves it out. Absent: it was given. */
  readonly isRuleOpen?: boolean;
  /**
   * Keys that may contribute, lower-case hex; null when there is no list. The facts hold only the
   * digest of the list.
   */
  readonly enrolled: ReadonlySet<string> | null;
  /** The most people of an epoch. */
  readonly peopleMax: number;
  /**
   * The most memory that the keys of one epoch use, in bytes, with its incomplete contributions. 0:
   * every key is listed.
   */
  readonly keyMemory: number;
}

/**
 * Computes plan, target and budget from a study's facts.
 * @param enrolled the keys behind the document's digest; null when admission uses no list.
 * @param order the order of an existing Renyi budget, as for `planStudy`.
 * @throws KeelsonError as `planStudy` does, and 'invalid-study' for a study of one question with
 *   texts or optional columns. No estimator may see a text, or NaN for a value that is absent: the
 *   rows of such columns go through the questions of a study, which leave both out.
 */
export function defineStudy(
  document: StudyDocument,
  enrolled: ReadonlySet<string> | null = null,
  findEstimator: FindEstimator = findRegistered,
  order?: number,
): StudyDefinition {
  if (document.wireForm === 'short' && needsQuestions(document.types)) {
    throw new KeelsonError('invalid-study', `${document.study} has texts or optional columns, which `
      + 'one question over all columns cannot use: list questions');
  }
  const { caps, ...planned } = planStudy(document, findEstimator, order);
  const peopleMax = peopleMaxOf(document);
  return {
    document, ...planned, enrolled, budget: budgetSpecOf(document, caps), peopleMax,
    keyMemory: memoryOf(planned, document.contribution.rowsMax, peopleMax),
  };
}

/** A contribution may be incomplete until the close, and then its keys come into the tables. */
function memoryOf(
  { questions }: Pick<StudyPlan, 'questions'>, rowsMax: number, people: number,
): number {
  const discovered = questions.flatMap(({ discovered: own = [] }) => own);
  return discovered.length === 0 ? 0 : keyMemoryOf(discovered, rowsMax, people)
    + people * contributionBytes(questions, rowsMax);
}

function budgetSpecOf(document: StudyDocument, caps: BudgetCaps): BudgetSpec {
  const { scope, population, epsilon, delta, perMs } = document.budget;
  return {
    key: scope === 'population' ? `population:${population}` : `study:${document.study}`,
    scope, rule: caps.rule, rhoCap: caps.rhoCap, deltaCap: caps.deltaCap, epsilon, delta,
    ...(perMs !== undefined && { windowMs: perMs }),
  };
}

/** A contributor's own spending, as it is reported to it. */
export function ownSpendOf(
  { budget }: StudyDefinition, spend: { readonly rho: Amount; readonly delta: Amount },
): Spend {
  return {
    rho: amountToNumber(spend.rho), rhoCap: amountToNumber(budget.rhoCap),
    delta: amountToNumber(spend.delta), deltaCap: amountToNumber(budget.deltaCap),
  };
}
