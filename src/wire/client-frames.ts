import { keelson as read } from './generated/other-reader.js';
import { keelson as sent } from './generated/contributor-writer.js';
import {
  keyBytes, nonceBytes, owned, ownedEndAligned, ownSized, present, signatureBytes, sized,
  studyIdBytes, uint32,
} from './fields.js';
import { toBigint, toLong } from './long-bits.js';
import type { ClientFrame, Hello, SignedBatch, Withdraw } from './messages.js';
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
  return frame.kind === 'batch' ? { ...frame, body: ownedEndAligned(frame.body) } : frame;
}

/**
 * As `decodeClientFrame`, but the body of a batch is a view of `bytes`. Copy it before the bytes
 * change.
 */
export function viewClientFrame(bytes: Uint8Array): ClientFrame {
  return readStrictly(bytes, 'client frame', (reader) =>
    clientFrameFromWire(read.v1.ClientFrame.decode(reader)));
}

function clientFrameToWire(frame: ClientFrame): WireClientFrame {
  switch (frame.kind) {
    case 'hello':
      return { hello: checkedHello(frame) };
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
    case 'hello':
      return helloFromWire(frame.hello as read.v1.Hello);
    case 'batch':
      return batchFromWire(frame.batch as read.v1.SignedBatch);
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

function checkedHello(hello: Hello): sent.v1.Hello.$Properties {
  return {
    studyId: sized(hello.studyId, studyIdBytes, 'study id'),
    publicKey: sized(hello.publicKey, keyBytes, 'public key'),
    clientNonce: sized(hello.clientNonce, nonceBytes, 'client nonce'),
    signature: sized(hello.signature, signatureBytes, 'signature'),
    enrolment: hello.enrolment ?? null,
  };
}

function helloFromWire(hello: read.v1.Hello): Hello {
  return {
    kind: 'hello',
    studyId: ownSized(hello.studyId, studyIdBytes, 'study id'),
    publicKey: ownSized(hello.publicKey, keyBytes, 'public key'),
    clientNonce: ownSized(hello.clientNonce, nonceBytes, 'client nonce'),
    signature: ownSized(hello.signature, signatureBytes, 'signature'),
    ...(hello.enrolment.length > 0 && { enrolment: owned(hello.enrolment) }),
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
