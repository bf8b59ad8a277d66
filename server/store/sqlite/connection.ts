import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../../src/base/errors.js';
import { asStoreError } from './failures.js';
import { migrations } from './migrations/index.js';

/** "KEEL": marks the file as ours, so that another program's database is not migrated by mistake. */
const applicationId = 0x4b45454c;
/**
 * Bytes per page. Every scattered replay update logs one whole page, which costs more than the overflow hops of large
 * bodies: with bench/store.js, 4 KiB beat 8 and 16 KiB on small bodies and lost nothing on 64 KiB ones.
 */
const pageBytes = 4096;
/** Log size at which a commit also copies pages back into the file: with 64 MiB a commit stalls four times as long. */
const checkpointBytes = 8 * 1024 * 1024;
/** How long a statement waits for a reader's or checkpoint's lock. */
const busyMs = 2_000;

export const databaseFile = (directory: string): string => join(directory, 'keelson.db');
const lockFile = (directory: string): string => join(directory, 'keelson.lock');

/** An open data folder: the connection and the lock that keeps other writers out. */
export interface DataFolder {
  readonly database: Database.Database;
  /** Closes both; the lock is also released by the system when the process dies. */
  close(): void;
}

/**
 * Creates the folder if needed (mode 0700), takes the writer's lock, opens and migrates the file.
 * @throws StorageError data-folder-in-use, schema-too-new, or storage-failed when the folder cannot be written.
 */
export function openDataFolder(directory: string): DataFolder {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // The file holds contributors' rows and secret keys; SQLite gives its log the same mode.
    closeSync(openSync(databaseFile(directory), 'a', 0o600));
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new StorageError(
      `the data folder ${directory} cannot be created or written (${reason}); choose another or fix its permissions`,
      'storage-failed', { details: { directory, reason }, cause });
  }
  const lock = takeLock(directory);
  let database: Database.Database | undefined;
  try {
    database = new Database(databaseFile(directory), { timeout: busyMs });
    configure(database);
    migrate(database, directory);
    // What an earlier run purged must not survive in its log.
    database.pragma('wal_checkpoint(TRUNCATE)');
    const opened = database;
    return { database: opened, close: () => { opened.close(); lock.close(); } };
  } catch (error) {
    database?.close();
    lock.close();
    throw asStoreError(error);
  }
}

/**
 * Opens the file for reading beside a running writer, without its lock.
 * @throws StorageError when there is no store, or its schema is another version than this program's.
 */
export function openForReading(directory: string): Database.Database {
  if (!existsSync(databaseFile(directory))) {
    throw new StorageError(`there is no store in ${directory}; give the folder that \`keelson serve --data\` used`,
      'storage-failed', { details: { directory } });
  }
  let database: Database.Database | undefined;
  try {
    database = new Database(databaseFile(directory), { readonly: true, fileMustExist: true, timeout: busyMs });
    database.defaultSafeIntegers(true);
    const version = schemaVersion(database, directory);
    if (version < migrations.length) {
      throw new StorageError(`the store in ${directory} has the older schema ${version}, this program reads `
        + `${migrations.length}; start the server once to migrate it`, 'storage-failed', { details: { version } });
    }
    return database;
  } catch (error) {
    database?.close();
    throw asStoreError(error);
  }
}

/**
 * An exclusive transaction on an otherwise empty database: a lock of the operating system, which dies with its
 * holder, so a crash leaves nothing stale behind, and a second opener in the same process is refused as well.
 */
function takeLock(directory: string): Database.Database {
  const lock = new Database(lockFile(directory), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock.close();
    if (cause instanceof Database.SqliteError && cause.code.startsWith('SQLITE_BUSY')) {
      throw new StorageError(
        `the data folder ${directory} is in use by another server; stop it or choose another folder`,
        'data-folder-in-use', { details: { directory }, cause });
    }
    throw asStoreError(cause);
  }
}

function configure(database: Database.Database): void {
  database.pragma(`page_size = ${pageBytes}`);
  const mode = database.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') throw new StorageError('the data folder does not support a write-ahead log; use a local disk');
  // With WAL, anything below FULL acknowledges commits that a power failure would take back.
  database.pragma('synchronous = FULL');
  database.pragma('secure_delete = ON');
  database.pragma('foreign_keys = ON');
  database.pragma('temp_store = MEMORY');
  database.pragma('cache_size = -65536');
  database.pragma(`wal_autocheckpoint = ${checkpointBytes / pageBytes}`);
  database.defaultSafeIntegers(true);
}

function schemaVersion(database: Database.Database, directory: string): number {
  const version = Number(database.pragma('user_version', { simple: true }));
  const owner = Number(database.pragma('application_id', { simple: true }));
  if (owner !== applicationId && (version !== 0 || owner !== 0)) {
    throw new StorageError(`${databaseFile(directory)} belongs to another program; choose another data folder`);
  }
  if (version > migrations.length) {
    throw new StorageError(
      `the store in ${directory} has schema ${version}, this program knows up to ${migrations.length}; `
        + 'use a newer keelson',
      'schema-too-new', { details: { found: version, supported: migrations.length } });
  }
  return version;
}

function migrate(database: Database.Database, directory: string): void {
  for (let version = schemaVersion(database, directory); version < migrations.length; version++) {
    database.transaction(() => {
      database.exec(migrations[version]!);
      database.pragma(`application_id = ${applicationId}`);
      database.pragma(`user_version = ${version + 1}`);
    }).immediate();
  }
}
