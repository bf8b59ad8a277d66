import type { Selectable } from 'kysely';
import { InvariantError, KeelsonError } from '../../../src/base/errors.js';
import type {
  StudyId, StudyRecord, StudyRegistration, StudyStateName,
} from '../contract.js';
import { ensureBudget, wholeMs } from './budgets.js';
import type { EpochTables } from './epoch-tables.js';
import { writeSeries } from './running-series.js';
import { all, first, run, sql, type Steps } from './steps.js';
import type { StudiesTable } from './tables.js';

export type StudyRow = Selectable<StudiesTable>;

const emptyDigest = '0'.repeat(128);

export function* studyRow(studyId: StudyId): Steps<StudyRow | undefined> {
  return yield* first(sql.selectFrom('studies').selectAll().where('study_id', '=', studyId));
}

/** @throws InvariantError when the study was never registered: a defect of the caller. */
export function* existingStudy(studyId: StudyId): Steps<StudyRow> {
  const row = yield* studyRow(studyId);
  if (row === undefined) {
    throw new InvariantError('a study is registered before it is used', { details: { studyId } });
  }
  return row;
}

const recordQuery = () =>
  sql.selectFrom('studies').innerJoin('budgets', 'budgets.budget_id', 'studies.budget_id')
    .select([
      'study_id', 'name', 'document', 'budget_key', 'state', 'release_count', 'last_digest',
      'last_epoch',
    ]);

type RecordRow = Pick<StudyRow,
  'study_id' | 'name' | 'document' | 'state' | 'release_count' | 'last_digest' | 'last_epoch'>
    & { budget_key: string };

const recordOf = (row: RecordRow): StudyRecord => ({
  studyId: row.study_id, name: row.name, document: row.document, budgetKey: row.budget_key,
  state: row.state, releaseCount: Number(row.release_count), lastDigest: row.last_digest,
  lastEpoch: row.last_epoch,
});

export function* readStudy(studyId: StudyId): Steps<StudyRecord | null> {
  const row = yield* first(recordQuery().where('study_id', '=', studyId));
  return row === undefined ? null : recordOf(row);
}

/** In order of registration. */
export function* readStudies(): Steps<StudyRecord[]> {
  return (yield* all(recordQuery().orderBy('study_key'))).map(recordOf);
}

export function* registerStudy(
  tables: EpochTables, input: StudyRegistration,
): Steps<StudyRecord> {
  const budgetId = yield* ensureBudget(input.budget, input.nowMs);
  const present = yield* studyRow(input.studyId);
  if (present === undefined) {
    const created = yield* first(sql.insertInto('studies').values({
      study_id: input.studyId, name: input.name, document: input.document, budget_id: budgetId,
      state: 'open', release_count: 0n, last_digest: emptyDigest, last_epoch: 0n,
      registered_at_ms: wholeMs(input.nowMs),
    }).returning('study_key'));
    yield* tables.createSecrets(created!.study_key, 0n);
  } else if (present.budget_id !== budgetId) {
    throw new KeelsonError('invalid-study', `the study ${input.name} is registered with another `
      + `budget than ${input.budget.key}; change its facts to make a new `
      + 'version', { details: { studyId: input.studyId } });
  }
  return (yield* readStudy(input.studyId))!;
}

export function* setStudyState(studyId: StudyId, state: StudyStateName): Steps<void> {
  const { study_key: studyKey } = yield* existingStudy(studyId);
  yield* run(sql.updateTable('studies').set({ state }).where('study_key', '=', studyKey));
  // An ended study has no further release that would need them.
  if (state === 'ended') yield* writeSeries(studyKey, []);
}
