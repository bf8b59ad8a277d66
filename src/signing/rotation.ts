import { concatBytes, equalBytes } from '../base/bytes.js';
import { WireError } from '../base/errors.js';
import { keyRotationsMax } from '../base/key-rotations-max.js';
import type { AsyncSigning, AsyncVerifier, Signer, Signing, Verifier } from './contract.js';
import { noStudy, signedMessage } from './message.js';

/**
 * The record of a change of the server's key, 192 bytes: the old key (32), the new key (32), and
 * the signatures of both (64 each, label "rotation") over the same message. The old key's signature
 * lets readers who trust the old key trust the new one. The new key's signature lets readers who
 * know only the new key check older releases.
 */
export type KeyRotation = Uint8Array;

/** Bytes of a KeyRotation. */
export const keyRotationBytes = 192;

/** The two keys in a rotation, as views. */
export function keysOfRotation(rotation: KeyRotation): {
  readonly previousKey: Uint8Array; readonly nextKey: Uint8Array;
} {
  return { previousKey: rotation.subarray(0, 32), nextKey: rotation.subarray(32, 64) };
}

/** @param digest SHA-512 of the next key. */
function rotationMessage(previousKey: Uint8Array, digest: Uint8Array): Uint8Array {
  return signedMessage('rotation', { serverKey: previousKey, studyId: noStudy }, null, digest);
}

/** Makes the record that `next` replaces `previous`. */
export function signRotation(
  previous: Signer, next: Signer, signing: Pick<Signing, 'sha512'>,
): KeyRotation {
  const message = rotationMessage(previous.publicKey, signing.sha512(next.publicKey));
  return concatBytes(
    previous.publicKey, next.publicKey, previous.sign(message), next.sign(message),
  );
}

/**
 * The keys of a server, oldest first, its present key last. Each record is checked: its old key is
 * the new key of the record before, and both its keys signed it. So a reader who trusts any of
 * these keys may trust the last one for what is signed from now on, and the earlier ones for what
 * came before.
 * @param rotations in order; none for a server that never changed its key.
 * @param serverKey 32 bytes: the present key.
 * @throws WireError('bad-signature') for a record that both keys did not sign or that does not
 *   continue the one before, and for more records than a server makes; WireError('invalid-key') for
 *   keys that prove nothing.
 */
export function keyChain(
  rotations: readonly KeyRotation[], serverKey: Uint8Array,
  signing: Pick<Signing, 'sha512' | 'createVerifier'>,
): Verifier[] {
  const keys = keysIn(rotations, serverKey).map((key) => signing.createVerifier(key));
  rotations.forEach((rotation, i) => {
    const [previous, next] = [keys[i]!, keys[i + 1]!];
    const message = rotationMessage(previous.publicKey, signing.sha512(next.publicKey));
    if (!previous.verify(message, rotation.subarray(64, 128))
      || !next.verify(message, rotation.subarray(128))) throw brokenChain();
  });
  return keys;
}

/** As `keyChain`, where signatures are checked asynchronously. */
export async function keyChainSoon(
  rotations: readonly KeyRotation[], serverKey: Uint8Array,
  signing: Pick<AsyncSigning, 'sha512' | 'createVerifier'>,
): Promise<AsyncVerifier[]> {
  const keys = keysIn(rotations, serverKey).map((key) => signing.createVerifier(key));
  for (const [i, rotation] of rotations.entries()) {
    const [previous, next] = [keys[i]!, keys[i + 1]!];
    const message = rotationMessage(previous.publicKey, await signing.sha512(next.publicKey));
    if (!await previous.verify(message, rotation.subarray(64, 128))
      || !await next.verify(message, rotation.subarray(128))) throw brokenChain();
  }
  return keys;
}

/** The keys that the records name, one more than records. Checks no signature. */
function keysIn(rotations: readonly KeyRotation[], serverKey: Uint8Array): Uint8Array[] {
  // A Welcome full of well-signed records would keep a page busy for a minute.
  if (rotations.length > keyRotationsMax
      || rotations.some(({ length }) => length !== keyRotationBytes)) throw brokenChain();
  const pairs = rotations.map(keysOfRotation);
  const keys = [...pairs.map(({ previousKey }) => previousKey), serverKey];
  if (pairs.some(({ nextKey }, i) => !equalBytes(nextKey, keys[i + 1]!))) throw brokenChain();
  return keys;
}

function brokenChain(): WireError {
  return new WireError(
    'bad-signature', 'the server\'s keys are not signed by each other, or out of order',
  );
}
