import { InvariantError, StorageError } from '../../../src/base/errors.js';
import { Connections } from './connection.js';
import type { PostgresPlace } from './place.js';
import { functions } from './migrations/functions.js';
import { migrations } from './migrations/index.js';
import { RowKeys } from './row-keys.js';
import { sealOlder } from './seal-older.js';
import type { Session } from './session.js';

/** The version since which nothing of the rows is in the clear. */
const sealedSince = 5;

/** The schema of a database. */
export interface SchemaStatus {
  readonly schema: string;
  /** 0 when there is none yet. */
  readonly version: number;
  /** The version that this program writes. */
  readonly supported: number;
}

/** The version of the schema; 0 when there is none. */
export async function schemaVersion(session: Session): Promise<number> {
  const [table] = await session.text<{ found: string | null }>(
    "SELECT to_regclass(current_schema() || '.meta')::text AS found");
  if ((table?.found ?? null) === null) return 0;
  const [row] = await session.text<{ value: bigint }>(
    "SELECT value FROM meta WHERE name = 'schema_version'");
  if (row === undefined) throw new StorageError(
    'the schema belongs to another program: name another schema');
  return Number(row.value);
}

/**
 * Creates the schema, or brings an older one up to this program. Two programs at once are fine.
 * @param rowKeys the folder of the row keys, see `PostgresStoreOptions`. Only a store with rows
 *   from before version 5 needs it: they are sealed.
 * @throws StorageError when the database cannot be reached, its schema is newer, or rows are to be
 *   sealed and no folder is given.
 */
export async function migrateSchema(
  place: PostgresPlace, rowKeys?: string,
): Promise<SchemaStatus> {
  const keys = rowKeys === undefined ? undefined : RowKeys.open(rowKeys);
  return withConnections(place, (connections) => connections.use((session) =>
    session.transaction('', async () => {
      await session.text('SELECT pg_advisory_xact_lock(hashtext($1), -1)',
        [`keelson ${connections.schema}`]);
      await session.execute(`CREATE SCHEMA IF NOT EXISTS ${connections.schema}`);
      const found = await schemaVersion(session);
      refuseNewer(found);
      for (const migration of migrations.slice(found)) await session.execute(migration);
      if (found < migrations.length) await session.execute(functions);
      if (found < sealedSince) await sealOlder(session, keys);
      await session.text(`INSERT INTO meta (name, value) VALUES ('schema_version', $1)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value`, [migrations.length]);
      return statusOf(connections, migrations.length);
    })));
}

/**
 * Deletes the schema with all that is in it: budgets, logs and rows.
 * @throws StorageError when the database cannot be reached.
 */
export function dropSchema(place: PostgresPlace): Promise<void> {
  return withConnections(place, (connections) => connections.use((session) =>
    session.execute(`DROP SCHEMA IF EXISTS ${connections.schema} CASCADE`)));
}

/** Reads which schema there is. @throws StorageError when the database cannot be reached. */
export function schemaStatus(place: PostgresPlace): Promise<SchemaStatus> {
  return withConnections(place, (connections) => connections.use(async (session) =>
    statusOf(connections, await schemaVersion(session))));
}

const statusOf = ({ schema }: Connections, version: number): SchemaStatus =>
  ({ schema, version, supported: migrations.length });

async function withConnections<T>(
  place: PostgresPlace, action: (connections: Connections) => Promise<T>,
): Promise<T> {
  const connections = await Connections.open(place, 1);
  try {
    return await action(connections);
  } finally {
    await connections.close();
  }
}

function refuseNewer(found: number): void {
  if (found <= migrations.length) return;
  throw new StorageError(`the database has schema ${found}, this program knows up to `
    + `${migrations.length}; use a newer keelson`, 'schema-too-new',
  { details: { found, supported: migrations.length } });
}

interface Setting {
  readonly name: string;
  readonly setting: string;
}

/** Settings under which an acknowledged batch can be lost, and those that keep it. */
const durable: Readonly<Record<string, readonly string[]>> = {
  fsync: ['on'], full_page_writes: ['on'], synchronous_commit: ['on', 'remote_apply'],
  transaction_read_only: ['off'],
};

/** What only writers need. */
const ofWriters: ReadonlySet<string> = new Set(['transaction_read_only']);

const versionLeast = 140_000;

/**
 * Refuses a database on which the store's promises would not hold.
 * @param use `read`: a standby will do.
 * @throws StorageError with the remedy, when the schema is missing or has another version, the
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
  const version = await schemaVersion(session);
  if (version === 0) throw new StorageError('the database has no store yet: run keelson store init '
    + 'with this address first', 'storage-failed', { details: { found: 0 } });
  refuseNewer(version);
  if (version < migrations.length) throw new StorageError(
    `the database has schema ${version}, this program writes ${migrations.length}: end all `
    + 'servers on it, then run keelson store migrate', 'storage-failed',
    { details: { found: version, supported: migrations.length } });
}
