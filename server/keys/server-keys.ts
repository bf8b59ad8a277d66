import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { signing } from '#signing';
import { toBase64, toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import type { KeyRotation } from '../../src/signing/index.js';
import { serverSeedIn, settleRotation } from './key-rotation.js';
import { createSecret, readSecret } from '../base/secret-files.js';

/** The secrets of a data folder. Their paths may be printed, their values must not. */
export interface ServerKeys {
  /**
   * 32 bytes: the seed of the key that signs releases. Its holder can sign in this server's name.
   */
  readonly seed: Uint8Array;
  readonly operatorToken: string;
  readonly paths: { readonly serverKey: string; readonly operatorToken: string };
  /** Files that this start created. */
  readonly created: readonly string[];
}

/**
 * Reads DIR/server.key (64 hexadecimal digits) and DIR/operator.token. Creates missing ones with
 * mode 0600. Finishes a change of the key that a crash interrupted.
 * @param rotations the changes of the key in the folder's store, oldest first. They must lead to
 *   the key in the file.
 * @param signedWith used when there are no changes: the key that the releases in the store name;
 *   null when there are none.
 * @throws InvalidInputError when a file is unreadable, when other users can read it, when it holds
 *   no key, or when its key is not the one that the store says is in force.
 */
export function openServerKeys(
  directory: string, rotations: readonly KeyRotation[] = [], signedWith: Uint8Array | null = null,
): ServerKeys {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const paths = {
    serverKey: join(directory, 'server.key'), operatorToken: join(directory, 'operator.token'),
  };
  const created: string[] = [];
  const read = (path: string, make: () => string): string => {
    if (createSecret(path, make)) created.push(path);
    return readSecret(path);
  };
  // A key that was changed, or that has signed something, is never created again: if it is missing,
  // it must be restored.
  if (rotations.length === 0 && signedWith === null) {
    read(paths.serverKey, () => toHex(signing.generateSeed()));
  }
  settleRotation(paths.serverKey, rotations, signedWith);
  const seed = serverSeedIn(paths.serverKey);
  const operatorToken = read(paths.operatorToken, () => urlText(signing.randomBytes(32)));
  if (!/^[A-Za-z0-9_-]{32,128}$/.test(operatorToken)) {
    throw new InvalidInputError(
      `${paths.operatorToken} does not hold a token of 32 to 128 letters, digits, - and _: remove `
      + 'it to get a fresh one',
      { path: paths.operatorToken });
  }
  return { seed, operatorToken, paths, created };
}

function urlText(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
