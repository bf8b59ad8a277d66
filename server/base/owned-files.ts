import {
  closeSync, constants, fchownSync, mkdirSync, openSync, rmSync, statSync,
} from 'node:fs';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import process from 'node:process';
import { codeOf } from '../../src/base/errors.js';

/*
 * Who owns the files of a folder. A service runs as a user of its own, who owns its data folder. A
 * command that root runs there must leave nothing that this user cannot open afterwards. So each
 * file that root makes goes to the owner of the folder that it is in.
 *
 * The owner may be hostile to root: a link in the place of a new file must not lead root to give
 * away another file. So the file is made by this process (O_EXCL follows no link), and its owner is
 * changed over the descriptor.
 */

/**
 * Makes a file with mode 0600. @returns its descriptor, for writing.
 * @throws Error EEXIST when there is one, and others of the system.
 */
export function createOwned(path: string): number {
  const file = openSync(path, 'wx', 0o600);
  try {
    keepOwner(file, path);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The same for a draft that will replace another file. One of an interrupted run is removed. */
export function createDraft(path: string): number {
  rmSync(path, { force: true });
  return createOwned(path);
}

/** Makes an empty file where there is none. @throws Error of the system. */
export function ensureOwned(path: string): void {
  try {
    closeSync(createOwned(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** Makes a folder with mode 0700, and those above it, where there is none. */
export function makeOwnedFolder(path: string): void {
  if (mkdirSync(path, { recursive: true, mode: 0o700 }) === undefined) return;
  if (platform() === 'win32') return;
  const folder = openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    keepOwner(folder, path);
  } finally {
    closeSync(folder);
  }
}

/**
 * Transfers a file or folder that this process has just made, and holds open, to the owner of its
 * folder. Only root can. Without the right to change owners, as in some containers, the file stays
 * as it is.
 */
export function keepOwner(file: number, path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid === 0) return;
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
  }
}
