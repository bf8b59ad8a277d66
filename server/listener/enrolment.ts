import { signing } from '#signing';
import { fromHex } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { readEnrolment, verifyEnrolment, type ClaimedEnrolment } from '../../src/signing/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

type Asked = Pick<StudyDocument, 'study' | 'admission'>;

/**
 * Judges an enrolment token without its signature, so that a Hello without a token costs nothing.
 * An expired token is a claim too: its key may still take back what it gave while the token was
 * valid.
 * @returns null when the study needs no token; a code when the token cannot be used.
 */
export function claimedEnrolment(
  { study, admission }: Asked, token: Uint8Array | undefined,
): ClaimedEnrolment | null | WireCode {
  if (admission.kind !== 'enrolment') return null;
  const claim = token === undefined ? undefined : readEnrolment(token);
  if (claim === undefined || (claim.study !== null && claim.study !== study)) return 'not-enrolled';
  return claim;
}

/** Whether the study's issuer signed the claim for this key. Cost: one verification. */
export function isIssued(
  { admission }: Asked, contributor: Uint8Array, claim: ClaimedEnrolment,
): boolean {
  if (admission.kind !== 'enrolment') return false;
  return verifyEnrolment(
    signing.createVerifier(fromHex(admission.issuer)), contributor, claim, signing,
  );
}
