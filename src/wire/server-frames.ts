import { keelson as read } from './generated/contributor-reader.js';
import { keelson as sent } from './generated/other-writer.js';
import {
  boxKeyBytes, codeFromWire, codeToWire, keyBytes, nonceBytes, optionalSized, owned, ownSized,
  present, signatureBytes, sized, stateFromWire, stateToWire, studyIdBytes, uint32,
} from './fields.js';
import { toBigint, toLong } from './long-bits.js';
import type {
  Ack, Notice, Ready, Refusal, ServerFrame, SignedHead, SignedRelease, SignedStudy, Spend, Welcome,
  WireLimits,
} from './messages.js';
import { readStrictly } from './reader.js';
import { written } from './writer.js';

// Do not give the generated namespaces shorter names here. A short name is a statement in the built
// code, and would keep both directions in a bundle that uses one.

/**
 * One binary WebSocket message. @throws WireError('malformed') for a frame that no client would
 * accept.
 */
export function encodeServerFrame(frame: ServerFrame): Uint8Array {
  return written(sent.v1.ServerFrame.encode(serverFrameToWire(frame)));
}

/**
 * Reads one binary WebSocket message. Every byte field is a copy.
 * @throws WireError('malformed') for any other bytes; never anything else.
 */
export function decodeServerFrame(bytes: Uint8Array): ServerFrame {
  return readStrictly(bytes, 'server frame', (reader) =>
    serverFrameFromWire(read.v1.ServerFrame.decode(reader)));
}

/** The contents of Opened: a Ready without its signature. @throws as `encodeServerFrame`. */
export function encodeUnsignedReady(ready: Omit<Ready, 'signature'>): Uint8Array {
  return written(sent.v1.Ready.encode(readyToWire(ready)));
}

/** @throws as `decodeServerFrame`. */
export function decodeUnsignedReady(bytes: Uint8Array): Ready {
  return readStrictly(bytes, 'Ready', (reader) =>
    readyFromWire(read.v1.Ready.decode(reader), 0));
}

/** The contents of EncryptedAck. @throws as `encodeServerFrame`. */
export function encodeAck(ack: Ack): Uint8Array {
  return written(sent.v1.Ack.encode(ackToWire(ack)));
}

/** @throws as `decodeServerFrame`. */
export function decodeAck(bytes: Uint8Array): Ack {
  return readStrictly(bytes, 'Ack', (reader) =>
    ackFromWire(read.v1.Ack.decode(reader)));
}

function serverFrameToWire(frame: ServerFrame): sent.v1.ServerFrame.$Properties {
  switch (frame.kind) {
    case 'welcome':
      return { welcome: welcomeToWire(frame) };
    case 'ready':
      return { ready: {
        ...readyToWire(frame), signature: sized(frame.signature, signatureBytes, 'signature'),
      } };
    case 'opened':
      return { opened: {
        channel: uint32(frame.channel, 'channel'),
        studyId: sized(frame.studyId, studyIdBytes, 'study id'),
        publicKey: sized(frame.publicKey, keyBytes, 'public key'),
        encrypted: frame.encrypted,
      } };
    case 'ack':
      return { ack: ackToWire(frame) };
    case 'encrypted-ack':
      return { encryptedAck: {
        channel: uint32(frame.channel, 'channel'), encrypted: frame.encrypted,
      } };
    case 'release':
      return { release: {
        body: frame.body, signature: releaseSignature(frame.signature),
      } };
    case 'head':
      return {
        head: { body: frame.body, signature: sized(frame.signature, signatureBytes, 'signature') },
      };
    case 'notice':
      return { notice: noticeToWire(frame) };
    case 'refusal':
      return { refusal: refusalToWire(frame) };
  }
}

function serverFrameFromWire(frame: read.v1.ServerFrame): ServerFrame {
  switch (present(frame.kind, 'the kind of server frame')) {
    case 'welcome':
      return welcomeFromWire(frame.welcome as read.v1.Welcome);
    case 'ready':
      return readyFromWire(frame.ready as read.v1.Ready, signatureBytes);
    case 'opened': {
      const opened = frame.opened as read.v1.Opened;
      return {
        kind: 'opened',
        channel: opened.channel,
        studyId: ownSized(opened.studyId, studyIdBytes, 'study id'),
        publicKey: ownSized(opened.publicKey, keyBytes, 'public key'),
        encrypted: owned(opened.encrypted),
      };
    }
    case 'ack':
      return ackFromWire(frame.ack as read.v1.Ack);
    case 'encryptedAck': {
      const { channel, encrypted } = frame.encryptedAck as read.v1.EncryptedAck;
      return { kind: 'encrypted-ack', channel, encrypted: owned(encrypted) };
    }
    case 'release':
      return signedFromWire('release', frame.release as read.v1.SignedRelease);
    case 'head':
      return signedFromWire('head', frame.head as read.v1.SignedHead);
    case 'notice':
      return noticeFromWire(frame.notice as read.v1.Notice);
    case 'refusal':
      return refusalFromWire(frame.refusal as read.v1.Refusal);
  }
}

function signedFromWire<K extends 'release' | 'head'>(
  kind: K,
  signed: { readonly body: Uint8Array; readonly signature: Uint8Array },
): Extract<SignedRelease | SignedHead, { readonly kind: K }> {
  const signature = owned(kind === 'release'
    ? releaseSignature(signed.signature) : sized(signed.signature, signatureBytes, 'signature'));
  return {
    kind, body: owned(signed.body), signature,
  } as Extract<SignedRelease | SignedHead, { readonly kind: K }>;
}

/** Three servers sign the releases of a sealed study. `src/log` knows which study is sealed. */
function releaseSignature(signature: Uint8Array): Uint8Array {
  const isOfThree = signature.length === 3 * signatureBytes;
  return isOfThree ? signature : sized(signature, signatureBytes, 'signature');
}

function boxKeysFromWire(
  keys: readonly Uint8Array[] | null | undefined,
): { readonly boxKeys?: readonly Uint8Array[] } {
  if (!keys?.length) return {};
  return { boxKeys: keys.map((key) => ownSized(key, boxKeyBytes, 'box key')) };
}

function welcomeToWire(welcome: Welcome): sent.v1.Welcome.$Properties {
  return {
    serverKey: sized(welcome.serverKey, keyBytes, 'server key'),
    serverNonce: sized(welcome.serverNonce, nonceBytes, 'server nonce'),
    limits: {
      frameBytes: uint32(welcome.limits.frameBytes, 'frame bytes'),
      rowsPerBatch: uint32(welcome.limits.rowsPerBatch, 'rows per batch'),
      creditBatches: uint32(welcome.limits.creditBatches, 'credit batches'),
      channelsPerSocket: uint32(welcome.limits.channelsPerSocket, 'channels per socket'),
      sequenceWindow: uint32(welcome.limits.sequenceWindow, 'sequence window'),
    },
    studies: welcome.studies.map((study) => ({
      facts: study.facts,
      signature: sized(study.signature, signatureBytes, 'signature'),
      state: stateToWire(study.state),
      epoch: toLong(study.epoch, 'epoch'),
    })),
    rotations: welcome.rotations as Uint8Array[],
    share: welcome.share === undefined ? null : {
      share: sized(welcome.share.share, keyBytes, 'share'),
      issuedMs: toLong(welcome.share.issuedMs, 'issued'),
      untilMs: toLong(welcome.share.untilMs, 'until'),
      signature: sized(welcome.share.signature, signatureBytes, 'signature'),
    },
  };
}

function welcomeFromWire(welcome: read.v1.Welcome): Welcome {
  return {
    kind: 'welcome',
    serverKey: ownSized(welcome.serverKey, keyBytes, 'server key'),
    serverNonce: ownSized(welcome.serverNonce, nonceBytes, 'server nonce'),
    limits: limitsFromWire(present(welcome.limits, 'limits') as read.v1.Limits),
    studies: (welcome.studies as read.v1.SignedStudy[]).map(studyFromWire),
    rotations: welcome.rotations.map(owned),
    ...shareFromWire(welcome.share as read.v1.KeyShare | null),
  };
}

function shareFromWire(share: read.v1.KeyShare | null): Pick<Welcome, 'share'> {
  if (share === null) return {};
  return { share: {
    share: ownSized(share.share, keyBytes, 'share'),
    issuedMs: toBigint(share.issuedMs),
    untilMs: toBigint(share.untilMs),
    signature: ownSized(share.signature, signatureBytes, 'signature'),
  } };
}

function limitsFromWire(limits: read.v1.Limits): WireLimits {
  return {
    frameBytes: limits.frameBytes,
    rowsPerBatch: limits.rowsPerBatch,
    creditBatches: limits.creditBatches,
    channelsPerSocket: limits.channelsPerSocket,
    sequenceWindow: limits.sequenceWindow,
  };
}

function studyFromWire(study: read.v1.SignedStudy): SignedStudy {
  return {
    facts: owned(study.facts),
    signature: ownSized(study.signature, signatureBytes, 'signature'),
    state: stateFromWire(study.state),
    epoch: toBigint(study.epoch),
  };
}

function readyToWire(ready: Omit<Ready, 'signature'>): sent.v1.Ready.$Properties {
  return {
    channel: uint32(ready.channel, 'channel'),
    studyId: sized(ready.studyId, studyIdBytes, 'study id'),
    publicKey: sized(ready.publicKey, keyBytes, 'public key'),
    epoch: toLong(ready.epoch, 'epoch'),
    nextSequence: toLong(ready.nextSequence, 'next sequence'),
    holes: ready.holes.map((hole) => toLong(hole, 'hole')),
    credit: uint32(ready.credit, 'credit'),
    ownSpend: ready.ownSpend,
    boxKeys: ready.boxKeys as Uint8Array[] | undefined ?? [],
  };
}

/** @param proofBytes of its signature: none in Opened, whose seal is the proof. */
function readyFromWire(ready: read.v1.Ready, proofBytes: 0 | typeof signatureBytes): Ready {
  return {
    kind: 'ready',
    channel: ready.channel,
    studyId: ownSized(ready.studyId, studyIdBytes, 'study id'),
    publicKey: ownSized(ready.publicKey, keyBytes, 'public key'),
    signature: ownSized(ready.signature, proofBytes, 'signature'),
    epoch: toBigint(ready.epoch),
    nextSequence: toBigint(ready.nextSequence),
    holes: ready.holes.map(toBigint),
    credit: ready.credit,
    ownSpend: spendFromWire(ready.ownSpend as read.v1.Spend | null),
    ...boxKeysFromWire(ready.boxKeys),
  };
}

function spendFromWire(spend: read.v1.Spend | null): Spend | null {
  if (spend === null) return null;
  return { rho: spend.rho, rhoCap: spend.rhoCap, delta: spend.delta, deltaCap: spend.deltaCap };
}

function ackToWire(ack: Ack): sent.v1.Ack.$Properties {
  return {
    channel: uint32(ack.channel, 'channel'),
    accepted: ack.accepted.map((sequence) => toLong(sequence, 'sequence')),
    rejections: ack.rejections.map((rejection) => ({
      sequence: toLong(rejection.sequence, 'sequence'),
      code: codeToWire(rejection.code),
      retryable: rejection.retryable,
      text: rejection.text,
    })),
    epoch: toLong(ack.epoch, 'epoch'),
    credit: uint32(ack.credit, 'credit'),
    ownSpend: ack.ownSpend ?? null,
    withdrawn: toLong(ack.withdrawn ?? 0n, 'withdrawn'),
  };
}

function ackFromWire(ack: read.v1.Ack): Ack {
  const spend = spendFromWire(ack.ownSpend as read.v1.Spend | null);
  const withdrawn = toBigint(ack.withdrawn);
  return {
    kind: 'ack',
    channel: ack.channel,
    accepted: ack.accepted.map(toBigint),
    rejections: (ack.rejections as read.v1.Rejection[]).map((rejection) => ({
      sequence: toBigint(rejection.sequence),
      code: codeFromWire(rejection.code),
      retryable: rejection.retryable,
      text: shown(rejection.text),
    })),
    epoch: toBigint(ack.epoch),
    credit: ack.credit,
    ...(spend !== null && { ownSpend: spend }),
    ...(withdrawn > 0n && { withdrawn }),
  };
}

function noticeToWire(notice: Notice): sent.v1.Notice.$Properties {
  return {
    studyId: sized(notice.studyId, studyIdBytes, 'study id'),
    state: stateToWire(notice.state),
    epoch: toLong(notice.epoch, 'epoch'),
    closesInMs: toLong(notice.closesInMs, 'closes in'),
    boxKeys: notice.boxKeys as Uint8Array[] | undefined ?? [],
  };
}

function noticeFromWire(notice: read.v1.Notice): Notice {
  return {
    kind: 'notice',
    studyId: ownSized(notice.studyId, studyIdBytes, 'study id'),
    state: stateFromWire(notice.state),
    epoch: toBigint(notice.epoch),
    closesInMs: toBigint(notice.closesInMs),
    ...boxKeysFromWire(notice.boxKeys),
  };
}

function refusalToWire(refusal: Refusal): sent.v1.Refusal.$Properties {
  return {
    code: codeToWire(refusal.code),
    retryable: refusal.retryable,
    text: refusal.text,
    channel: uint32(refusal.channel, 'channel'),
    studyId: optionalSized(refusal.studyId, studyIdBytes, 'study id'),
    publicKey: optionalSized(refusal.publicKey, keyBytes, 'public key'),
  };
}

function refusalFromWire(refusal: read.v1.Refusal): Refusal {
  return {
    kind: 'refusal',
    code: codeFromWire(refusal.code),
    retryable: refusal.retryable,
    text: shown(refusal.text),
    channel: refusal.channel,
    studyId: owned(optionalSized(refusal.studyId, studyIdBytes, 'study id')),
    publicKey: owned(optionalSized(refusal.publicKey, keyBytes, 'public key')),
  };
}

/**
 * Texts from a server end up on terminals. Characters that control a terminal, or that change the
 * direction of text, are replaced.
 */
function shown(text: string): string {
  return text.replace(/\p{C}/gu, '\ufffd');
}
