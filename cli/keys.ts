import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { signing } from '#signing';
import { fromHex, toHex } from '../src/base/bytes.js';
import { InvalidInputError } from '../src/base/errors.js';
import { checkPublicKey, type Signer } from '../src/signing/index.js';
import { asInputError, UsageError } from './errors.js';

const keyPattern = /^[0-9a-fA-F]{64}$/;

/**
 * A public key as a flag gives it: 64 hexadecimal digits.
 * @throws UsageError on any other text and on a key that no honest holder has.
 */
export function publicKeyFlag(text: string, flag: string): Uint8Array {
  if (!keyPattern.test(text)) throw new UsageError(`${flag} is a public key of 64 hexadecimal digits`, { flag });
  const key = fromHex(text);
  try {
    checkPublicKey(key);
  } catch (error) {
    throw new UsageError(`${flag}: ${error instanceof Error ? error.message : 'not a usable key'}`, { flag });
  }
  return key;
}

/**
 * The 32-byte secret of a key file that `keelson keygen` wrote.
 * @throws InvalidInputError when the file is not one, or when others than its owner may read it.
 */
export function readKeyFile(path: string): Uint8Array {
  let text: string;
  let mode: number;
  try {
    mode = statSync(path).mode;
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw asInputError(error, path);
  }
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new InvalidInputError(`${path} may be read by others: run "chmod 600 ${path}"`, { path });
  }
  if (!keyPattern.test(text)) {
    throw new InvalidInputError(`${path} is not a key file: make one with "keelson keygen ${path}"`, { path });
  }
  return fromHex(text);
}

/**
 * Makes a key and writes its secret to a new file that only its owner reads (mode 0600).
 * @throws InvalidInputError when the file exists: it is not overwritten.
 */
export function makeKeyFile(path: string): Signer {
  const seed = signing.generateSeed();
  writeSecret(path, `${toHex(seed)}\n`);
  return signing.createSigner(seed);
}

/** Creates the file with mode 0600 in one step, so that nobody can read it in between. */
function writeSecret(path: string, text: string): void {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new InvalidInputError(
      `${path} exists and is not overwritten: name another file, or move this one away`,
      { path },
    );
  }
  try {
    // The umask can only narrow the mode asked for; this restores the owner's own access.
    chmodSync(path, 0o600);
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
