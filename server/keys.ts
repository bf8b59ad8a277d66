import {
  closeSync, fchmodSync, fstatSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { signing } from '#signing';
import { fromHex, toBase64, toHex } from '../src/base/bytes.js';
import { InvalidInputError } from '../src/base/errors.js';

/** The secrets of a data folder. Their paths may be printed, their values never. */
export interface ServerKeys {
  /** 32 bytes: the seed of the key that signs releases. Who has it can sign in this server's name. */
  readonly seed: Uint8Array;
  readonly operatorToken: string;
  readonly paths: { readonly serverKey: string; readonly operatorToken: string };
  /** Files that did not exist before. */
  readonly created: readonly string[];
}

/**
 * Reads DIR/server.key (64 hexadecimal digits) and DIR/operator.token, and makes those that are missing, with mode
 * 0600.
 * @throws InvalidInputError when a file can be read by others than its owner, is not readable, or does not hold a key.
 */
export function openServerKeys(directory: string): ServerKeys {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const paths = { serverKey: join(directory, 'server.key'), operatorToken: join(directory, 'operator.token') };
  const created: string[] = [];
  const read = (path: string, make: () => string): string => {
    if (createSecret(path, make)) created.push(path);
    return readSecret(path);
  };
  const seed = read(paths.serverKey, () => toHex(signing.generateSeed()));
  const operatorToken = read(paths.operatorToken, () => urlText(signing.randomBytes(32)));
  if (!/^[0-9a-f]{64}$/.test(seed)) {
    throw new InvalidInputError(
      `${paths.serverKey} does not hold a key of 64 hexadecimal digits: restore it from a copy; with another key, `
      + 'clients that pinned this server will refuse it', { path: paths.serverKey });
  }
  if (!/^[A-Za-z0-9_-]{32,128}$/.test(operatorToken)) {
    throw new InvalidInputError(
      `${paths.operatorToken} does not hold a token of 32 to 128 letters, digits, - and _: remove it `
      + 'to get a fresh one',
      { path: paths.operatorToken });
  }
  return { seed: fromHex(seed), operatorToken, paths, created };
}

/**
 * False when the file is there. Written under another name and linked, so that a crash leaves either nothing or the
 * whole secret, and two starts at once agree on one.
 */
function createSecret(path: string, make: () => string): boolean {
  const draft = `${path}.${toHex(signing.randomBytes(6))}.new`;
  const existing = openIfThere(path);
  if (existing !== undefined) {
    closeSync(existing);
    return false;
  }
  const file = openSync(draft, 'wx', 0o600);
  try {
    // The umask can only narrow the mode asked for; this restores the owner's own access.
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
 * The name itself must survive a power cut: a server that came back with another key would be refused by its clients.
 */
function syncFolder(path: string): void {
  const folder = openSync(join(path, '..'), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unreadable(path, error);
  }
}

/** The mode is read from the open file, so that nothing can be swapped in between. */
function readSecret(path: string): string {
  const file = openIfThere(path);
  if (file === undefined) throw unreadable(path, undefined);
  try {
    const { mode, size } = fstatSync(file);
    if ((mode & 0o077) !== 0) {
      const text = (mode & 0o777).toString(8).padStart(4, '0');
      throw new InvalidInputError(
        `${path} has mode ${text}, so others on this machine can read it: run chmod 600 ${path}, `
        + 'and replace the secret if somebody may have', { path, mode: text });
    }
    if (size > 1_024) throw new InvalidInputError(`${path} is too large to be a key`, { path });
    return readFileSync(file, 'utf8').trim();
  } finally {
    closeSync(file);
  }
}

function unreadable(path: string, cause: unknown): InvalidInputError {
  return new InvalidInputError(
    `${path} cannot be read (${codeOf(cause) ?? 'missing'}): check its owner and mode 0600`, { path },
  );
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function urlText(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
