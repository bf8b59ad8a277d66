// The frames that the contributors of all loads sign and send.
import { createHash, randomBytes } from 'node:crypto';
import {
  channelKeys, openFrame, sealFrame,
} from '../../dist/src/signing/channel-keys-node.js';
import { openMessage } from '../../dist/src/signing/channel-keys.js';
import { signBatch, signHello } from '../../dist/src/signing/message.js';
import { signing } from '../../dist/src/signing/node.js';
import {
  decodeAck, decodeUnsignedReady, encodeBatchBody, encodeClientFrame,
} from '../../dist/src/wire/index.js';

/** Contributor `index`. A server that fills its replay table has the same keys in it. */
export const signerOf = (index) => signing.createSigner(
  new Uint8Array(createHash('sha256').update(`keelson bench contributor ${index}`).digest()));

export const hexOf = (key) => Buffer.from(key).toString('hex');

/** Numbers of a batch, as its body has them. */
export function rowsBytes(rows, columns) {
  const values = Float64Array.from({ length: rows * columns }, (_, i) => Math.sin(i) * 3);
  return new Uint8Array(values.buffer);
}

/** @param at - `{ serverKey, serverNonce, studyId }` of the connection. */
export function helloFrame(signer, { serverKey, serverNonce, studyId }) {
  const clientNonce = randomBytes(32);
  const signature = signHello(signer, { serverKey, studyId }, { serverNonce, clientNonce });
  return encodeClientFrame({
    kind: 'hello', studyId, publicKey: signer.publicKey, clientNonce, signature,
  });
}

/** @param body - its fields, but for its type. @returns the bytes and their signature. */
export function signedBatch(signer, serverKey, body) {
  const bytes = batchBody(body);
  const context = { serverKey, studyId: body.studyId };
  return { body: bytes, signature: signBatch(signer, context, signing.sha512(bytes)) };
}

const basePoint = Uint8Array.of(9, ...new Uint8Array(31));

/**
 * An encrypted channel that a contributor asks for.
 * @param at - `{ serverKey, serverNonce, share, studyId }` of the connection.
 * @returns the frame of its Open, and what turns its batches and the server's answers into bytes
 * and
 *   back, in the order of the socket.
 */
export function encryptedChannel(signer, { serverKey, serverNonce, share, studyId }) {
  const secret = randomBytes(32);
  const clientShare = signing.x25519(secret, basePoint);
  const shares = { serverNonce, share: share.share, clientShare };
  const message = openMessage(signer.publicKey, { serverKey, studyId }, shares, signing);
  const { up, down } = channelKeys(signing.x25519(secret, share.share), message);
  let sent = 0;
  let received = 0;
  return {
    open: encodeClientFrame({
      kind: 'open', studyId, publicKey: signer.publicKey, clientShare,
      signature: signer.sign(message),
    }),
    ready: ({ encrypted }) =>
      decodeUnsignedReady(openFrame(down, received++, 'opened', encrypted)),
    batch: (channel, body) => encodeClientFrame({
      kind: 'encrypted-batch', channel,
      encrypted: sealFrame(up, sent++, 'batch', signing.sha512(body), body),
    }),
    ack: ({ encrypted }) => decodeAck(openFrame(down, received++, 'ack', encrypted)),
  };
}

/** @param body - its fields, but for its type. */
export const batchBody = (body) =>
  encodeBatchBody({ dataType: 'float64', last: false, ...body });
