import { signing } from '#signing';
import type { KeyObject } from 'node:crypto';
import { sql as raw } from 'kysely';
import type { StudyId } from '../contract.js';
import {
  noSecrets, type EpochTables, type GroupSecrets,
} from '../rules/epoch-tables.js';
import type { ReadSecrets } from '../rules/epochs.js';
import { all, first, plainBytes, run, sql, type Steps } from '../rules/steps.js';
import { newestEncryptionKey } from './encryption-key-turns.js';
import type { EncryptionKeys } from './encryption-keys.js';
import { openSecret, sealSecret, type SecretName } from './row-seal.js';
import { statement } from './session.js';

/*
 * Each epoch's journal is a table of its own, so that deleting its rows is one `DROP TABLE`. Rows
 * are not compressed: sealed bytes do not shrink.
 *
 *
 * After a purge no query finds the rows or the secrets any more, and the files of the table are
 * gone. But the database's log keeps images of pages until its segments are reused, archives and
 * standbys keep theirs, and the pages of `epoch_secrets` keep the old secrets until they are
 * vacuumed. All of these are sealed, and their encryption key is erased (row-key-turns.ts).
 */
export const journalTable = (epochKey: bigint): string => `journal_${epochKey}`;

const keyBytes = 32;

/** The part of this store that keeps the rows and the secrets of epochs. */
export const epochTables = (keys: EncryptionKeys): EpochTables => ({
  createJournal,
  *createSecrets(studyKey, epoch, secrets = noSecrets) {
    const { row_key: encryptionKey, name } = yield* newestEncryptionKey();
    const studyId = yield* studyIdOf(studyKey);
    const key = keys.read(name);
    const seal = (which: SecretName, secret: Uint8Array): Uint8Array =>
      sealSecret(key, studyId, epoch, which, secret);
    yield* run(sql.insertInto('epoch_secrets').values({
      study_key: studyKey, epoch, row_key: encryptionKey,
      assignment_key: seal('assignment', secrets.assignmentKey),
      work_seed: seal('seed', secrets.workSeed),
      fingerprint_key: seal('fingerprint', signing.randomBytes(keyBytes)),
    }));
  },
});

export function* createJournal(epochKey: bigint): Steps<void> {
  const table = raw.raw(journalTable(epochKey));
  yield* statement(raw`CREATE TABLE ${table} (
    position bigint PRIMARY KEY,
    contributor_id bigint NOT NULL,
    sequence bigint NOT NULL,
    complete bigint NOT NULL,
    sealed bytea NOT NULL
  )`);
  yield* statement(raw`ALTER TABLE ${table} ALTER COLUMN sealed SET STORAGE EXTERNAL`);
}

function* studyIdOf(studyKey: bigint): Steps<StudyId> {
  const row = yield* first(sql.selectFrom('studies').select('study_id')
    .where('study_key', '=', studyKey));
  return row!.study_id;
}

export function* dropJournal(epochKey: bigint): Steps<void> {
  yield* statement(raw`DROP TABLE IF EXISTS ${raw.raw(journalTable(epochKey))}`);
}

/** Empty arrays once the epoch was purged. */
export const readSecrets = (keys: EncryptionKeys): ReadSecrets =>
  function* opened(studyKey, epoch): Steps<GroupSecrets> {
    const row = yield* first(secretsQuery().select(['assignment_key', 'work_seed'])
      .where('studies.study_key', '=', studyKey).where('epoch', '=', epoch));
    if (row === undefined || row.assignment_key.length === 0) return noSecrets;
    const key = keys.read(row.name);
    const open = (which: SecretName, sealed: Uint8Array): Uint8Array =>
      openSecret(key, row.study_id, epoch, which, plainBytes(sealed));
    return {
      assignmentKey: open('assignment', row.assignment_key), workSeed: open('seed', row.work_seed),
    };
  };

const secretsQuery = () => sql.selectFrom('epoch_secrets')
  .innerJoin('row_keys', 'row_keys.row_key', 'epoch_secrets.row_key')
  .innerJoin('studies', 'studies.study_key', 'epoch_secrets.study_key')
  .select(['study_id', 'row_keys.name', 'epoch']);

/** The name of the key under which the rows of an epoch are sealed. */
export function* encryptionKeyOf(studyKey: bigint, epoch: bigint): Steps<string> {
  const row = yield* first(secretsQuery().where('studies.study_key', '=', studyKey)
    .where('epoch', '=', epoch));
  return row!.name;
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
    .where('epoch', '<', epoch).where('assignment_key', '=', empty)
    // The row names the key of the epoch's rows.
    .where((row) => row.not(row.exists(row.selectFrom('epochs').select('epoch_key')
      .whereRef('epochs.study_key', '=', 'epoch_secrets.study_key')
      .whereRef('epochs.epoch', '=', 'epoch_secrets.epoch').where('purged', '<', 2n)))));
}

interface SealedKey {
  /** The name of the encryption key that seals `key`. */
  readonly name: string;
  readonly key: Uint8Array;
}

/** The fingerprint keys of a study that are not deleted. Each is opened when it is first asked. */
export class FingerprintKeys {
  readonly #opened = new Map<bigint, Uint8Array>();

  private constructor(
    private readonly keys: EncryptionKeys, private readonly studyId: StudyId,
    private readonly sealed: ReadonlyMap<bigint, SealedKey>,
  ) {}

  static * of(keys: EncryptionKeys, studyKey: bigint, studyId: StudyId): Steps<FingerprintKeys> {
    const rows = yield* all(secretsQuery().select('fingerprint_key')
      .where('studies.study_key', '=', studyKey).where('fingerprint_key', '!=', empty));
    return new FingerprintKeys(keys, studyId, new Map(rows.map((row) =>
      [row.epoch, { name: row.name, key: row.fingerprint_key }])));
  }

  has(epoch: bigint): boolean {
    return this.sealed.has(epoch);
  }

  /** The encryption key of an epoch whose fingerprint key is there, as that of the open one. */
  encryptionKey(epoch: bigint): KeyObject {
    return this.keys.read(this.sealed.get(epoch)!.name);
  }

  /** @throws PostgresFailure encryption-key-missing. */
  get(epoch: bigint): Uint8Array | undefined {
    const sealed = this.sealed.get(epoch);
    if (sealed === undefined) return undefined;
    const opened = this.#opened.get(epoch) ?? openSecret(
      this.keys.read(sealed.name), this.studyId, epoch, 'fingerprint', sealed.key);
    this.#opened.set(epoch, opened);
    return opened;
  }
}
