import { keelson as read } from './generated/other-reader.js';
import { keelson as sent } from './generated/contributor-writer.js';
import {
  keyBytes, nonceBytes, owned, ownedEndAligned, ownSized, present, signatureBytes, sized,
  studyIdBytes, uint32,
} from './fields.js';
import { toBigint, toLong } from './long-bits.js';
import type { ClientFrame, Hello, Open, SignedBatch, Withdraw } from './messages.js';
import { readStrictly } from './reader.js';
import { written } from './writer.js';

type WireClientFrame = sent.v1.ClientFrame.$Properties;

/**
 * One binary WebSocket message. @throws WireError('malformed') for a frame that no server would
 * accept.
 */
export function encodeClientFrame(frame: ClientFrame): Uint8Array {
  return written(sent.v1.ClientFrame.encode(clientFrameToWire(frame)));
}

/**
 * Reads one binary WebSocket message. Every byte field is a copy. So none keeps the socket's buffer
 * alive, and a batch body can go to a worker or a journal unchanged.
 * @throws WireError('malformed') for any other bytes; never anything else.
 */
export function decodeClientFrame(bytes: Uint8Array): ClientFrame {
  const frame = viewClientFrame(bytes);
  if (frame.kind === 'encrypted-batch') return { ...frame, encrypted: owned(frame.encrypted) };
  return frame.kind === 'batch' ? { ...frame, body: ownedEndAligned(frame.body) } : frame;
}

/**
 * As `decodeClientFrame`, but the body of a batch, also of an encrypted one, is a view of `bytes`.
 * Copy it before the bytes change.
 */
export function viewClientFrame(bytes: Uint8Array): ClientFrame {
  return readStrictly(bytes, 'client frame', (reader) =>
    clientFrameFromWire(read.v1.ClientFrame.decode(reader)));
}

function clientFrameToWire(frame: ClientFrame): WireClientFrame {
  switch (frame.kind) {
    case 'hello':
      return { hello: {
        ...checkedGreeting(frame),
        clientNonce: sized(frame.clientNonce, nonceBytes, 'client nonce'),
      } };
    case 'open':
      return { open: {
        ...checkedGreeting(frame), clientShare: sized(frame.clientShare, keyBytes, 'client share'),
      } };
    case 'encrypted-batch':
      return { encryptedBatch: {
        channel: uint32(frame.channel, 'channel'), encrypted: frame.encrypted,
      } };
    case 'batch':
      return {
        batch: { ...signedOnChannel(frame), body: frame.body },
      };
    case 'subscribe':
      return {
        subscribe: {
          studyId: sized(frame.studyId, studyIdBytes, 'study id'),
          fromRelease: toLong(frame.fromRelease, 'from release'),
        },
      };
    case 'withdraw':
      return {
        withdraw: { ...signedOnChannel(frame), epoch: toLong(frame.epoch, 'epoch') },
      };
    case 'unsubscribe':
      return { unsubscribe: { studyId: sized(frame.studyId, studyIdBytes, 'study id') } };
  }
}

function clientFrameFromWire(frame: read.v1.ClientFrame): ClientFrame {
  switch (present(frame.kind, 'the kind of client frame')) {
    case 'hello': {
      const hello = frame.hello as read.v1.Hello;
      return {
        kind: 'hello', ...greetingFromWire(hello),
        clientNonce: ownSized(hello.clientNonce, nonceBytes, 'client nonce'),
      };
    }
    case 'batch':
      return batchFromWire(frame.batch as read.v1.SignedBatch);
    case 'open': {
      const open = frame.open as read.v1.Open;
      return {
        kind: 'open', ...greetingFromWire(open),
        clientShare: ownSized(open.clientShare, keyBytes, 'client share'),
      };
    }
    case 'encryptedBatch': {
      const { channel, encrypted } = frame.encryptedBatch as read.v1.EncryptedBatch;
      return { kind: 'encrypted-batch', channel, encrypted };
    }
    case 'subscribe': {
      const subscribe = frame.subscribe as read.v1.Subscribe;
      return {
        kind: 'subscribe',
        studyId: ownSized(subscribe.studyId, studyIdBytes, 'study id'),
        fromRelease: toBigint(subscribe.fromRelease),
      };
    }
    case 'withdraw': {
      const withdraw = frame.withdraw as read.v1.Withdraw;
      return {
        kind: 'withdraw',
        channel: withdraw.channel,
        epoch: toBigint(withdraw.epoch),
        signature: ownSized(withdraw.signature, signatureBytes, 'signature'),
      };
    }
    case 'unsubscribe': {
      const unsubscribe = frame.unsubscribe as read.v1.Unsubscribe;
      return {
        kind: 'unsubscribe', studyId: ownSized(unsubscribe.studyId, studyIdBytes, 'study id'),
      };
    }
  }
}

function signedOnChannel({ channel, signature }: SignedBatch | Withdraw): {
  channel: number; signature: Uint8Array;
} {
  return {
    channel: uint32(channel, 'channel'), signature: sized(signature, signatureBytes, 'signature'),
  };
}

/** The fields that Hello and Open have both. */
type Greeting = Pick<Hello | Open, 'studyId' | 'publicKey' | 'signature' | 'enrolment'>;

function checkedGreeting(frame: Greeting) {
  return {
    studyId: sized(frame.studyId, studyIdBytes, 'study id'),
    publicKey: sized(frame.publicKey, keyBytes, 'public key'),
    signature: sized(frame.signature, signatureBytes, 'signature'),
    enrolment: frame.enrolment ?? null,
  };
}

function greetingFromWire(frame: read.v1.Hello | read.v1.Open): Greeting {
  return {
    studyId: ownSized(frame.studyId, studyIdBytes, 'study id'),
    publicKey: ownSized(frame.publicKey, keyBytes, 'public key'),
    signature: ownSized(frame.signature, signatureBytes, 'signature'),
    ...(frame.enrolment.length > 0 && { enrolment: owned(frame.enrolment) }),
  };
}

function batchFromWire(batch: read.v1.SignedBatch): SignedBatch {
  return {
    kind: 'batch',
    channel: batch.channel,
    body: batch.body,
    signature: ownSized(batch.signature, signatureBytes, 'signature'),
  };
}
