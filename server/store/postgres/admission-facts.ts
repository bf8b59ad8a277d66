import type { StudyId } from '../contract.js';
import { readFacts, type StoredFacts } from '../rules/admission-facts.js';
import type { Amounts, OwnBudget } from '../rules/own-budget.js';
import { all, first, sql, type Steps } from '../rules/steps.js';
import { fingerprintKeys } from './epoch-tables.js';
import type { Session } from './session.js';

/** A charge of a budget, with its stamp. */
export interface Charge extends Amounts {
  readonly at_ms: bigint;
}

/** What admission keeps of a study until its revision changes. */
export interface PostgresFacts extends StoredFacts {
  readonly revision: bigint;
  /** Keys of fingerprints, by epoch; without those that are deleted. */
  readonly keys: ReadonlyMap<bigint, Uint8Array>;
  /** Charges of the study's own budget that may count, and those of an accepted rollback. */
  readonly charges: readonly Charge[];
  readonly lost: readonly Charge[];
}

/** Reads the facts of one state of the database. Undefined for an unknown study. */
export function readAdmissionFacts(
  session: Session, studyId: StudyId,
): Promise<PostgresFacts | undefined> {
  return session.transaction('ISOLATION LEVEL REPEATABLE READ READ ONLY',
    () => session.perform(factsOf(studyId)));
}

function* factsOf(studyId: StudyId): Steps<PostgresFacts | undefined> {
  const facts = yield* readFacts(studyId);
  if (facts === undefined) return undefined;
  const row = yield* first(sql.selectFrom('studies').select('revision')
    .where('study_key', '=', facts.studyKey));
  const { own } = facts;
  return {
    ...facts, revision: row!.revision!,
    keys: yield* fingerprintKeys(facts.studyKey),
    charges: own === null ? [] : yield* chargesOf(own),
    lost: own === null ? [] : yield* lostOf(own),
  };
}

function* chargesOf({ budgetId, windowMs, notBeforeMs }: OwnBudget): Steps<Charge[]> {
  if (windowMs === null) return [];
  // A charge counts until its window has passed. Time is never before `notBeforeMs`.
  return yield* all(sql.selectFrom('ledger').select(['rho', 'delta', 'at_ms'])
    .where('budget_id', '=', budgetId).where('kind', '=', 'charged')
    .where('at_ms', '>', notBeforeMs - windowMs));
}

function* lostOf({ budgetId }: OwnBudget): Steps<Charge[]> {
  return yield* all(sql.selectFrom('rollback_charges')
    .innerJoin('ledger', 'ledger.entry_id', 'rollback_charges.entry_id')
    .select(['rho', 'delta', 'at_ms']).where('budget_id', '=', budgetId));
}
