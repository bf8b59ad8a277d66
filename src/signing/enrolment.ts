import { concatBytes, fromUtf8, utf8 } from '../base/bytes.js';
import { InvalidParameterError } from '../base/errors.js';
import { factsLimits, isName, nameRule } from '../base/facts-limits.js';
import type { Signer, Signing, Verifier } from './contract.js';
import { checkPublicKey } from './keys.js';
import { noStudy, signedMessage } from './message.js';

const signatureBytes = 64;
const expiryBytes = 8;

/** Longest token: signature, expiry, and the longest name of a study in UTF-8. */
export const enrolmentBytesMax = signatureBytes + expiryBytes + 4 * factsLimits.nameLength;

/** The facts that an enrolment token states about its key. */
export interface Enrolment {
  /** Name of the only study that the token is for; null: every study that names the issuer. */
  readonly study: string | null;
  /** Unix time in milliseconds, by the server's clock. The token is invalid from then on. */
  readonly expiresAtMs: number;
}

/** The fields of a token whose signature is not checked yet. */
export interface ClaimedEnrolment extends Enrolment {
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

type Hashing = Pick<Signing, 'sha512'>;

/**
 * Lets one key contribute until a time. The token is 64 bytes of signature, the expiry as a
 * big-endian uint64, and the name of the study in UTF-8. Without a name it is for all studies of
 * the issuer. The signature covers the label "enrol", the issuer's key in the place of a server's,
 * the contributor's key, and SHA-512 of all that follows the signature. So it is valid for no other
 * key, no other issuer and no other message.
 * @throws InvalidParameterError for a name or a time that no token can hold;
 *   WireError('invalid-key') for a contributor's key under which signatures prove nothing.
 */
export function issueEnrolment(
  issuer: Signer, contributor: Uint8Array, enrolment: Enrolment, hashing: Hashing,
): Uint8Array {
  checkPublicKey(contributor);
  const { study, expiresAtMs } = enrolment;
  if (study !== null && !isName(study)) {
    throw new InvalidParameterError(`the study of an enrolment is ${nameRule}`);
  }
  if (!Number.isSafeInteger(expiresAtMs) || expiresAtMs <= 0) {
    throw new InvalidParameterError(
      'an enrolment expires at a Unix time in whole milliseconds', { expiresAtMs },
    );
  }
  const expiry = new Uint8Array(expiryBytes);
  new DataView(expiry.buffer).setBigUint64(0, BigInt(expiresAtMs));
  const body = concatBytes(expiry, utf8(study ?? ''));
  return concatBytes(issuer.sign(messageOf(issuer.publicKey, contributor, body, hashing)), body);
}

/** @returns undefined for bytes that are not a token. Does not check the signature. */
export function readEnrolment(token: Uint8Array): ClaimedEnrolment | undefined {
  if (token.length < signatureBytes + expiryBytes || token.length > enrolmentBytesMax) {
    return undefined;
  }
  const body = token.slice(signatureBytes);
  const expiresAtMs = Number(new DataView(body.buffer).getBigUint64(0));
  const name = textOf(body.subarray(expiryBytes));
  if (name === undefined || (name !== '' && !isName(name)) || !Number.isSafeInteger(expiresAtMs)) {
    return undefined;
  }
  return {
    study: name === '' ? null : name, expiresAtMs, body, signature: token.slice(0, signatureBytes),
  };
}

/**
 * True if the issuer signed exactly this for exactly this key. Does not check the time. Cost: one
 * verification.
 */
export function verifyEnrolment(
  issuer: Verifier, contributor: Uint8Array, { body, signature }: ClaimedEnrolment,
  hashing: Hashing,
): boolean {
  return issuer.verify(messageOf(issuer.publicKey, contributor, body, hashing), signature);
}

function messageOf(
  issuer: Uint8Array, contributor: Uint8Array, body: Uint8Array, hashing: Hashing,
): Uint8Array {
  return signedMessage(
    'enrol', { serverKey: issuer, studyId: noStudy }, contributor, hashing.sha512(body),
  );
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return fromUtf8(bytes);
  } catch {
    return undefined;
  }
}
