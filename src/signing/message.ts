import { concatBytes, utf8 } from '../base/bytes.js';
import { InvalidParameterError } from '../base/errors.js';
import type { SignatureLabel, Signer, Soon, Verifier } from './contract.js';

/**
 * Part of every signed message, so a signature of one protocol version is invalid in another.
 * `share` and `open` have version 2.
 */
export const protocolVersion = 1;

/**
 * Bytes of every signed message: 16 label, 4 version, 32 server key, 32 study id, 32 contributor
 * key, 64 payload.
 */
export const signedMessageBytes = 180;

const keyOffset = 20;
const noContributor = new Uint8Array(32);
/** Takes the place of the study id if a signature is about no single study. */
export const noStudy = new Uint8Array(32);

/** The context of a signature. All of it is public. */
export interface SignatureContext {
  /** 32 bytes: the Ed25519 key of the server that the signature is for or from. */
  readonly serverKey: Uint8Array;
  /** 32 bytes. */
  readonly studyId: Uint8Array;
}

export interface Nonces {
  /** 32 bytes, from Welcome. */
  readonly serverNonce: Uint8Array;
  /** 32 bytes, from Hello. */
  readonly clientNonce: Uint8Array;
}

// 16 bytes each: "keelson " and the label in ASCII, then zeros.
const labelFields = new Map<SignatureLabel, Uint8Array>(
  ([
    'hello', 'ready', 'batch', 'study', 'release', 'head', 'enrol', 'rotation', 'withdraw',
    'sealed', 'share', 'open',
  ] as const).map((label) => {
    const field = new Uint8Array(16);
    field.set(utf8(`keelson ${label}`));
    return [label, field];
  }),
);

/**
 * The 180 bytes that an Ed25519 signature covers. Every field has a fixed place and length, so two
 * different meanings never have the same bytes.
 * @param contributorKey 32 bytes; null if no contributor is concerned (study, release, head,
 *   rotation, share).
 * @param payload 64 bytes: both nonces (hello, ready), the epoch (withdraw), or else SHA-512 of the
 *   exact body.
 * @throws InvalidParameterError when a field has another length.
 */
export function signedMessage(
  label: SignatureLabel,
  context: SignatureContext,
  contributorKey: Uint8Array | null,
  payload: Uint8Array,
): Uint8Array {
  const message = new Uint8Array(signedMessageBytes);
  message.set(labelFields.get(label)!, 0);
  // Big-endian; the version fits into the last byte.
  message[19] = label === 'share' || label === 'open' ? 2 : protocolVersion;
  put(message, context.serverKey, keyOffset, 32, 'server key');
  put(message, context.studyId, keyOffset + 32, 32, 'study id');
  put(message, contributorKey ?? noContributor, keyOffset + 64, 32, 'contributor key');
  put(message, payload, keyOffset + 96, 64, 'payload');
  return message;
}

function put(
  message: Uint8Array, field: Uint8Array, offset: number, length: number, name: string,
): void {
  if (field.length !== length) {
    throw new InvalidParameterError(
      `the ${name} of a signed message has ${field.length} bytes, not ${length}`,
    );
  }
  message.set(field, offset);
}

/**
 * A contributor's answer to Welcome. It proves to this server that the contributor has the key now.
 */
export function signHello<Signature extends Soon<Uint8Array>>(
  contributor: Signer<Signature>, context: SignatureContext, nonces: Nonces,
): Signature {
  return contributor.sign(signedMessage('hello', context, contributor.publicKey, joined(nonces)));
}

export function verifyHello(
  contributor: Verifier,
  context: SignatureContext,
  nonces: Nonces,
  signature: Uint8Array,
): boolean {
  return contributor.verify(
    signedMessage('hello', context, contributor.publicKey, joined(nonces)), signature,
  );
}

/** The server's answer to Hello. It proves to this contributor that the server has its key now. */
export function signReady(
  server: Signer,
  studyId: Uint8Array,
  contributorKey: Uint8Array,
  nonces: Nonces,
): Uint8Array {
  const context = { serverKey: server.publicKey, studyId };
  return server.sign(signedMessage('ready', context, contributorKey, joined(nonces)));
}

export function verifyReady<Verdict extends Soon<boolean>>(
  server: Verifier<Verdict>,
  studyId: Uint8Array,
  contributorKey: Uint8Array,
  nonces: Nonces,
  signature: Uint8Array,
): Verdict {
  const context = { serverKey: server.publicKey, studyId };
  return server.verify(signedMessage('ready', context, contributorKey, joined(nonces)), signature);
}

/** @param bodyDigest SHA-512 of the exact bytes of the BatchBody or sealed entry that are sent. */
export function signBatch<Signature extends Soon<Uint8Array>>(
  contributor: Signer<Signature>, context: SignatureContext, bodyDigest: Uint8Array,
): Signature {
  return contributor.sign(signedMessage('batch', context, contributor.publicKey, bodyDigest));
}

/** @param bodyDigest SHA-512 of the exact bytes of the BatchBody or sealed entry as received. */
export function verifyBatch(
  contributor: Verifier,
  context: SignatureContext,
  bodyDigest: Uint8Array,
  signature: Uint8Array,
): boolean {
  return contributor.verify(
    signedMessage('batch', context, contributor.publicKey, bodyDigest), signature,
  );
}

/** The epoch, big-endian in the first 8 bytes; the rest is zeros. */
function withdrawalMessage(
  contributorKey: Uint8Array, context: SignatureContext, epoch: bigint,
): Uint8Array {
  const payload = new Uint8Array(64);
  new DataView(payload.buffer).setBigUint64(0, epoch);
  return signedMessage('withdraw', context, contributorKey, payload);
}

/** Signs that a contributor takes its rows back from an epoch. */
export function signWithdrawal<Signature extends Soon<Uint8Array>>(
  contributor: Signer<Signature>, context: SignatureContext, epoch: bigint,
): Signature {
  return contributor.sign(withdrawalMessage(contributor.publicKey, context, epoch));
}

export function verifyWithdrawal(
  contributor: Verifier, context: SignatureContext, epoch: bigint, signature: Uint8Array,
): boolean {
  return contributor.verify(withdrawalMessage(contributor.publicKey, context, epoch), signature);
}

/**
 * The statements that a server signs about a study: its facts, its releases and the head of its
 * log. `sealed`: what one of the three servers of a sealed study states to contributors and to the
 * two others.
 */
export type ServerStatement = 'study' | 'release' | 'head' | 'sealed';

/**
 * @param bodyDigest SHA-512 of the exact bytes: the canonical facts, a ReleaseBody, a HeadBody, or
 *   what a sealed statement says (src/sealed/shares/statements).
 */
export function signStatement(
  label: ServerStatement,
  server: Signer,
  studyId: Uint8Array,
  bodyDigest: Uint8Array,
): Uint8Array {
  return server.sign(
    signedMessage(label, { serverKey: server.publicKey, studyId }, null, bodyDigest),
  );
}

export function verifyStatement<Verdict extends Soon<boolean>>(
  label: ServerStatement,
  server: Verifier<Verdict>,
  studyId: Uint8Array,
  bodyDigest: Uint8Array,
  signature: Uint8Array,
): Verdict {
  const message = signedMessage(label, { serverKey: server.publicKey, studyId }, null, bodyDigest);
  return server.verify(message, signature);
}

function joined(nonces: Nonces): Uint8Array {
  return concatBytes(nonces.serverNonce, nonces.clientNonce);
}
