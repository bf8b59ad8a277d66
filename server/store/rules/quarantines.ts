import { InvariantError } from '../../../src/base/errors.js';
import { toHex } from '../../../src/base/bytes.js';
import type { StudyId } from '../contract.js';
import type { NewQuarantine, Quarantine } from '../records.js';
import { all, first, run, sql, type Steps } from './steps.js';
import { existingStudy } from './studies.js';
import type { QuarantinesTable } from './tables.js';

/**
 * Leaves keys out of a study from its next epoch on. One transaction chooses that epoch and writes
 * all entries. So a crash leaves either no entry or all of them, and they hold for every later
 * epoch.
 * @throws InvariantError when a key never sent anything: the caller must have measured its rows.
 */
export function* addQuarantines(inputs: readonly NewQuarantine[]): Steps<Quarantine[]> {
  const added: Quarantine[] = [];
  for (const input of inputs) added.push(yield* addQuarantine(input));
  return added;
}

function* addQuarantine(input: NewQuarantine): Steps<Quarantine> {
  const study = yield* existingStudy(input.studyId);
  const found = yield* first(sql.selectFrom('contributors').select('contributor_id')
    .where('public_key', '=', Buffer.from(input.contributor, 'hex')));
  if (found === undefined) {
    throw new InvariantError('only a key whose rows were measured is quarantined');
  }
  const next = study.last_epoch + 1n;
  const fromEpoch = input.fromEpoch !== undefined && input.fromEpoch > next
    ? input.fromEpoch : next;
  yield* run(sql.insertInto('quarantines').values({
    study_key: study.study_key, contributor_id: found.contributor_id, from_epoch: fromEpoch,
    distance: input.distance, beyond: input.beyond, release_index: BigInt(input.releaseIndex),
    at_ms: BigInt(input.atMs),
  }).onConflict((conflict) => conflict.doNothing()));
  const row = yield* first(
    rowsOf(input.studyId).where('quarantines.contributor_id', '=', found.contributor_id),
  );
  return quarantineOf(input.studyId, row!);
}

/** Newest first. */
export function* readQuarantines(studyId: StudyId, limit: number): Steps<Quarantine[]> {
  const newest = rowsOf(studyId)
    .orderBy('at_ms', 'desc').orderBy('public_key').limit(limit);
  return (yield* all(newest)).map((row) => quarantineOf(studyId, row));
}

export function* readQuarantineOf(
  studyId: StudyId, contributor: string,
): Steps<Quarantine | null> {
  const row = yield* first(
    rowsOf(studyId).where('public_key', '=', Buffer.from(contributor, 'hex')),
  );
  return row === undefined ? null : quarantineOf(studyId, row);
}

const rowsOf = (studyId: StudyId) => sql.selectFrom('quarantines')
  .innerJoin('studies', 'studies.study_key', 'quarantines.study_key')
  .innerJoin('contributors', 'contributors.contributor_id', 'quarantines.contributor_id')
  .select(['public_key', 'from_epoch', 'distance', 'beyond', 'release_index', 'at_ms'])
  .where('study_id', '=', studyId);

type Row = Pick<QuarantinesTable, 'from_epoch' | 'distance' | 'beyond' | 'release_index' | 'at_ms'>
  & { readonly public_key: Uint8Array };

const quarantineOf = (studyId: StudyId, row: Row): Quarantine => ({
  studyId, contributor: toHex(row.public_key), fromEpoch: row.from_epoch, distance: row.distance,
  beyond: row.beyond, releaseIndex: Number(row.release_index), atMs: Number(row.at_ms),
});
