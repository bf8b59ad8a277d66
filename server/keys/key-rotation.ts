import { signing } from '#signing';
import { equalBytes, toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { limits } from '../../src/base/limits.js';
import { keysOfRotation, signRotation, type KeyRotation } from '../../src/signing/index.js';
import { keyOfReleases } from './release-key.js';
import { createSecret, eraseSecret, isSecretThere, replaceSecret, seedIn } from '../base/secret-files.js';
import type { Store } from '../store/contract.js';

const nextOf = (path: string): string => `${path}.next`;
const oldOf = (path: string): string => `${path}.old`;

/** The store's part in a change of the key. */
export type RotationStore = Pick<Required<Store>, 'rotations' | 'addRotation' | 'studies' | 'releases'>;

/**
 * Gives the server a fresh key: the record that both keys sign goes into the store, the key file is replaced, and the old
 * private key erased. The caller holds the folder's lock, so no server signs meanwhile.
 *
 * Claim: a crash between any two steps leaves exactly one key in force, the one that the store's records lead to, and its
 * private half on the disk. The steps: the next key is durable beside the old one; the record is durable (from here on the
 * next one is in force); the file is replaced in one rename; the old one is erased. Before the record, `settleRotation`
 * throws the next key away; after it, it goes on with the steps that are missing.
 * @param path of server.key.
 * @throws InvalidInputError when there is no key yet, its file holds something else (nothing is made then), or it was
 *   changed as often as a server can.
 */
export async function rotateServerKey(path: string, store: RotationStore, nowMs: number): Promise<KeyRotation> {
  const before = await store.rotations();
  if (!isSecretThere(path)) {
    throw new InvalidInputError(`${path} is missing: there is no key to change; "keelson serve" makes the first`, { path });
  }
  settleRotation(path, before, before.length === 0 ? await keyOfReleases(store) : null);
  if (before.length >= limits.keyRotations) {
    throw new InvalidInputError(
      `this server has changed its key ${limits.keyRotations} times, which is all that it can show to clients: `
      + 'start a new data folder', { path },
    );
  }
  const previous = signing.createSigner(serverSeedIn(path));
  createSecret(nextOf(path), () => toHex(signing.generateSeed()));
  const next = signing.createSigner(serverSeedIn(nextOf(path)));
  const rotation = signRotation(previous, next, signing);
  await store.addRotation(rotation, nowMs);
  settleRotation(path, [...before, rotation], null);
  return rotation;
}

/**
 * Finishes a change of the key that was cut short, by what the store's records say; nothing when there was none.
 * @param signedWith where there are no records: the key that the folder's releases name, or null.
 * @throws InvalidInputError when the key file holds another key than the records lead to, or than the releases name:
 *   nothing is erased then.
 */
export function settleRotation(path: string, rotations: readonly KeyRotation[], signedWith: Uint8Array | null): void {
  const inForce = rotations.length === 0 ? null : keysOfRotation(rotations.at(-1)!).nextKey;
  if (isSecretThere(nextOf(path))) {
    // Where the key is in force already, the next one never was; it may be half erased, so nobody reads it.
    if (inForce === null || seemsToHold(path, inForce)) eraseSecret(nextOf(path));
    else if (seemsToHold(nextOf(path), inForce)) replaceSecret(path, nextOf(path), oldOf(path));
  }
  if (inForce !== null && !holds(path, inForce)) {
    throw new InvalidInputError(
      `${path} does not hold the key that the data folder's last change of keys led to (${toHex(inForce)}): restore that `
      + 'one from a copy; what another key signs, nobody would believe', { path },
    );
  }
  if (inForce !== null) eraseSecret(oldOf(path));
  else if (signedWith !== null && !holds(path, signedWith)) {
    throw new InvalidInputError(
      `${path} does not hold the key that signed the releases in the data folder (${toHex(signedWith)}): restore that one `
      + 'from a copy, or, where the key was changed after this store was copied, a store from after the change', { path },
    );
  }
}

function holds(path: string, publicKey: Uint8Array): boolean {
  return equalBytes(signing.createSigner(serverSeedIn(path)).publicKey, publicKey);
}

/** The 32 bytes in a file of the server's key. @throws InvalidInputError as `seedIn`. */
export function serverSeedIn(path: string): Uint8Array {
  return seedIn(path, 'restore it from a copy; with another key, clients that pinned this server will refuse it');
}

/** The same, but a file that cannot be read holds nothing. */
function seemsToHold(path: string, publicKey: Uint8Array): boolean {
  try {
    return holds(path, publicKey);
  } catch (error) {
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}
