/**
 * Signatures without an implementation: the types, the bytes that are signed, and the check of
 * keys. `signing` itself comes from `#signing`, which is node:crypto on Node and tweetnacl
 * elsewhere; contributors take theirs from `#async-signing`.
 */
export type {
  AsyncSigner, AsyncSigning, AsyncVerifier, ContributorCipher, KeyAgreement, SignatureLabel, Signer,
  Signing, Soon, Verifier,
} from './contract.js';
export { enrolmentBytesMax, issueEnrolment, readEnrolment, verifyEnrolment } from './enrolment.js';
export type { ClaimedEnrolment, Enrolment } from './enrolment.js';
export {
  blindEnrolment, blindEnrolmentBytes, modulusBytes, modulusOf, readBlindEnrolment, tokenChallenge,
  tokenInput, tokenKeyOf, tokenNonce,
} from './blind-token.js';
export type { ClaimedBlindToken } from './blind-token.js';
export { withAhead } from './ahead.js';
export type { AheadVerifier } from './ahead.js';
export {
  frameKinds, keyLabels, openMessage, putNonce, shareBytes, sharesBytes, signShare,
  statedDigestBytes, tagBytes, verifyShare,
} from './channel-keys.js';
export type { ChannelShares, FrameKind } from './channel-keys.js';
export { keyFingerprint } from './fingerprint.js';
export { checkPublicKey } from './keys.js';
export {
  protocolVersion, signBatch, signedMessage, signedMessageBytes, signHello, signReady,
  signStatement, signWithdrawal, verifyBatch, verifyHello, verifyReady, verifyStatement,
  verifyWithdrawal,
} from './message.js';
export {
  keyChain, keyChainSoon, keyRotationBytes, keysOfRotation, signRotation,
} from './rotation.js';
export type { KeyRotation } from './rotation.js';
export type { Nonces, ServerStatement, SignatureContext } from './message.js';
