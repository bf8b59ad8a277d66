import {
  chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync,
} from 'node:fs';
import { StorageError } from '../../../src/base/errors.js';
import { createOwned } from '../../base/owned-files.js';
import { databaseFile, openForReading } from './connection.js';
import { asStoreError } from './failures.js';

/** A copy that is durable on the disk. */
export interface Backup {
  readonly file: string;
  readonly bytes: number;
}

/**
 * Copies the store of a data folder into another folder (created when absent, mode 0700). A server
 * may have the store open and continues to work: the copy is one read transaction, so it is the
 * state after some commit. The copy has no log and no free pages. It gets its name only when it is
 * complete and synced. Keys and tokens are not copied.
 * @throws StorageError when there is no store, its schema is another version, a copy exists
 *   already, or there is no room.
 */
export function backupStore(directory: string, target: string): Backup {
  const file = databaseFile(target);
  // If another database has this name, SQLite would take its log for that of the copy.
  const there = [file, `${file}-wal`, `${file}-journal`].find((path) => existsSync(path));
  if (there !== undefined) {
    throw new StorageError(
      `${there} exists and is not overwritten: name another folder, or move this one away`,
        'storage-failed', { details: { file: there } },
    );
  }
  const database = openForReading(directory);
  const unfinished = `${file}.part`;
  try {
    mkdirSync(target, { recursive: true, mode: 0o700 });
    rmSync(unfinished, { force: true });
    // The file will hold rows and secrets, so it is private before its first byte is written.
    closeSync(createOwned(unfinished));
    chmodSync(unfinished, 0o600);
    database.prepare('VACUUM INTO ?').run(unfinished);
    synced(unfinished);
    renameSync(unfinished, file);
    synced(target);
    return { file, bytes: statSync(file).size };
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw asStoreError(error);
  } finally {
    database.close();
  }
}

function synced(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
