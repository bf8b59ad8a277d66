import { constants, createHash, createPublicKey, verify } from 'node:crypto';
import { signing } from '#signing';
import { equalBytes, fromHex, toHex } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { periodOfKey } from '../../src/base/token-periods.js';
import {
  readBlindEnrolment, readEnrolment, tokenChallenge, tokenNonce, verifyEnrolment,
} from '../../src/signing/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { StudyView } from '../studies/contract.js';

type Asked = Pick<StudyDocument, 'study' | 'admission'>;
type Admission<Kind> = Extract<StudyDocument['admission'], { readonly kind: Kind }>;

/** Until when a key may contribute. */
export interface EnrolledTime {
  /** Unix ms. Infinite if the study needs no token. */
  readonly untilMs: number;
  /**
   * Set with a blind token: it is for the epochs that open from this Unix time until `untilMs`.
   * Without it the clock decides about each batch.
   */
  readonly epochsFromMs?: number;
}

/** A token whose signature is not checked yet. */
export interface EnrolmentClaim extends EnrolledTime {
  /** True if the study's issuer signed it for this key. Cost: one verification. */
  isIssuedTo(contributor: Uint8Array): boolean;
}

/** The enrolment of every key in a study that needs no token. */
export const alwaysEnrolled: EnrolledTime = { untilMs: Infinity };

/**
 * Judges an enrolment token without its signature, so that a Hello without a token costs nothing.
 * An expired token is a claim too: its key may still take back rows that it sent while the token
 * was valid.
 * @returns null when the study needs no token; a code when the token cannot be used.
 */
export function claimedEnrolment(
  { study, admission }: Asked, token: Uint8Array | undefined,
): EnrolmentClaim | null | WireCode {
  if (admission.kind === 'enrolment') return signedClaim(study, admission, token) ?? 'not-enrolled';
  if (admission.kind === 'tokens') return blindClaim(study, admission, token) ?? 'not-enrolled';
  return null;
}

/**
 * True if nothing more is taken of a key. A blind token counts for an epoch that opened in its
 * period, to the end of that epoch.
 */
export function isEnrolmentOver(time: EnrolledTime, view: StudyView, nowMs: number): boolean {
  return nowMs >= time.untilMs && !(time.epochsFromMs !== undefined && isEpochOf(time, view));
}

/**
 * True if a batch for this epoch may go to the store. With a blind token it is only the open epoch,
 * and only if it opened in the token's period: so each person counts once in it. The store takes
 * the batch for no other epoch, since such studies have `late: drop`.
 */
export function mayCountIn(time: EnrolledTime, view: StudyView, epoch: bigint): boolean {
  return time.epochsFromMs === undefined || view.state !== 'open' || epoch < view.epoch
    || (epoch === view.epoch && isEpochOf(time, view));
}

function isEpochOf(
  { epochsFromMs = 0, untilMs }: EnrolledTime, { document, epoch, closesAtMs }: StudyView,
): boolean {
  if (epoch === 0n || !('everyMs' in document.epoch)) return false;
  const openedAtMs = closesAtMs - document.epoch.everyMs;
  return openedAtMs >= epochsFromMs && openedAtMs < untilMs;
}

function signedClaim(
  study: string, { issuer }: Admission<'enrolment'>, token: Uint8Array | undefined,
): EnrolmentClaim | undefined {
  const claim = token === undefined ? undefined : readEnrolment(token);
  if (claim === undefined || (claim.study !== null && claim.study !== study)) return undefined;
  return {
    untilMs: claim.expiresAtMs,
    isIssuedTo: (contributor) =>
      verifyEnrolment(signing.createVerifier(fromHex(issuer)), contributor, claim, signing),
  };
}

/**
 * A blind token of the study: RFC 9578, token type 2. Its key is one of those in the facts, its
 * challenge is the study's, and its nonce is made from the contributor's key. So a token admits one
 * key, in one study and one period, however often it is sent, and the server keeps no record of it.
 */
function blindClaim(
  study: string, admission: Admission<'tokens'>, token: Uint8Array | undefined,
): EnrolmentClaim | undefined {
  const claim = token === undefined ? undefined : readBlindEnrolment(token);
  if (claim === undefined) return undefined;
  const { input, nonce, challengeDigest, keyId, signature, salt, tokenKey } = claim;
  const period = periodOfKey(admission, toHex(keyId));
  const challenge = tokenChallenge(admission.issuer, study, signing);
  if (period === undefined || !equalBytes(keyId, sha256(tokenKey))
      || !equalBytes(challengeDigest, sha256(challenge))) return undefined;
  return {
    untilMs: period.untilMs, epochsFromMs: period.fromMs,
    isIssuedTo: (contributor) => equalBytes(nonce, tokenNonce(salt, contributor, signing))
      && isBlindSignature(tokenKey, input, signature),
  };
}

/** RSASSA-PSS with SHA-384 and a salt of 48 bytes. */
function isBlindSignature(
  tokenKey: Uint8Array, input: Uint8Array, signature: Uint8Array,
): boolean {
  const key = createPublicKey({ key: Buffer.from(tokenKey), format: 'der', type: 'spki' });
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return verify('sha384', input, { key, padding, saltLength: 48 }, signature);
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash('sha256').update(bytes).digest();
}
