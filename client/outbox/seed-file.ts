import { signing } from '#signing';
import { link, open, readFile, stat, unlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { resolve } from 'node:path';
import { toHex } from '../../src/base/bytes.js';
import { codeOf, InvalidInputError } from '../../src/base/errors.js';
import { readSeed } from '../base/seed.js';
import { syncFolder } from './folder.js';

/**
 * The contributor's secret seed in a key file, created by the first call: the format of `keelson
 * keys new`, mode 0600. Two simultaneous calls, even of two processes, get the same seed.
 * @param location a path; its folder must exist.
 * @throws InvalidInputError when the file is no key file, other users may read it, or it cannot be
 *   created.
 */
export async function openSeed(location: string): Promise<Uint8Array> {
  const path = resolve(location);
  try {
    return await readKey(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw asKeyError(error, path);
  }
  try {
    await createKey(path);
    return await readKey(path);
  } catch (error) {
    throw asKeyError(error, path);
  }
}

async function readKey(path: string): Promise<Uint8Array> {
  const file = await readFile(path);
  if (platform() !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) {
    throw new InvalidInputError(`${path} may be read by others: run "chmod 600 ${path}"`, { path });
  }
  return readSeed(file);
}

/**
 * Writes the key to a temporary file first, so that no reader gets half a key. A second caller
 * keeps the first one's key.
 */
async function createKey(path: string): Promise<void> {
  const draft = `${path}.${toHex(signing.randomBytes(8))}.new`;
  const file = await open(draft, 'wx', 0o600);
  try {
    try {
      await file.writeFile(`${toHex(signing.generateSeed())}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await unlink(draft);
  }
  await syncFolder(path);
}

function asKeyError(error: unknown, path: string): Error {
  if (error instanceof InvalidInputError) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new InvalidInputError(`the key file ${path} cannot be used: ${why}`, { path });
}
