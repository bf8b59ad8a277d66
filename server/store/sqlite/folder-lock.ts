import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../../../src/base/errors.js';
import { asStoreError } from './failures.js';

/*
 * One writer per database.
 *
 * The writer holds an exclusive transaction on `keelson.lock`, an otherwise empty database. That is
 * a lock of the operating system on the file's inode: it dies with its holder, two paths to one
 * folder meet in it, and a second opener in the same process is refused as well. Readers (`keelson
 * ledger`, `keelson backup`) do not take it.
 *
 * A lock file can be removed, and its holder keeps a lock that nobody meets any more. So the
 * database remembers the inode of the lock file that its last writer held. A start that holds
 * another one cannot know whether that writer still runs, and asks the database itself: every
 * connection to a database with a write-ahead log holds a shared lock on the file until it closes,
 * so an exclusive lock on it shows that nobody else is there. The same test finds a second folder
 * whose keelson.db is a link to this one.
 */

export const lockFile = (directory: string): string => join(directory, 'keelson.lock');

/** A held lock. */
export interface FolderLock {
  /** Names the lock file as long as anybody has it open. */
  readonly inode: bigint;
  release(): void;
}

/** @throws StorageError data-folder-in-use when another writer holds it. */
export function takeLock(directory: string): FolderLock {
  const lock = new Database(lockFile(directory), { timeout: 0 });
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
 * Makes sure that nobody else has the database open, unless its last writer held this same lock.
 * @param waitMs how long to wait for readers.
 * @throws StorageError data-folder-in-use when somebody has.
 */
export function refuseOtherWriters(
  directory: string, path: string, lock: FolderLock, waitMs: number,
): void {
  if (lastLockOf(path) === lock.inode) return;
  const probe = new Database(path, { timeout: waitMs });
  try {
    probe.pragma('locking_mode = EXCLUSIVE');
    probe.exec('BEGIN EXCLUSIVE; COMMIT');
  } catch (cause) {
    if (!isBusy(cause)) throw cause;
    throw new StorageError(
      `the lock file of the data folder ${directory} was removed or replaced, and another process `
      + 'has its database open: end that server, or wait until "keelson backup" or '
      + '"keelson ledger" has ended, then start again',
      'data-folder-in-use', { details: { directory }, cause });
  } finally {
    probe.close();
  }
}

/** Remembers whose lock the database is written under. */
export function rememberLock(database: Database.Database, lock: FolderLock): void {
  database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('lock_inode', ?)")
    .run(lock.inode);
}

function lastLockOf(path: string): bigint | undefined {
  // May write, so that it can undo what a power cut has left half done.
  const database = new Database(path);
  try {
    database.defaultSafeIntegers(true);
    const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
    if (made === undefined) return undefined;
    return database.prepare<[], bigint>("SELECT value FROM meta WHERE name = 'lock_inode'")
      .pluck().get();
  } finally {
    database.close();
  }
}

/** As a number that SQLite can hold. */
function inodeOf(path: string): bigint {
  return BigInt.asIntN(64, statSync(path, { bigint: true }).ino);
}

function isBusy(cause: unknown): boolean {
  return cause instanceof Database.SqliteError && cause.code.startsWith('SQLITE_BUSY');
}
