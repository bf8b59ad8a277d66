import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { codeOf, StorageError } from '../../../src/base/errors.js';
import { ensureOwned } from '../../base/owned-files.js';
import { connect, pragma, transaction, type Connection } from './driver.js';
import { asStoreError } from './failures.js';
import { refuseOtherWriters, rememberLock, takeLock } from './folder-lock.js';
import { markFile } from './mark.js';
import { migrations, pureStep } from './migrations/index.js';
import { refuseMoved } from './moved.js';
import { Queries } from './query.js';
import { fillPure } from '../rules/pure-charges.js';

/** "KEEL" marks the file as Keelson's, so that another program's database is never migrated. */
const applicationId = 0x4b45454c;
/**
 * Bytes per page. Every scattered replay update logs one whole page, which costs more than the
 * overflow pages of large bodies. In bench/store.js, 4 KiB beat 8 and 16 KiB on small bodies and
 * lost nothing on bodies of 64 KiB.
 */
const pageBytes = 4096;
/**
 * Log size at which a commit also copies pages back into the file. With 64 MiB such a commit takes
 * four times as long.
 */
const checkpointBytes = 8 * 1024 * 1024;
/** The time that a statement waits for a reader's or checkpoint's lock. */
const busyMs = 2_000;

export const databaseFile = (directory: string): string => join(directory, 'keelson.db');

const notAFolder = 'a part of this path is not a folder: choose another';
/** The remedy for each error code of the system on a data folder. */
const remedies: Readonly<Record<string, string>> = {
  EEXIST: notAFolder,
  ENOTDIR: notAFolder,
  ELOOP: 'the links of this path lead back to each other: choose another',
  ENAMETOOLONG: 'the path is too long: choose another',
  EROFS: 'this disk can only be read: choose a folder of another',
};

/** An open data folder: the connection and the lock that keeps other writers out. */
export interface DataFolder {
  readonly database: Connection;
  /** @throws StorageError when the database file was removed or replaced since it was opened. */
  checkInPlace(): void;
  /** Closes both; the lock is also released by the system when the process dies. */
  close(): void;
}

/**
 * Creates the folder if needed (mode 0700), takes the writer's lock, opens and migrates the file.
 * @param mayBeMoved whether to open a folder whose store is in PostgreSQL now. Default: no.
 * @throws StorageError data-folder-in-use, schema-too-new, or storage-failed when the folder cannot
 *   be written, others may write it, or its store was moved.
 */
export function openDataFolder(
  directory: string, { mayBeMoved = false }: { readonly mayBeMoved?: boolean } = {},
): DataFolder {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    makeDatabaseFile(databaseFile(directory));
  } catch (cause) {
    const reason = codeOf(cause);
    const remedy = remedies[reason] ?? 'choose another or fix its permissions';
    throw new StorageError(
      `the data folder ${directory} cannot be created or written (${reason}); ${remedy}`,
        'storage-failed', { details: { directory, reason }, cause },
    );
  }
  refuseOthersWriting(directory);
  const lock = takeLock(directory);
  let database: Connection | undefined;
  try {
    refuseOtherWriters(directory, databaseFile(directory), lock, busyMs);
    database = connect(databaseFile(directory), { timeout: busyMs });
    const checkInPlace = watchedFile(databaseFile(directory));
    configure(database);
    migrate(database, directory);
    if (!mayBeMoved) refuseMoved(database, directory);
    rememberLock(database, lock);
    // The log must not keep rows that an earlier run purged.
    pragma(database, 'wal_checkpoint(TRUNCATE)');
    const opened = database;
    return { database: opened, checkInPlace, close: () => { opened.close(); lock.release(); } };
  } catch (error) {
    database?.close();
    lock.release();
    throw asStoreError(error);
  }
}

/**
 * Opens the file for reading beside a running writer, without its lock.
 * @throws StorageError when there is no store, or its schema is another version than this
 *   program's.
 */
export function openForReading(directory: string): Connection {
  const file = databaseFile(directory);
  if (!isThere(file)) throw noStore(directory);
  let database: Connection | undefined;
  try {
    database = connect(file, { readonly: true, timeout: busyMs });
    const version = schemaVersion(database, directory);
    if (version === 0) throw noStore(directory);
    if (version < migrations.length) {
      throw new StorageError(`the store in ${directory} has the older schema ${version}, this `
        + `program reads ${migrations.length}; start the server once to migrate `
        + 'it', 'storage-failed', { details: { version } });
    }
    return database;
  } catch (error) {
    database?.close();
    throw asStoreError(error);
  }
}

function noStore(directory: string): StorageError {
  return new StorageError(
    `there is no store in ${directory}; give the folder that \`keelson serve --data\` used`,
    'storage-failed', { details: { directory } },
  );
}

/** @throws StorageError when this user lacks the permission to look. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (cause) {
    if (codeOf(cause) !== 'EACCES') return false;
    throw new StorageError(
      `${path} cannot be read: permission denied; run this as the user that runs the server`,
      'storage-failed', { details: { path }, cause },
    );
  }
}

/**
 * Creates the file with a private mode, because it holds contributors' rows and secret keys. SQLite
 * gives its log the same mode. An existing file is not opened here: closing it would drop the locks
 * that SQLite holds on it in this process.
 */
function makeDatabaseFile(path: string): void {
  ensureOwned(path);
  accessSync(path, constants.R_OK | constants.W_OK);
}

/**
 * Refuses a folder or file that other users may write: they could replace the database, and the
 * ledger with it.
 * @throws StorageError when the modes allow that. Windows has no modes.
 */
function refuseOthersWriting(directory: string): void {
  if (platform() === 'win32') return;
  const file = databaseFile(directory);
  for (const path of [directory, file, `${file}-wal`, markFile(directory)]) {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o022) === 0) continue;
    const text = (mode & 0o777).toString(8).padStart(4, '0');
    throw new StorageError(
      `${path} has mode ${text}, so others on this machine can change the ledger in it: `
      + `run chmod go-w ${path}, and check that nobody has`,
      'storage-failed', { details: { path, mode: text } });
  }
}

/** Checks whether the open file is still the one that its path names. */
function watchedFile(path: string): () => void {
  const { dev, ino } = statSync(path, { bigint: true });
  return () => {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (now?.dev === dev && now.ino === ino) return;
    throw new StorageError(
      `${path} was ${now === undefined ? 'removed' : 'replaced'} while the server ran. `
      + 'The server has stopped. The batches that it acknowledged are in the earlier file: put '
      + 'that file back, or restore a copy (docs/operating/operations.md)',
      'storage-failed', { details: { path } });
  };
}

function configure(database: Connection): void {
  pragma(database, `page_size = ${pageBytes}`);
  const mode = pragma(database, 'journal_mode = WAL');
  if (mode !== 'wal') {
    throw new StorageError('the data folder does not support a write-ahead log; use a local disk');
  }
  // With WAL, any level below FULL acknowledges commits that a power failure would lose.
  pragma(database, 'synchronous = FULL');
  pragma(database, 'secure_delete = ON');
  pragma(database, 'foreign_keys = ON');
  pragma(database, 'temp_store = MEMORY');
  pragma(database, 'cache_size = -65536');
  pragma(database, `wal_autocheckpoint = ${checkpointBytes / pageBytes}`);
}

function schemaVersion(database: Connection, directory: string): number {
  const version = Number(pragma(database, 'user_version'));
  const owner = Number(pragma(database, 'application_id'));
  // Many programs set no application id. A file of ours without one is still empty.
  const isEmpty = (): boolean =>
    database.prepare('SELECT 1 FROM sqlite_master').get() === undefined;
  if (owner !== applicationId && (version !== 0 || owner !== 0 || !isEmpty())) {
    throw new StorageError(
      `${databaseFile(directory)} belongs to another program; choose another data folder`,
    );
  }
  if (version > migrations.length) {
    throw new StorageError(
      `the store in ${directory} has schema ${version}, this program knows up to `
        + `${migrations.length}; use a newer keelson`,
      'schema-too-new', { details: { found: version, supported: migrations.length } });
  }
  return version;
}

/** All missing steps are one transaction: a start that is interrupted changes nothing. */
function migrate(database: Connection, directory: string): void {
  const version = schemaVersion(database, directory);
  if (version === migrations.length) return;
  transaction(database, () => {
    for (const step of migrations.slice(version)) {
      database.exec(step);
      if (step === pureStep) new Queries(database).perform(fillPure());
    }
    pragma(database, `application_id = ${applicationId}`);
    pragma(database, `user_version = ${migrations.length}`);
  });
}
