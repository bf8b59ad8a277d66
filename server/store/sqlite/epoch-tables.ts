import { signing } from '#signing';
import { assert } from '../../../src/base/assert.js';
import {
  fingerprintOf, noSecrets, type EpochTables, type GroupSecrets,
} from '../rules/epoch-tables.js';
import { plainBytes } from '../rules/steps.js';
import type { Connection } from './driver.js';
import type { Queries } from './query.js';

/**
 * Each epoch has two tables of its own. No other epoch's rows share a page with them.
 *
 * Why: `secure_delete` overwrites deleted rows and freed pages. But when SQLite moves rows between
 * pages, it can leave stale copies in the unused middle of a page that stays in use. Dropping a
 * table frees all its pages, and a freed page is overwritten whole. So after `dropJournal` the file
 * holds no byte of the epoch's rows. The log holds none once it is truncated.
 *
 * `secrets` holds one row. It is so small that its table never has a second page, so it is never
 * moved. Replay windows compare bodies by a hash keyed with its `fingerprint_key`. Such a hash
 * reveals nothing once the key is deleted. Epoch 0 means the time before a study's first epoch.
 */
export const journalTable = (epochKey: bigint): string => `journal_${epochKey}`;
const secretsTable = (studyKey: bigint, epoch: bigint): string => `secrets_${studyKey}_${epoch}`;

const keyBytes = 32;

/* eslint-disable require-yield -- These need no rows, and run at once. */
export const epochTablesOf = (queries: Queries): EpochTables => ({
  *createJournal(epochKey) { createJournal(queries, epochKey); },
  *createSecrets(...secrets) { createSecrets(queries, ...secrets); },
});
/* eslint-enable require-yield */

function createJournal(queries: Queries, epochKey: bigint): void {
  queries.database.exec(`CREATE TABLE ${journalTable(epochKey)} (
    position INTEGER PRIMARY KEY, -- order of acceptance over all studies, never reused: the replay order
    contributor_id INTEGER NOT NULL, -- who sent it
    sequence INTEGER NOT NULL, -- the sender's number of it
    complete INTEGER NOT NULL, -- 1 when the contribution was complete with it
    signature BLOB NOT NULL, -- the sender's signature, so that the journal can be verified by others
    body BLOB NOT NULL -- the signed bytes as received; last, so that the columns before it need no overflow page
  ) STRICT`);
}

export function dropJournal(queries: Queries, epochKey: bigint): void {
  queries.database.exec(`DROP TABLE IF EXISTS ${journalTable(epochKey)}`);
}

export function hasJournal(queries: Queries, epochKey: bigint): boolean {
  return hasTable(queries.database, journalTable(epochKey));
}

/** Keys of the epochs whose journal is in the file. */
export function journalKeys(database: Connection): bigint[] {
  const tables = database.prepare<[], { name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'journal_[0-9]*'");
  return tables.all().map(({ name }) => BigInt(name.slice('journal_'.length)));
}

function createSecrets(
  queries: Queries, studyKey: bigint, epoch: bigint, secrets: GroupSecrets = noSecrets,
): void {
  const table = secretsTable(studyKey, epoch);
  queries.database.exec(`CREATE TABLE ${table} (
    assignment_key BLOB NOT NULL, -- secret key that assigns contributors to groups; emptied by the purge
    work_seed BLOB NOT NULL, -- seed of the work randomness; emptied by the purge
    fingerprint_key BLOB NOT NULL -- key of the body hashes in replay windows; emptied when no batch can name the epoch
  ) STRICT`);
  assert(secrets.assignmentKey.length + secrets.workSeed.length <= 512, 'the secrets of an epoch '
    + 'fit one page');
  queries.database.prepare(`INSERT INTO ${table} VALUES (?, ?, ?)`)
    .run(secrets.assignmentKey, secrets.workSeed, signing.randomBytes(keyBytes));
}

function hasTable(database: Connection, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    .get(name) !== undefined;
}

/** Empty arrays once the epoch was purged. */
export function readSecrets(queries: Queries, studyKey: bigint, epoch: bigint): GroupSecrets {
  const table = secretsTable(studyKey, epoch);
  if (!hasTable(queries.database, table)) return noSecrets;
  const row = queries.database.prepare<[], { assignment_key: Uint8Array; work_seed: Uint8Array }>(
    `SELECT assignment_key, work_seed FROM ${table}`).get();
  return { assignmentKey: plainBytes(row!.assignment_key), workSeed: plainBytes(row!.work_seed) };
}

/**
 * Deletes the key of the epoch's group assignment. The rows that it assigned are deleted before.
 */
export function forgetGroups(queries: Queries, studyKey: bigint, epoch: bigint): void {
  const table = secretsTable(studyKey, epoch);
  if (!hasTable(queries.database, table)) return;
  queries.database.exec(`UPDATE ${table} SET assignment_key = x'', work_seed = x''`);
}

/**
 * Deletes the fingerprint keys of all epochs before `epoch`; drops the tables of those that
 * `isPurged`. This changes answers to repeated batches (see replay-window.ts), never whether a
 * batch counts.
 */
export function forgetFingerprints(
  queries: Queries, studyKey: bigint, epoch: bigint, isPurged: (epoch: bigint) => boolean,
): void {
  const prefix = `secrets_${studyKey}_`;
  const names = queries.database.prepare<[string], { name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB ?").all(`${prefix}[0-9]*`);
  for (const { name } of names) {
    const at = BigInt(name.slice(prefix.length));
    if (at >= epoch) continue;
    if (at === 0n || isPurged(at)) queries.database.exec(`DROP TABLE ${name}`);
    else queries.database.exec(`UPDATE ${name} SET fingerprint_key = x''`);
  }
}

/** Fingerprints under the keys of a store's epochs. Caches the keys until `forgetKeys`. */
export class Fingerprints {
  readonly #database: Connection;
  readonly #keys = new Map<string, Uint8Array | undefined>();

  constructor(database: Connection) {
    this.#database = database;
  }

  /** Call it after any transaction that created or deleted keys. */
  forgetKeys(): void {
    this.#keys.clear();
  }

  knows(studyKey: bigint, epoch: bigint): boolean {
    return this.#key(studyKey, epoch) !== undefined;
  }

  /**
   * The first 16 bytes of HMAC-SHA-256(the epoch's key, digest); undefined when the key is deleted.
   */
  of(studyKey: bigint, epoch: bigint, digest: Uint8Array): Uint8Array | undefined {
    const key = this.#key(studyKey, epoch);
    if (key === undefined) return undefined;
    return fingerprintOf(key, digest);
  }

  #key(studyKey: bigint, epoch: bigint): Uint8Array | undefined {
    const table = secretsTable(studyKey, epoch);
    if (!this.#keys.has(table)) {
      const row = !hasTable(this.#database, table) ? undefined
        : this.#database
          .prepare<[], { fingerprint_key: Uint8Array }>(`SELECT fingerprint_key FROM ${table}`)
          .get();
      this.#keys.set(table, row === undefined || row.fingerprint_key.length === 0
        ? undefined : row.fingerprint_key);
    }
    return this.#keys.get(table);
  }
}
