import { createCipheriv } from 'node:crypto';
import { InvalidParameterError } from '../base/errors.js';

/** Nobody writes to it. It grows to the longest stretch that was asked for, up to a bound. */
let zeros = new Uint8Array(0);
const zerosMost = 2 ** 22;

function zerosOf(length: number): Uint8Array {
  if (length > zerosMost) return new Uint8Array(length);
  if (zeros.length < length) zeros = new Uint8Array(length);
  return zeros.subarray(0, length);
}

/**
 * The key stream of AES-128 in counter mode, from OpenSSL. For servers only: browsers have no
 * synchronous form, and no contributor needs it.
 * @param key - 16 bytes.
 * @returns a function that makes `length` bytes of the stream from a counter of 16 bytes on, whose
 *   first 8 bytes are `position` (big-endian) and whose others count blocks from 0. So streams of
 *   two positions have no block in common.
 * @throws InvalidParameterError for a key of another length.
 */
export function aesStream(key: Uint8Array): (position: bigint, length: number) => Uint8Array {
  if (key.length !== 16) {
    throw new InvalidParameterError(`an AES-128 key has 16 bytes, not ${key.length}`);
  }
  const own = Uint8Array.from(key);
  return (position, length) => {
    const counter = new Uint8Array(16);
    new DataView(counter.buffer).setBigUint64(0, position);
    const bytes = createCipheriv('aes-128-ctr', own, counter).update(zerosOf(length));
    // A small Buffer is a view of a shared pool; words are read from the start of their own memory.
    const isOwn = bytes.byteOffset === 0 && bytes.buffer.byteLength === length;
    return isOwn ? new Uint8Array(bytes.buffer) : Uint8Array.from(bytes);
  };
}
