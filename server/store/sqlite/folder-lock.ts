import { statSync } from 'node:fs';
import { join } from 'node:path';
import { StorageError } from '../../../src/base/errors.js';
import { ensureOwned } from '../../base/owned-files.js';
import { connect, pragma, sqliteCode, type Connection } from './driver.js';
import { asStoreError } from './failures.js';

/*
 * One writer per database.
 *
 * The writer holds an exclusive transaction on `keelson.lock`, an otherwise empty database. This is
 * an operating system lock on the file's inode. It ends with its process, it is the same for every
 * path to the folder, and it also refuses a second opener in the same process. Readers (`keelson
 * ledger`, `keelson store backup`) do not take it.
 *
 * Somebody can remove the lock file. Its holder then keeps a lock that no other process can see. So
 * the database stores the inode of the lock file of its last writer. A start that holds another
 * inode cannot know whether that writer still runs. It asks the database instead: every connection
 * to a database with a write-ahead log holds a shared lock on the file until it closes, so an
 * exclusive lock on it shows that no other process has it open. The same test finds a second folder
 * whose keelson.db is a link to this one.
 */

const lockFile = (directory: string): string => join(directory, 'keelson.lock');

/** A held lock. */
export interface FolderLock {
  /** Identifies the lock file as long as any process has it open. */
  readonly inode: bigint;
  release(): void;
}

/** @throws StorageError data-folder-in-use when another writer holds it. */
export function takeLock(directory: string): FolderLock {
  try {
    ensureOwned(lockFile(directory));
  } catch {
    // SQLite meets the same fault, and reports it.
  }
  const lock = connect(lockFile(directory), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return { inode: inodeOf(lockFile(directory)), release: () => { lock.close(); } };
  } catch (cause) {
    lock.close();
    if (isBusy(cause)) {
      throw new StorageError(
        `the data folder ${directory} is in use by another server; `
        + 'stop it or choose another folder',
        'data-folder-in-use', { details: { directory }, cause });
    }
    throw asStoreError(cause);
  }
}

/**
 * Makes sure that no other process has the database open, unless its last writer held this same
 * lock.
 * @param waitMs how long to wait for readers.
 * @throws StorageError data-folder-in-use when another process has it open.
 */
export function refuseOtherWriters(
  directory: string, path: string, lock: FolderLock, waitMs: number,
): void {
  if (lastLockOf(path) === lock.inode) return;
  const probe = connect(path, { timeout: waitMs });
  try {
    pragma(probe, 'locking_mode = EXCLUSIVE');
    probe.exec('BEGIN EXCLUSIVE; COMMIT');
  } catch (cause) {
    if (!isBusy(cause)) throw cause;
    throw new StorageError(
      `the lock file of the data folder ${directory} was removed or replaced, and another process `
      + 'has its database open: end that server, or wait until "keelson store backup" or '
      + '"keelson ledger" has ended, then start again',
      'data-folder-in-use', { details: { directory }, cause });
  } finally {
    probe.close();
  }
}

/** Stores in the database which lock file its writer holds. */
export function rememberLock(database: Connection, lock: FolderLock): void {
  database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('lock_inode', ?)")
    .run(lock.inode);
}

function lastLockOf(path: string): bigint | undefined {
  // Opened for writing, so that SQLite can roll back transactions that a power failure interrupted.
  const database = connect(path);
  try {
    const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
    if (made === undefined) return undefined;
    return database
      .prepare<[], { value: bigint }>("SELECT value FROM meta WHERE name = 'lock_inode'")
      .get()?.value;
  } finally {
    database.close();
  }
}

/** The inode as a number that SQLite can store. */
function inodeOf(path: string): bigint {
  return BigInt.asIntN(64, statSync(path, { bigint: true }).ino);
}

function isBusy(cause: unknown): boolean {
  return sqliteCode(cause)?.startsWith('SQLITE_BUSY') === true;
}
