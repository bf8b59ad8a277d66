import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { StorageError } from '../../../src/base/errors.js';
import { databaseFile, openForReading } from './connection.js';
import { asStoreError } from './failures.js';

/** A copy that is on the disk. */
export interface Backup {
  readonly file: string;
  readonly bytes: number;
}

/**
 * Copies the store of a data folder into another folder (made when absent, mode 0700), whether or not a server has it
 * open: one read transaction, so the copy is the state after some commit, and the server goes on. The copy has no log
 * and no free pages; it appears under its name only when it is whole and synced. Keys and tokens are not copied.
 * @throws StorageError when there is no store, another schema, a copy already, or no room.
 */
export function backupStore(directory: string, target: string): Backup {
  const file = databaseFile(target);
  if (existsSync(file)) {
    throw new StorageError(`${file} exists and is not overwritten: name another folder, or move this one away`,
      'storage-failed', { details: { file } });
  }
  const database = openForReading(directory);
  const unfinished = `${file}.part`;
  try {
    mkdirSync(target, { recursive: true, mode: 0o700 });
    rmSync(unfinished, { force: true });
    // Rows and secrets are in it: nobody else may read it from its first byte on.
    closeSync(openSync(unfinished, 'wx', 0o600));
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
