import type { Selectable } from 'kysely';
import { InvariantError, KeelsonError } from '../../../src/base/errors.js';
import type {
  ReleaseRecord, StudyId, StudyRecord, StudyRegistration, StudyStateName,
} from '../contract.js';
import { ensureBudget, wholeMs } from './budgets.js';
import { createSecrets } from './epoch-tables.js';
import { plainBytes, sql, type Queries } from './query.js';
import type { StudiesTable } from './tables.js';

export type StudyRow = Selectable<StudiesTable>;

const emptyDigest = '0'.repeat(128);

export function studyRow(queries: Queries, studyId: StudyId): StudyRow | undefined {
  return queries.first(sql.selectFrom('studies').selectAll().where('study_id', '=', studyId));
}

/** @throws InvariantError when the study was never registered: a defect of the caller. */
export function existingStudy(queries: Queries, studyId: StudyId): StudyRow {
  const row = studyRow(queries, studyId);
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

export function readStudy(queries: Queries, studyId: StudyId): StudyRecord | null {
  const row = queries.first(recordQuery().where('study_id', '=', studyId));
  return row === undefined ? null : recordOf(row);
}

/** In order of registration. */
export function readStudies(queries: Queries): StudyRecord[] {
  return queries.all(recordQuery().orderBy('study_key')).map(recordOf);
}

export function registerStudy(queries: Queries, input: StudyRegistration): StudyRecord {
  return queries.transaction(() => {
    const budgetId = ensureBudget(queries, input.budget, input.nowMs);
    const present = studyRow(queries, input.studyId);
    if (present === undefined) {
      const { lastInsertRowid } = queries.run(sql.insertInto('studies').values({
        study_id: input.studyId, name: input.name, document: input.document, budget_id: budgetId,
        state: 'open', release_count: 0n, last_digest: emptyDigest, last_epoch: 0n,
        registered_at_ms: wholeMs(input.nowMs),
      }));
      createSecrets(queries, BigInt(lastInsertRowid), 0n);
    } else if (present.budget_id !== budgetId) {
      throw new KeelsonError('invalid-study', `the study ${input.name} is registered with another `
        + `budget than ${input.budget.key}; change its facts to make a new `
        + 'version', { details: { studyId: input.studyId } });
    }
    return readStudy(queries, input.studyId)!;
  });
}

export function setStudyState(queries: Queries, studyId: StudyId, state: StudyStateName): void {
  queries.transaction(() => {
    const { study_key: studyKey } = existingStudy(queries, studyId);
    queries.run(sql.updateTable('studies').set({ state }).where('study_key', '=', studyKey));
  });
}

/** See `Store.releases`. */
export function readReleases(
  queries: Queries, studyId: StudyId, fromIndex: number, limit: number, bytesMost = Infinity,
): ReleaseRecord[] {
  const study = studyRow(queries, studyId);
  if (study === undefined) return [];
  const releases: ReleaseRecord[] = [];
  let bytes = 0;
  const rows =
    queries.iterate(sql.selectFrom('releases').selectAll().where('study_key', '=', study.study_key)
      .where('release_index', '>=', BigInt(fromIndex)).orderBy('release_index').limit(limit));
  for (const row of rows) {
    releases.push({
      studyId, index: Number(row.release_index), epoch: row.epoch, body: plainBytes(row.body),
      signature: plainBytes(row.signature), digest: row.digest,
    });
    bytes += row.body.length;
    if (bytes >= bytesMost) break;
  }
  return releases;
}
