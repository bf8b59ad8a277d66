import { signing } from '#signing';
import { equalBytes, toHex } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { protocolLimits } from '../../src/base/limits.js';
import { keysOfRotation, signRotation, type KeyRotation } from '../../src/signing/index.js';
import { isSealed, keyOfReleases } from './release-key.js';
import {
  createSecret, eraseSecret, isSecretThere, replaceSecret, seedIn,
} from '../base/secret-files.js';
import type { Store } from '../store/contract.js';

const nextOf = (path: string): string => `${path}.next`;
const oldOf = (path: string): string => `${path}.old`;

/** The part of the store that a key rotation needs. */
export type RotationStore =
  Pick<Required<Store>, 'rotations' | 'addRotation' | 'studies' | 'releases'>;

/**
 * Gives the server a new key: the store gets the record that both keys sign, the key file is
 * replaced, and the old private key is erased. The caller holds the folder's lock, so no server
 * signs during the change.
 *
 * Claim: a crash between any two steps leaves exactly one key in force, the one that the store's
 * records lead to, and its private half is on the disk. The steps:
 * - the next key is durable beside the old one;
 * - the record is durable; from here on the next key is in force;
 * - a rename replaces the file;
 * - the old key is erased.
 * After a crash before the record, `settleRotation` deletes the next key. After a later crash, it
 * does the missing steps.
 * @param path of server.key.
 * @throws InvalidInputError when there is no key yet, when its file holds something else, when a
 *   sealed study of the folder has not ended (nothing is created or erased then), or when the key
 *   was changed as often as a server can.
 */
export async function rotateServerKey(
  path: string, store: RotationStore, nowMs: number,
): Promise<KeyRotation> {
  const before = await store.rotations();
  if (!isSecretThere(path)) {
    throw new InvalidInputError(
      `${path} is missing: there is no key to change; "keelson serve" makes the first`, { path },
    );
  }
  await refuseForSealed(path, store);
  settleRotation(path, before, before.length === 0 ? await keyOfReleases(store) : null);
  if (before.length >= protocolLimits.keyRotations) {
    throw new InvalidInputError(
      `this server has changed its key ${protocolLimits.keyRotations} times, which is all that it `
      + 'can show to clients: start a new data folder', { path },
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
 * The keys of the three servers are facts of a sealed study, and the two others accept no other
 * key. So this server could no longer run its part, or serve the study's log.
 */
async function refuseForSealed(path: string, store: RotationStore): Promise<void> {
  const names = (await store.studies())
    .filter(({ state, document }) => state !== 'ended' && isSealed(document))
    .map(({ name }) => name);
  if (names.length === 0) return;
  throw new InvalidInputError(
    `the key of this data folder is a fact of the sealed study ${names.join(', ')}: with another `
    + 'key the three servers could not go on with it, so nothing was changed. To use another key, '
    + 'make a new data folder ("keelson keys server --data DIR" prints its key), and begin a new '
    + 'study with that key at all three servers', { path, studies: names },
  );
}

/**
 * Finishes a change of the key that a crash interrupted, as the store's records say. Does nothing
 * when there was none.
 * @param signedWith used when there are no records: the key that the folder's releases name, or
 *   null.
 * @throws InvalidInputError when the key file holds another key than the one that the records lead
 *   to, or that the releases name. Nothing is erased then.
 */
export function settleRotation(
  path: string, rotations: readonly KeyRotation[], signedWith: Uint8Array | null,
): void {
  const inForce = rotations.length === 0 ? null : keysOfRotation(rotations.at(-1)!).nextKey;
  if (isSecretThere(nextOf(path))) {
    // The right key is in the file, so the next key is unused. Its file may be half erased, so it
    // is not read.
    if (inForce === null || seemsToHold(path, inForce)) eraseSecret(nextOf(path));
    else if (seemsToHold(nextOf(path), inForce)) replaceSecret(path, nextOf(path), oldOf(path));
  }
  if (inForce !== null && !holds(path, inForce)) {
    throw new InvalidInputError(
      `${path} does not hold the key that the data folder's last change of keys led to `
      + `(${toHex(inForce)}): restore that key from a copy; clients refuse what another key `
      + 'signs', { path },
    );
  }
  if (inForce !== null) eraseSecret(oldOf(path));
  else if (signedWith !== null && !holds(path, signedWith)) {
    throw new InvalidInputError(
      `${path} does not hold the key that signed the releases in the data folder `
      + `(${toHex(signedWith)}): restore that one from a copy, or, where the key was changed after `
      + 'this store was copied, a store from after the change', { path },
    );
  }
}

function holds(path: string, publicKey: Uint8Array): boolean {
  return equalBytes(signing.createSigner(serverSeedIn(path)).publicKey, publicKey);
}

/** The 32 bytes in a file of the server's key. @throws InvalidInputError as `seedIn`. */
export function serverSeedIn(path: string): Uint8Array {
  return seedIn(path, 'restore it from a copy; with another key, clients that pinned this server '
    + 'will refuse it');
}

/** As `holds`, but false for a file that cannot be read. */
function seemsToHold(path: string, publicKey: Uint8Array): boolean {
  try {
    return holds(path, publicKey);
  } catch (error) {
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
}
