import { concatBytes, equalBytes } from '../base/bytes.js';
import { WireError } from '../base/errors.js';
import { keyRotationsMax } from '../base/key-rotations-max.js';
import type { Signer, Signing, Verifier } from './contract.js';
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

function rotationMessage(
  previousKey: Uint8Array, nextKey: Uint8Array, signing: Pick<Signing, 'sha512'>,
): Uint8Array {
  return signedMessage(
    'rotation', { serverKey: previousKey, studyId: noStudy }, null, signing.sha512(nextKey),
  );
}

/** Makes the record that `next` replaces `previous`. */
export function signRotation(
  previous: Signer, next: Signer, signing: Pick<Signing, 'sha512'>,
): KeyRotation {
  const message = rotationMessage(previous.publicKey, next.publicKey, signing);
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
  // A Welcome full of well-signed records would keep a page busy for a minute.
  if (rotations.length > keyRotationsMax
      || rotations.some(({ length }) => length !== keyRotationBytes)) throw brokenChain();
  const keys = [signing.createVerifier(rotations[0]?.subarray(0, 32) ?? serverKey)];
  for (const rotation of rotations) {
    const { previousKey, nextKey } = keysOfRotation(rotation);
    const message = rotationMessage(previousKey, nextKey, signing);
    const previous = keys.at(-1)!;
    const next = signing.createVerifier(nextKey);
    if (
      !equalBytes(previous.publicKey, previousKey)
      || !previous.verify(message, rotation.subarray(64, 128))
      || !next.verify(message, rotation.subarray(128))
    ) throw brokenChain();
    keys.push(next);
  }
  if (!equalBytes(keys.at(-1)!.publicKey, serverKey)) throw brokenChain();
  return keys;
}

function brokenChain(): WireError {
  return new WireError(
    'bad-signature', 'the server\'s keys are not signed by each other, or out of order',
  );
}
