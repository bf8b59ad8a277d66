import { sql as raw } from 'kysely';
import { InvariantError } from '../../../src/base/errors.js';
import { toHex } from '../../../src/base/bytes.js';
import type { JournalEntry, ReleaseRecord, StudyId } from '../contract.js';
import type { Slice } from '../shared.js';
import { epochRow, type EpochRow } from '../rules/epochs.js';
import { forgettable, ownBudget } from '../rules/own-budget.js';
import { separationIn } from '../rules/running-series.js';
import { plainBytes, run, sql, type Steps } from '../rules/steps.js';
import { existingStudy, studyRow, type StudyRow } from '../rules/studies.js';
import { forgetWithdrawals } from '../rules/withdrawals.js';
import {
  dropJournal, forgetFingerprints, forgetGroups, journalTable, encryptionKeyOf,
} from './epoch-tables.js';
import type { EncryptionKeys } from './encryption-keys.js';
import { openRow, rowExtraBytes } from './row-seal.js';
import { statement, type Session } from './session.js';

/** Debits and participations that one step deletes, so that batches are admitted between steps. */
const sweepRows = 1_024;

/** Values of `purged` of an epoch: its rows are there, or deleted. */
const kept = 0n;
const gone = 2n;

interface EntryRow {
  readonly position: bigint;
  readonly public_key: Uint8Array;
  readonly sequence: bigint;
  readonly complete: bigint;
  readonly sealed: Uint8Array;
}

/** The value of `bytesMost` in a query without a bound. */
const noBound = 2n ** 62n;
const boundOf = (bytesMost: number | undefined): bigint =>
  (bytesMost === undefined || bytesMost === Infinity ? noBound : BigInt(Math.ceil(bytesMost)));

/** A number below 2^16 for each contributor. Theirs are given out in blocks, so they are mixed. */
const mixed = '(((contributor_id & 2147483647) * 1327217885 & 2147483647) >> 15)';

/**
 * The contributors of slice $5 of $6, whose mixed number is in an interval. Its two ends are
 * compared with two expressions: of an equation PostgreSQL expects so few rows that it sorts the
 * table for each page.
 */
const ofSlice = `AND ${mixed} * $6::bigint >= $5::bigint << 16
  AND ${mixed} * $6::bigint - 65536 < $5::bigint << 16`;

/** See `Store.journal`. @param of whose entries. Default: those of all contributors. */
export async function readJournal(
  session: Session, keys: EncryptionKeys, studyId: StudyId, epoch: bigint, afterPosition: bigint,
  limit: number, bytesMost?: number, of?: Slice,
): Promise<JournalEntry[]> {
  const study = await session.perform(studyRow(studyId));
  const row = study === undefined
    ? undefined : await session.perform(epochRow(study.study_key, epoch));
  if (row === undefined || row.purged !== kept) return [];
  const key = keys.read(await session.perform(encryptionKeyOf(row.study_key, epoch)));
  // The bodies outside the bound are not read: their lengths are stored before them.
  const entries = await session.text<EntryRow>(
    `SELECT position, c.public_key, sequence, complete, sealed FROM (
      SELECT page.*, sum(length(sealed) - ${rowExtraBytes}) OVER (ORDER BY position)
        - (length(sealed) - ${rowExtraBytes}) AS before FROM (
        SELECT * FROM ${journalTable(row.epoch_key)} AS j
        WHERE position > $1 AND NOT EXISTS (SELECT 1 FROM withdrawals AS w
          WHERE w.epoch_key = $2 AND w.contributor_id = j.contributor_id)
        ${of === undefined ? '' : ofSlice}
        ORDER BY position LIMIT $3
      ) AS page
    ) AS sized JOIN contributors AS c USING (contributor_id)
    WHERE before < $4 ORDER BY position`,
    [afterPosition, row.epoch_key, limit, boundOf(bytesMost),
      ...(of === undefined ? [] : [of.slice, of.slices])]);
  return entries.map(({ position, public_key: publicKey, sequence, complete: flag, sealed }) => {
    const [contributor, complete] = [toHex(publicKey), flag === 1n];
    const place = { studyId, epoch, position, contributor, sequence, complete };
    const { body, signature } = openRow(key, place, sealed);
    return { position, contributor, sequence, body, signature, complete };
  });
}

interface ReleaseRow {
  readonly release_index: bigint;
  readonly epoch: bigint;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  readonly digest: string;
}

/** See `Store.releases`. */
export async function readReleases(
  session: Session, studyId: StudyId, fromIndex: number, limit: number, bytesMost?: number,
): Promise<ReleaseRecord[]> {
  const rows = await session.text<ReleaseRow>(
    `SELECT release_index, epoch, body, signature, digest FROM (
      SELECT page.*, sum(length(body)) OVER (ORDER BY release_index) - length(body) AS before
      FROM (SELECT releases.* FROM releases JOIN studies USING (study_key)
        WHERE study_id = $1 AND release_index >= $2 ORDER BY release_index LIMIT $3) AS page
    ) AS sized WHERE before < $4 ORDER BY release_index`,
    [studyId, fromIndex, limit, boundOf(bytesMost)]);
  return rows.map((row) => ({
    studyId, index: Number(row.release_index), epoch: row.epoch, body: plainBytes(row.body),
    signature: plainBytes(row.signature), digest: row.digest,
  }));
}

/**
 * One bounded step of a purge, as a transaction of its own. A purge can be started again at any
 * time. Debits and participations that no longer count go first; then the epoch's table and
 * secrets, in one step.
 * @returns whether the purge is complete.
 * @throws InvariantError for an epoch whose rows are still needed.
 */
export function* purgeStep(studyId: StudyId, epoch: bigint, nowMs: number): Steps<boolean> {
  const study = yield* existingStudy(studyId);
  const row = yield* epochRow(study.study_key, epoch);
  if (row === undefined) throw new InvariantError(`cannot purge epoch ${epoch}: it is absent`);
  if (row.state !== 'released' && row.state !== 'lapsed') {
    throw new InvariantError(
      `cannot purge epoch ${epoch}: it is ${row.state} and its rows are still needed`,
    );
  }
  if (row.purged === gone) return true;
  if (yield* sweepDebits(study, nowMs)) return false;
  if (yield* sweepRunning(study)) return false;
  yield* deleteRows(study, row);
  return true;
}

/** Part of a purge: the rows, secrets and summaries of an epoch. */
export function* deleteRows(study: StudyRow, row: EpochRow): Steps<void> {
  yield* dropJournal(row.epoch_key);
  yield* statement(raw`DELETE FROM epoch_slices WHERE epoch_key = ${row.epoch_key}`);
  yield* run(sql.updateTable('epochs').where('epoch_key', '=', row.epoch_key)
    .set({ purged: gone }));
  yield* forgetGroups(study.study_key, row.epoch);
  // A batch is stale when it names an epoch before open - 1. An ended study reads no batch.
  const forgetBefore = study.state === 'ended' ? study.last_epoch : study.last_epoch - 1n;
  yield* forgetFingerprints(study.study_key, forgetBefore);
  yield* forgetWithdrawals(study.study_key, study.last_epoch - 1n);
}

/** Deletes a bounded number of debits that no longer count. @returns false when none was left. */
function* sweepDebits(study: StudyRow, nowMs: number): Steps<boolean> {
  const epochKey = yield* forgettable(yield* ownBudget(study.budget_id), nowMs);
  if (epochKey === undefined) return false;
  yield* statement(raw`DELETE FROM contributor_debits WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM contributor_debits
    WHERE budget_id = ${study.budget_id} AND epoch_key = ${epochKey} LIMIT ${sweepRows}))`);
  return true;
}

/**
 * Deletes a bounded number of rows that can refuse nobody any more. @returns false: none was left.
 */
function* sweepRunning(study: StudyRow): Steps<boolean> {
  const separation = separationIn(study.document);
  if (separation === null) return false;
  // The next epoch is last_epoch + 1, or the open one is last_epoch. An ended study has none.
  const through = study.state === 'ended' ? study.last_epoch : study.last_epoch - separation;
  const deleted = yield* statement(raw`DELETE FROM running_participations WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM running_participations
    WHERE study_key = ${study.study_key} AND epoch <= ${through} LIMIT ${sweepRows}))
    RETURNING study_key`);
  return deleted.length > 0;
}
