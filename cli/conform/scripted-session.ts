import { signReady, verifyHello, type Signer, type Verifier } from '../../src/signing/index.js';
import {
  encodeAck, encodeUnsignedReady, type Ack, type Hello, type Open, type Ready, type ServerFrame,
} from '../../src/wire/index.js';
import type { ScriptedCipher, ScriptedShare } from './scripted-encryption.js';

export interface OpenChannel {
  unanswered: number;
  readonly number: number;
  readonly hello: Hello | Open;
  readonly verifier: Verifier;
  /** Null where its batches are signed. */
  readonly cipher: ScriptedCipher | null;
}

/** One connection of a scripted server. */
export interface Session {
  readonly serverNonce: Uint8Array;
  /** Null on a socket without encrypted channels. */
  readonly share: ScriptedShare | null;
  /** Hellos and Opens so far: the n-th one's channel is n. */
  greetings: number;
  readonly channels: Map<number, OpenChannel>;
  readonly say: (frame: ServerFrame) => void;
}

/**
 * The cipher that an Open asks for; null for a Hello.
 * @throws Error saying what is wrong with it.
 */
export function provenCipher(
  hello: Hello | Open, verifier: Verifier, { serverNonce, share }: Session, serverKey: Uint8Array,
): ScriptedCipher | null {
  if (hello.kind === 'open') {
    if (share === null) throw new Error('an Open on a socket of keelson.v1');
    return share.agree(hello, verifier, { serverKey, serverNonce });
  }
  const nonces = { serverNonce, clientNonce: hello.clientNonce };
  if (verifyHello(verifier, { serverKey, studyId: hello.studyId }, nonces, hello.signature)) {
    return null;
  }
  throw new Error('a Hello with a wrong signature');
}

/** Ready or Opened. */
export function answerTo(
  { hello, number, cipher }: OpenChannel, { serverNonce }: Session,
  ready: Omit<Ready, 'signature'>, signer: Signer,
): ServerFrame {
  const { studyId, publicKey } = hello;
  if (hello.kind === 'open') {
    const encrypted = cipher!.seal('opened', encodeUnsignedReady(ready));
    return { kind: 'opened', channel: number, studyId, publicKey, encrypted };
  }
  const nonces = { serverNonce, clientNonce: hello.clientNonce };
  return { ...ready, signature: signReady(signer, studyId, publicKey, nonces) };
}

/** An ack in the form of its channel. */
export function ackOn(
  { number: channel, cipher }: OpenChannel, verdict: Omit<Ack, 'channel'>,
): ServerFrame {
  const ack = { ...verdict, channel };
  return cipher === null
    ? ack : { kind: 'encrypted-ack', channel, encrypted: cipher.seal('ack', encodeAck(ack)) };
}
