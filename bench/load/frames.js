// The frames that the contributors of all loads sign and send.
import { createHash, randomBytes } from 'node:crypto';
import { signBatch, signHello } from '../../dist/src/signing/message.js';
import { signing } from '../../dist/src/signing/node.js';
import { encodeBatchBody, encodeClientFrame } from '../../dist/src/wire/index.js';

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
  const bytes = encodeBatchBody({ dataType: 'float64', last: false, ...body });
  const context = { serverKey, studyId: body.studyId };
  return { body: bytes, signature: signBatch(signer, context, signing.sha512(bytes)) };
}
