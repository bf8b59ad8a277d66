import { signing } from '#signing';
import { createSecret, seedIn } from '../../server/base/secret-files.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { checkPublicKey, type Signer } from '../../src/signing/index.js';
import { UsageError } from './errors.js';

const keyPattern = /^[0-9a-fA-F]{64}$/;

/**
 * A public key from a flag: 64 hexadecimal digits.
 * @throws UsageError on any other text, and on a key that is not usable.
 */
export function publicKeyFlag(text: string, flag: string): Uint8Array {
  if (!keyPattern.test(text)) {
    throw new UsageError(`${flag} is a public key of 64 hexadecimal digits`, { flag });
  }
  const key = fromHex(text);
  try {
    checkPublicKey(key);
  } catch (error) {
    throw new UsageError(
      `${flag}: ${error instanceof Error ? error.message : 'not a usable key'}`, { flag },
    );
  }
  return key;
}

/**
 * The 32-byte secret in a key file of `keelson keys new`.
 * @throws InvalidInputError if the file is not a key file, or if other users may read it.
 */
export function readKeyFile(path: string): Uint8Array {
  return seedIn(path, `make one with "keelson keys new ${path}"`);
}

/**
 * Makes a key and writes its secret to a new file that only its owner can read (mode 0600).
 * @throws InvalidInputError if the file exists. It is never overwritten.
 */
export function makeKeyFile(path: string): Signer {
  const seed = signing.generateSeed();
  if (createSecret(path, () => toHex(seed))) return signing.createSigner(seed);
  throw new InvalidInputError(
    `${path} exists and is not overwritten: name another file, or move this one away`,
    { path },
  );
}
