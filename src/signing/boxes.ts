import nacl from 'tweetnacl';

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

/** Null if the box was not sealed by these keys at this place, or was changed. */
export function openBox(
  box: Uint8Array, place: number, sender: Uint8Array, recipient: Uint8Array,
): Uint8Array | null {
  return nacl.box.open(box, nonceOf(place), sender, recipient);
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
