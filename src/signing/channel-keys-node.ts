import {
  createCipheriv, createDecipheriv, createHash, createHmac, createSecretKey, type KeyObject,
} from 'node:crypto';
import { frameKinds, keyLabels, putNonce, tagBytes, type FrameKind } from './channel-keys.js';

/** The keys of a channel, each for one direction. */
export interface ChannelKeys {
  /** From the contributor to the server. */
  readonly up: KeyObject;
  /** From the server to the contributor. */
  readonly down: KeyObject;
}

/**
 * The key schedule of channel-keys.ts, some 12 us.
 * @param agreed Z, 32 bytes, not 0. It is overwritten.
 * @param message M, 180 bytes.
 */
export function channelKeys(agreed: Uint8Array, message: Uint8Array): ChannelKeys {
  const salt = createHash('sha256').update(message).digest();
  const prk = createHmac('sha256', salt).update(agreed).digest();
  agreed.fill(0);
  const [up, down] = keyLabels.map((label) => {
    const bytes = createHmac('sha256', prk).update(label).update(Uint8Array.of(1)).digest();
    const key = createSecretKey(bytes);
    bytes.fill(0);
    return key;
  });
  prk.fill(0);
  return { up: up!, down: down! };
}

/** Read by the cipher when it is made, and not kept by it. */
const nonce = new Uint8Array(12);
const additional = new Uint8Array(1);
const settings = { authTagLength: tagBytes };

/** @returns the sealed frame: as long as the parts, and 16 bytes. */
export function sealFrame(
  key: KeyObject, number: number, kind: FrameKind, ...parts: readonly Uint8Array[]
): Uint8Array {
  putNonce(nonce, number);
  additional[0] = frameKinds[kind];
  const cipher = createCipheriv('aes-256-gcm', key, nonce, settings).setAAD(additional);
  const sealed = parts.map((part) => cipher.update(part));
  cipher.final();
  return Uint8Array.from(Buffer.concat([...sealed, cipher.getAuthTag()]));
}

/**
 * @returns new memory with what was sealed; null if the bytes were not sealed under this key, as
 * the
 *   frame of this number and kind.
 */
export function openFrame(
  key: KeyObject, number: number, kind: FrameKind, sealed: Uint8Array,
): Buffer | null {
  const end = sealed.length - tagBytes;
  if (end < 0) return null;
  putNonce(nonce, number);
  additional[0] = frameKinds[kind];
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, settings)
    .setAAD(additional).setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    decipher.final();
  } catch {
    plain.fill(0);
    return null;
  }
  return plain;
}
