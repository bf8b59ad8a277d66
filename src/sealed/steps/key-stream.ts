import { assert } from '../../base/assert.js';
import { isLittleEndian } from '../../base/byte-order.js';
import { aesStream } from '../../signing/block-cipher.js';
import { numbersOfStream, spareNumbers } from './words.js';

/** Makes `length` bytes of a key stream at a position: pseudo-random, and its own at each one. */
export type StreamSource = (position: bigint, length: number) => Uint8Array;

/**
 * A key stream that two servers share. Each step takes words at its own position, once.
 *
 * Claim. No block of the stream is used twice.
 * Why. The position is the number of the step, and blocks of different positions differ
 * (signing/block-cipher). A position that is not above the one before is an InvariantError, on
 * every call. A key is of one attempt alone: whoever makes a stream takes a fresh key.
 */
export class KeyStream {
  readonly #source: StreamSource;
  #last = -1;

  constructor(source: StreamSource) {
    this.#source = source;
  }

  /** @param key - 16 bytes, fresh for each attempt. */
  static ofKey(key: Uint8Array): KeyStream {
    return new KeyStream(aesStream(key));
  }

  /** @throws InvariantError when this position or a later one was taken before. */
  take(position: number, words: number): Uint32Array {
    assert(
      Number.isSafeInteger(position) && position > this.#last,
      'no position of a key stream is taken twice',
    );
    this.#last = position;
    const bytes = this.#source(BigInt(position), 4 * words);
    assert(
      bytes.length === 4 * words && bytes.byteOffset % 4 === 0 && isLittleEndian,
      'a key stream fills the words that were asked for, on a little-endian machine',
    );
    return new Uint32Array(bytes.buffer, bytes.byteOffset, words);
  }

  /** Uniform numbers modulo p, in pairs of words, from a position. @throws as `take`. */
  takeNumbers(position: number, count: number): Uint32Array {
    const numbers = numbersOfStream(this.take(position, 2 * (count + spareNumbers)), count);
    assert(numbers !== null, 'the spare numbers of a key stream suffice');
    return numbers;
  }
}
