import nacl from 'tweetnacl';
import { utf8 } from '../base/bytes.js';
import type { Signing } from './contract.js';

/** The package exports it, and its types leave it out. */
const { lowlevel } = nacl as unknown as {
  readonly lowlevel: {
    crypto_core_hsalsa20(
      out: Uint8Array, input: Uint8Array, key: Uint8Array, constant: Uint8Array,
    ): number;
  };
};
/** The constant of Salsa20 with a key of 32 bytes. */
const sigma = utf8('expand 32-byte k');

/**
 * Boxes: X25519, then XSalsa20-Poly1305 (tweetnacl's `box`). A box opens only for the holder of the
 * recipient's secret key, and only with the bytes that were sealed.
 */
export interface BoxKeys {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 32 bytes. */
  readonly secretKey: Uint8Array;
}

/** Bytes that a box adds to what it holds. */
export const boxOverheadBytes = nacl.box.overheadLength;

/** @param secretKey - 32 random bytes. */
export function boxKeysOf(secretKey: Uint8Array): BoxKeys {
  return nacl.box.keyPair.fromSecretKey(secretKey);
}

/**
 * Seals bytes for one recipient.
 * @param place - 0 to 255. A pair of keys seals at most one box with each number, because the
 *   number is the nonce.
 */
export function sealBox(
  plain: Uint8Array, place: number, recipient: Uint8Array, sender: Uint8Array,
): Uint8Array {
  return nacl.box(plain, nonceOf(place), recipient, sender);
}

/**
 * Null if the box was not sealed by these keys at this place, or was changed. As tweetnacl's
 * `box.open`, with the platform's X25519: a server opens one box for each entry that comes, and
 * nearly all of its time was in tweetnacl's. A sender's key of small order opens what it seals.
 */
export function openBox(
  signing: Pick<Signing, 'x25519'>, box: Uint8Array, place: number, sender: Uint8Array,
  recipient: Uint8Array,
): Uint8Array | null {
  const key = new Uint8Array(nacl.box.sharedKeyLength);
  const point = signing.x25519(recipient, sender);
  lowlevel.crypto_core_hsalsa20(key, new Uint8Array(16), point, sigma);
  return nacl.secretbox.open(box, nonceOf(place), key);
}

/**
 * 32 bytes that the holders of two keys share and nobody else can compute: X25519, hashed.
 * @param other - 32 bytes: the other's public key. @param secretKey - the own one.
 */
export function sharedSecret(other: Uint8Array, secretKey: Uint8Array): Uint8Array {
  return nacl.box.before(other, secretKey);
}

function nonceOf(place: number): Uint8Array {
  const nonce = new Uint8Array(nacl.box.nonceLength);
  nonce[0] = place;
  return nonce;
}
