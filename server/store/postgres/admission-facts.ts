import type { KeyObject } from 'node:crypto';
import type { StudyId } from '../contract.js';
import { readFacts, type StoredFacts } from '../rules/admission-facts.js';
import type { OwnBudget } from '../rules/own-budget.js';
import type { AmountRow } from '../rules/spend.js';
import { all, first, sql, type Steps } from '../rules/steps.js';
import { FingerprintKeys } from './epoch-tables.js';
import type { EncryptionKeys } from './encryption-keys.js';
import type { Session } from './session.js';

/** A charge of a budget, with its stamp. */
export interface Charge extends AmountRow {
  readonly at_ms: bigint;
}

/** A study's facts, which admission keeps until the study's revision changes. */
export interface PostgresFacts extends StoredFacts {
  readonly revision: bigint;
  readonly keys: FingerprintKeys;
  /** The key that seals the rows of the open epoch; null when none is open. */
  readonly encryptionKey: KeyObject | null;
  /** Charges of the study's own budget that may count, and those of an accepted rollback. */
  readonly charges: readonly Charge[];
  readonly lost: readonly Charge[];
}

/** Reads the facts of one state of the database. Undefined for an unknown study. */
export function readAdmissionFacts(
  session: Session, studyId: StudyId, keys: EncryptionKeys,
): Promise<PostgresFacts | undefined> {
  return session.transaction('ISOLATION LEVEL REPEATABLE READ READ ONLY',
    () => session.perform(factsOf(studyId, keys)));
}

function* factsOf(studyId: StudyId, keys: EncryptionKeys): Steps<PostgresFacts | undefined> {
  const facts = yield* readFacts(studyId);
  if (facts === undefined) return undefined;
  const row = yield* first(sql.selectFrom('studies').select('revision')
    .where('study_key', '=', facts.studyKey));
  const { own, open, studyKey } = facts;
  const fingerprints = yield* FingerprintKeys.of(keys, studyKey, studyId);
  return {
    ...facts, revision: row!.revision!, keys: fingerprints,
    encryptionKey: open === null ? null : fingerprints.encryptionKey(open.epoch),
    charges: own === null ? [] : yield* chargesOf(own),
    lost: own === null ? [] : yield* lostOf(own),
  };
}

function* chargesOf({ budgetId, windowMs, notBeforeMs }: OwnBudget): Steps<Charge[]> {
  if (windowMs === null) return [];
  // A charge counts until its window has passed. Time is never before `notBeforeMs`.
  return yield* all(sql.selectFrom('ledger').select(['rho', 'delta', 'pure', 'at_ms'])
    .where('budget_id', '=', budgetId).where('kind', '=', 'charged')
    .where('at_ms', '>', notBeforeMs - windowMs));
}

function* lostOf({ budgetId }: OwnBudget): Steps<Charge[]> {
  return yield* all(sql.selectFrom('rollback_charges')
    .innerJoin('ledger', 'ledger.entry_id', 'rollback_charges.entry_id')
    .select(['rho', 'delta', 'pure', 'at_ms']).where('budget_id', '=', budgetId));
}
