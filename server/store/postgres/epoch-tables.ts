import { signing } from '#signing';
import { sql as raw } from 'kysely';
import {
  noSecrets, type EpochTables, type GroupSecrets,
} from '../rules/epoch-tables.js';
import { all, first, plainBytes, run, sql, type Steps } from '../rules/steps.js';
import { statement } from './session.js';

/*
 * Each epoch's journal is a table of its own, so that deleting its rows is one `DROP TABLE`.
 * Bodies are not compressed: that costs time, and doubles do not shrink.
 *
 * What a purge promises here is less than in SQLite: no query finds the rows or the secrets any
 * more, and the files of the table are gone. But the database's log keeps images of pages until its
 * segments are reused, archives and standbys keep theirs, and the pages of `epoch_secrets` keep the
 * old secrets until they are vacuumed.
 */
export const journalTable = (epochKey: bigint): string => `journal_${epochKey}`;

const keyBytes = 32;

/** Where this store keeps the rows and the secrets of epochs. */
export const epochTables: EpochTables = {
  *createJournal(epochKey) {
    const table = raw.raw(journalTable(epochKey));
    yield* statement(raw`CREATE TABLE ${table} (
      position bigint PRIMARY KEY,
      contributor_id bigint NOT NULL,
      sequence bigint NOT NULL,
      complete bigint NOT NULL,
      signature bytea NOT NULL,
      body bytea NOT NULL
    )`);
    yield* statement(raw`ALTER TABLE ${table} ALTER COLUMN body SET STORAGE EXTERNAL`);
  },
  *createSecrets(studyKey, epoch, secrets = noSecrets) {
    yield* run(sql.insertInto('epoch_secrets').values({
      study_key: studyKey, epoch, assignment_key: secrets.assignmentKey,
      work_seed: secrets.workSeed, fingerprint_key: signing.randomBytes(keyBytes),
    }));
  },
};

export function* dropJournal(epochKey: bigint): Steps<void> {
  yield* statement(raw`DROP TABLE IF EXISTS ${raw.raw(journalTable(epochKey))}`);
}

/** Empty arrays once the epoch was purged. */
export function* readSecrets(studyKey: bigint, epoch: bigint): Steps<GroupSecrets> {
  const row = yield* first(sql.selectFrom('epoch_secrets').select(['assignment_key', 'work_seed'])
    .where('study_key', '=', studyKey).where('epoch', '=', epoch));
  return row === undefined ? noSecrets : {
    assignmentKey: plainBytes(row.assignment_key), workSeed: plainBytes(row.work_seed),
  };
}

const empty = new Uint8Array(0);

/**
 * Deletes the key of the epoch's group assignment. The rows that it assigned are deleted before.
 */
export function* forgetGroups(studyKey: bigint, epoch: bigint): Steps<void> {
  yield* run(sql.updateTable('epoch_secrets').set({ assignment_key: empty, work_seed: empty })
    .where('study_key', '=', studyKey).where('epoch', '=', epoch));
}

/**
 * Deletes the fingerprint keys of all epochs before `epoch`. This changes answers to repeated
 * batches (see replay-window.ts), never whether a batch counts.
 */
export function* forgetFingerprints(studyKey: bigint, epoch: bigint): Steps<void> {
  yield* run(sql.updateTable('epoch_secrets').set({ fingerprint_key: empty })
    .where('study_key', '=', studyKey).where('epoch', '<', epoch));
  yield* run(sql.deleteFrom('epoch_secrets').where('study_key', '=', studyKey)
    .where('epoch', '<', epoch).where('assignment_key', '=', empty));
}

/** The fingerprint keys of a study that are not deleted, by epoch. */
export function* fingerprintKeys(studyKey: bigint): Steps<Map<bigint, Uint8Array>> {
  const rows = yield* all(sql.selectFrom('epoch_secrets').select(['epoch', 'fingerprint_key'])
    .where('study_key', '=', studyKey).where('fingerprint_key', '!=', empty));
  return new Map(rows.map(({ epoch, fingerprint_key: key }) => [epoch, key]));
}
