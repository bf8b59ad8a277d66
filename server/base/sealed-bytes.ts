import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Nonces are drawn many at a time, which is cheaper. Each is used once. */
const nonceBlock = 256 * nonceBytes;
let nonces: Uint8Array = new Uint8Array(0);

function nextNonce(): Uint8Array {
  if (nonces.length === 0) nonces = randomBytes(nonceBlock);
  const nonce = nonces.subarray(0, nonceBytes);
  nonces = nonces.subarray(nonceBytes);
  return nonce;
}

/** Bytes that sealing adds to a text. */
export const sealedExtraBytes = nonceBytes + tagBytes;

/**
 * Seals bytes: AES-256-GCM with a fresh random nonce. The result is nonce, tag and text.
 *
 * A nonce must not come twice under one key. Nonces are 96 random bits, so among n sealings under
 * one key two are equal with a probability below n^2 / 2^97: below 1e-11 for 1e9 of them.
 * @param key 32 secret bytes.
 * @param name where the text belongs. It opens under the same name only.
 */
export function sealBytes(
  key: KeyObject | Uint8Array, name: string, ...plain: readonly Uint8Array[]
): Uint8Array {
  const nonce = nextNonce();
  const cipher = createCipheriv(algorithm, key, nonce);
  cipher.setAAD(Buffer.from(name));
  const text = plain.map((part) => cipher.update(part));
  cipher.final();
  const sealed = Buffer.concat([nonce, cipher.getAuthTag(), ...text]);
  return new Uint8Array(sealed.buffer, sealed.byteOffset, sealed.length);
}

/** Null when the bytes were not sealed by this key under this name, or were changed. */
export function openBytes(
  key: KeyObject | Uint8Array, name: string, sealed: Uint8Array,
): Uint8Array | null {
  if (sealed.length < sealedExtraBytes) return null;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes));
  decipher.setAAD(Buffer.from(name));
  decipher.setAuthTag(sealed.subarray(nonceBytes, sealedExtraBytes));
  try {
    const text = decipher.update(sealed.subarray(sealedExtraBytes));
    decipher.final();
    return new Uint8Array(text.buffer, text.byteOffset, text.length);
  } catch {
    return null;
  }
}
