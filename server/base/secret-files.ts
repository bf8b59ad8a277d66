import {
  closeSync, constants, fchmodSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync,
  renameSync, unlinkSync, writeSync,
} from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { signing } from '#signing';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { codeOf, InvalidInputError } from '../../src/base/errors.js';
import { createOwned } from './owned-files.js';

/** Windows has no file modes, and cannot open folders. */
const isWindows = platform() === 'win32';

/**
 * Creates a file with mode 0600 that holds a secret; false when the file exists. Where root makes
 * it, it goes to the owner of its folder. It is written under another name and then linked. So a
 * crash leaves either nothing or the whole secret, and two simultaneous starts get the same secret.
 * @throws InvalidInputError when its folder is missing or may not be written.
 */
export function createSecret(path: string, make: () => string): boolean {
  const draft = `${path}.${toHex(signing.randomBytes(6))}.new`;
  const existing = openIfThere(path);
  if (existing !== undefined) {
    closeSync(existing);
    return false;
  }
  const file = openDraft(draft, path);
  try {
    // The umask may have removed the owner's own access. This restores it.
    fchmodSync(file, 0o600);
    writeSync(file, `${make()}\n`);
    fsyncSync(file);
    linkSync(draft, path);
    syncFolder(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    closeSync(file);
    unlinkSync(draft);
  }
}

/**
 * The trimmed text of a secret's file. The mode is read from the open file, so the file cannot be
 * swapped in between.
 * @throws InvalidInputError when it is missing, unreadable or too large, or when other users can
 *   read it.
 */
export function readSecret(path: string, bytesMost = 1_024): string {
  const file = openIfThere(path);
  if (file === undefined) {
    throw new InvalidInputError(
      `${path} is missing: there is no such file; check the path, or restore it`, { path },
    );
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) {
      throw new InvalidInputError(`${path} is a folder or device: name a file`, { path });
    }
    const { mode, size } = found;
    if (!isWindows && (mode & 0o077) !== 0) {
      const text = (mode & 0o777).toString(8).padStart(4, '0');
      throw new InvalidInputError(
        `${path} has mode ${text}, so others on this machine can read it: run chmod 600 ${path}, `
        + 'and replace the secret if somebody may have', { path, mode: text });
    }
    if (size > bytesMost) {
      throw new InvalidInputError(`${path} is too large to be a key: check the path`, { path });
    }
    return readFileSync(file, 'utf8').trim();
  } finally {
    closeSync(file);
  }
}

/**
 * The 32 bytes in the file of a key.
 * @param remedy for a file with other contents.
 * @throws InvalidInputError as `readSecret`, and when the file does not hold 64 hexadecimal digits.
 */
export function seedIn(path: string, remedy: string): Uint8Array {
  const text = readSecret(path);
  if (/^[0-9a-f]{64}$/i.test(text)) return fromHex(text);
  throw new InvalidInputError(
    `${path} does not hold a key of 64 hexadecimal digits: ${remedy}`, { path },
  );
}

/** True when the file exists. @throws InvalidInputError when this cannot be found out. */
export function isSecretThere(path: string): boolean {
  const file = openIfThere(path);
  if (file === undefined) return false;
  closeSync(file);
  return true;
}

/**
 * Puts the secret `next` in the place of `path`, and keeps the earlier secret under the name `old`.
 * A crash leaves one of the two, complete, at `path`. A second call continues from there.
 */
export function replaceSecret(path: string, next: string, old: string): void {
  try {
    linkSync(path, old);
  } catch (error) {
    // A first try has made `old` already, or there is no earlier secret to keep.
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOENT') throw error;
  }
  syncFolder(path);
  renameSync(next, path);
  syncFolder(path);
}

/**
 * Overwrites the file with zeros and removes it. Does nothing when it is missing. A disk may still
 * keep older blocks.
 */
export function eraseSecret(path: string): void {
  let file: number;
  try {
    file = openSync(path, 'r+');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw unreadable(path, error);
  }
  try {
    writeSync(file, new Uint8Array(fstatSync(file).size), 0, null, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  unlinkSync(path);
  syncFolder(path);
}

/**
 * Makes a new or renamed file's name durable. Otherwise a power failure may undo it.
 */
export function syncFolder(path: string): void {
  if (isWindows) return;
  const folder = openSync(join(path, '..'), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function openDraft(draft: string, path: string): number {
  try {
    return createOwned(draft);
  } catch (error) {
    const why = codeOf(error) === 'ENOENT'
      ? 'there is no such folder' : codeOf(error);
    throw new InvalidInputError(
      `${path} cannot be made (${why}): check its folder, and who may write there`, { path },
    );
  }
}

function openIfThere(path: string): number | undefined {
  try {
    // Without O_NONBLOCK, opening a pipe would wait for its writer and could not be interrupted.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
}

const causes: Readonly<Record<string, string>> = {
  ENOTDIR: 'a part of the path is not a folder: check the path',
  ELOOP: 'its links lead back to each other: check the path',
  ENAMETOOLONG: 'the path is too long: check it',
  EACCES: 'permission denied: check its owner and mode 0600, and who may enter its folder',
};

function unreadable(path: string, cause: unknown): InvalidInputError {
  const code = codeOf(cause);
  const why = causes[code] ?? `the system answered ${code}: check its owner and mode 0600`;
  return new InvalidInputError(`${path} cannot be read: ${why}`, { path });
}
