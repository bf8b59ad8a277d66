import { InvariantError, StorageError } from '../../../src/base/errors.js';
import { systemClock } from '../../base/clock.js';
import { connected } from './connection.js';
import { asStoreError, PostgresFailure } from './failures.js';
import { pause } from './outage.js';
import type { PostgresPlace } from './place.js';
import { functions } from './migrations/functions.js';
import { migrations, ownVersion, type Migration } from './migrations/index.js';
import { EncryptionKeys } from './encryption-keys.js';
import { fillPure } from '../rules/pure-charges.js';
import { sealOlder } from './seal-older.js';
import type { Session } from './session.js';
import { keepNodesOut, refuseNewer, schemaVersions } from './versions.js';

/** The version since which there are nodes. */
const nodesSince = 2;
/** The version since which nothing of the rows is in the clear. */
const sealedSince = 5;
/** The version since which nodes state which program they are. */
const programsSince = 7;
/** The version since which budgets have a pure sum. */
const pureSince = 9;

/**
 * A migration that waits so long for a table makes way and begins again. PostgreSQL looks for a
 * deadlock after a second, so no transaction of a server is ended because of a migration.
 */
const lockTimeout = '400ms';
const triesMost = 100;
const restMs = 100;

/** The schema of a database. */
export interface SchemaStatus {
  readonly schema: string;
  /** 0 when there is none yet. */
  readonly version: number;
  /** The version that this program writes. */
  readonly supported: number;
}

/**
 * Creates the schema, or brings an older one up to this program. Two programs at once are fine. A
 * newer schema that this program may use is left alone. Servers of older programs may run on the
 * store if they may use the result, and then go on. While they run it waits for each table for a
 * moment only, and tries again, so they go on meanwhile.
 * @param encryptionKeys a folder, see `PostgresStoreOptions`. Only a store with rows from before
 *   version 5 needs it: they are sealed.
 * @param steps the migrations.
 * @throws StorageError when the database cannot be reached, its schema is too new, servers run on
 *   it that may not use the result, or rows are to be sealed and no folder is given.
 */
export async function migrateSchema(
  place: PostgresPlace, encryptionKeys?: string, steps: readonly Migration[] = migrations,
): Promise<SchemaStatus> {
  const keys = encryptionKeys === undefined ? undefined : EncryptionKeys.open(encryptionKeys);
  return connected(place, ({ session, schema }) =>
    untilFree(() => session.transaction('', async () => {
      await session.text('SELECT pg_advisory_xact_lock(hashtext($1), -1)',
        [`keelson ${schema}`]);
      await session.execute(`SET LOCAL lock_timeout = '${lockTimeout}'`);
      await session.execute(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      const found = await schemaVersions(session);
      const { version } = found;
      refuseNewer(found);
      if (version >= steps.length) return statusOf(schema, version);
      const least = Math.max(...steps.map(({ leastProgram }) => leastProgram));
      await keepOlderOut(session, version, least);
      for (const { sql } of steps.slice(version)) await session.execute(sql);
      await session.execute(functions);
      if (version < pureSince && steps.length >= pureSince) await session.perform(fillPure());
      if (version < sealedSince && steps.length >= sealedSince) await sealOlder(session, keys);
      await session.text(`INSERT INTO meta (name, value)
        VALUES ('schema_version', $1), ('least_program', $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`, [steps.length, least]);
      return statusOf(schema, steps.length);
    })));
}

/** Runs a transaction until no other one is in its way. */
async function untilFree<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction();
    } catch (error) {
      const typed = asStoreError(error);
      const isAgain = typed instanceof PostgresFailure && typed.kind === 'again';
      if (!isAgain || tries === triesMost) throw typed;
      await pause(systemClock, restMs);
    }
  }
}

/** See versions.ts. @param found the version of the schema. @param least of the one to come. */
async function keepOlderOut(session: Session, found: number, least: number): Promise<void> {
  if (found < nodesSince) return;
  const older = found < programsSince ? 'true' : `program < ${least}`;
  await keepNodesOut(session, older, 'servers run on this store that cannot use the newer tables');
}

/**
 * Deletes the schema with all that is in it: budgets, logs and rows.
 * @throws StorageError when the database cannot be reached.
 */
export function dropSchema(place: PostgresPlace): Promise<void> {
  return connected(place, ({ session, schema }) =>
    session.execute(`DROP SCHEMA IF EXISTS ${schema} CASCADE`));
}

/** Reads which schema there is. @throws StorageError when the database cannot be reached. */
export function schemaStatus(place: PostgresPlace): Promise<SchemaStatus> {
  return connected(place, async ({ session, schema }) =>
    statusOf(schema, (await schemaVersions(session)).version));
}

const statusOf = (schema: string, version: number): SchemaStatus =>
  ({ schema, version, supported: ownVersion });

interface Setting {
  readonly name: string;
  readonly setting: string;
}

/** Settings under which an acknowledged batch can be lost, and those that keep it. */
const durable: Readonly<Record<string, readonly string[]>> = {
  fsync: ['on'], full_page_writes: ['on'], synchronous_commit: ['on', 'remote_apply'],
  transaction_read_only: ['off'],
};

/** Settings that matter only to servers that write. */
const ofWriters: ReadonlySet<string> = new Set(['transaction_read_only']);

const versionLeast = 140_000;

/**
 * Refuses a database on which the store's promises would not hold.
 * @param use `read`: a standby will do.
 * @throws StorageError with the remedy, when the schema is missing, older or too new, the
 *   database may lose what it has committed, is read-only or is too old.
 */
export async function checkDatabase(
  session: Session, use: 'write' | 'read' = 'write',
): Promise<void> {
  const rows = await session.text<Setting>(
    `SELECT name, setting FROM pg_settings WHERE name = ANY ($1)
      ORDER BY name`, [[...Object.keys(durable), 'server_version_num']]);
  if (rows.length !== Object.keys(durable).length + 1) {
    throw new InvariantError('PostgreSQL has all settings that are asked for');
  }
  for (const { name, setting } of rows) {
    if (name === 'server_version_num') {
      if (Number(setting) < versionLeast) throw new StorageError(
        'the database is older than PostgreSQL 14: use a newer one');
    } else if (!durable[name]!.includes(setting) && (use === 'write' || !ofWriters.has(name))) {
      throw new StorageError(name === 'transaction_read_only'
        ? 'the database is read-only: name the primary in the address'
        : `the database has ${name} = ${setting}, so it may lose batches that were acknowledged: `
          + `set it to ${durable[name]!.join(' or ')}`);
    }
  }
  const found = await schemaVersions(session);
  const { version } = found;
  if (version === 0) throw new StorageError('the database has no store yet: run keelson store init '
    + 'with this address first', 'storage-failed', { details: { found: 0 } });
  refuseNewer(found);
  if (version < ownVersion) throw new StorageError(
    `the database has schema ${version}, this program needs ${ownVersion} or later: run keelson `
    + 'store migrate', 'storage-failed', { details: { found: version, supported: ownVersion } });
}
