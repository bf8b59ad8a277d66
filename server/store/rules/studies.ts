import type { Selectable } from 'kysely';
import { InvariantError, KeelsonError } from '../../../src/base/errors.js';
import type {
  StudyId, StudyRecord, StudyRegistration, StudyStateName,
} from '../contract.js';
import { admits, plusCharge } from '../../../src/privacy/accounting/budget.js';
import { budgetById, capsOf, ensureBudget, totalsOf, wholeMs } from './budgets.js';
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
    yield* refuseOtherNoise(input, budgetId);
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

const noiseIn = (document: string): unknown =>
  (JSON.parse(document) as { readonly noise?: unknown }).noise;

/**
 * Another version of a study may draw other noise only if the sum that then pays has room: pure
 * noise is planned for that of epsilon, other noise for that of rho and delta. Not under
 * contributor scope: each contributor has sums of its own.
 */
function* refuseOtherNoise(input: StudyRegistration, budgetId: bigint): Steps<void> {
  const before = yield* first(sql.selectFrom('studies').select('document')
    .where('name', '=', input.name).orderBy('study_key', 'desc').limit(1));
  if (before === undefined || noiseIn(before.document) === noiseIn(input.document)) return;
  const budget = yield* budgetById(budgetId, input.nowMs);
  if (budget.scope === 'contributor') return;
  const { spent, reserved } = totalsOf(budget);
  const total = plusCharge(spent, reserved);
  const caps = capsOf(budget);
  const isPure = noiseIn(input.document) === 'laplace';
  const pays = isPure ? total.pure !== null && total.pure <= caps.pure
    : admits(caps, { ...total, pure: null });
  if (pays) return;
  throw new KeelsonError('invalid-study', `this version of ${input.name} draws `
    + `${isPure ? 'Laplace' : 'Gaussian'} noise, and the version before it drew other noise: the `
    + `budget ${input.budget.key} has spent too much by ${isPure ? 'epsilon' : 'rho'}, which would `
    + 'pay from now on. Keep budget.releases as it was, or give the study another name',
  { details: { budget: input.budget.key } });
}

export function* setStudyState(studyId: StudyId, state: StudyStateName): Steps<void> {
  const { study_key: studyKey } = yield* existingStudy(studyId);
  yield* run(sql.updateTable('studies').set({ state }).where('study_key', '=', studyKey));
  // An ended study has no further release that would need them.
  if (state === 'ended') yield* writeSeries(studyKey, []);
}
