import { WireError } from '../base/errors.js';

/** 2^255 - 19, little-endian. */
const fieldPrime = littleEndian(2n ** 255n - 19n);

/**
 * The y coordinates of the eight points whose order divides 8. Each is for both signs of x. With
 * the check for y >= p this covers all 14 encodings of these points that decoders are known to
 * accept. The last two are the points of order 8. test/signing/keys.test.ts derives all five from
 * the curve.
 */
const smallOrderY: readonly Uint8Array[] = [
  1n,
  2n ** 255n - 20n,
  0n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
].map(littleEndian);

/**
 * Refuses keys under which a signature proves nothing. With a small-order key one signature fits
 * many messages. Verifiers do not agree on keys that are not reduced.
 * @param key an Ed25519 public key as received.
 * @throws WireError('invalid-key') for a length other than 32, y >= p, or a point of small order.
 */
export function checkPublicKey(key: Uint8Array): void {
  if (key.length !== 32) {
    throw new WireError('invalid-key', `an Ed25519 public key has 32 bytes, not ${key.length}`);
  }
  const y = key.slice();
  y[31]! &= 0x7f;
  if (!isBelow(y, fieldPrime)) {
    throw new WireError(
      'invalid-key', 'the public key is not reduced modulo 2^255 - 19: send its canonical encoding',
    );
  }
  if (smallOrderY.some((small) => y.every((byte, i) => byte === small[i]))) {
    throw new WireError('invalid-key', 'the public key has small order and identifies nobody: '
      + 'generate a fresh one');
  }
}

/** The order of the base point, 2^252 + 27742317777372353535851937790883648493, little-endian. */
const groupOrder = littleEndian(2n ** 252n + 27742317777372353535851937790883648493n);

/**
 * True if the second half of a signature is reduced modulo the group order. Without this check,
 * anyone can make a second valid signature by adding the order.
 */
export function hasReducedScalar(signature: Uint8Array): boolean {
  return isBelow(signature.subarray(32, 64), groupOrder);
}

/** Compares little-endian numbers of equal length. For public values only: not constant-time. */
function isBelow(value: Uint8Array, bound: Uint8Array): boolean {
  for (let i = bound.length - 1; i >= 0; i--) {
    if (value[i] !== bound[i]) return value[i]! < bound[i]!;
  }
  return false;
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 0xffn));
}
