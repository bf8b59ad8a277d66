import { assert } from '../base/assert.js';

const words = 16;
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/**
 * One ChaCha20 block (RFC 8439, section 2.3): twenty rounds over `input`, plus the input. 16 words
 * each. The state is in variables, not in an array: that is twice as fast.
 */
export function chachaBlock(input: Uint32Array, output: Uint32Array): void {
  let [x0, x1, x2, x3] = [input[0]! | 0, input[1]! | 0, input[2]! | 0, input[3]! | 0];
  let [x4, x5, x6, x7] = [input[4]! | 0, input[5]! | 0, input[6]! | 0, input[7]! | 0];
  let [x8, x9, x10, x11] = [input[8]! | 0, input[9]! | 0, input[10]! | 0, input[11]! | 0];
  let [x12, x13, x14, x15] = [input[12]! | 0, input[13]! | 0, input[14]! | 0, input[15]! | 0];
  for (let round = 0; round < 10; round++) {
    // Columns.
    x0 = (x0 + x4) | 0; x12 ^= x0; x12 = x12 << 16 | x12 >>> 16;
    x8 = (x8 + x12) | 0; x4 ^= x8; x4 = x4 << 12 | x4 >>> 20;
    x0 = (x0 + x4) | 0; x12 ^= x0; x12 = x12 << 8 | x12 >>> 24;
    x8 = (x8 + x12) | 0; x4 ^= x8; x4 = x4 << 7 | x4 >>> 25;
    x1 = (x1 + x5) | 0; x13 ^= x1; x13 = x13 << 16 | x13 >>> 16;
    x9 = (x9 + x13) | 0; x5 ^= x9; x5 = x5 << 12 | x5 >>> 20;
    x1 = (x1 + x5) | 0; x13 ^= x1; x13 = x13 << 8 | x13 >>> 24;
    x9 = (x9 + x13) | 0; x5 ^= x9; x5 = x5 << 7 | x5 >>> 25;
    x2 = (x2 + x6) | 0; x14 ^= x2; x14 = x14 << 16 | x14 >>> 16;
    x10 = (x10 + x14) | 0; x6 ^= x10; x6 = x6 << 12 | x6 >>> 20;
    x2 = (x2 + x6) | 0; x14 ^= x2; x14 = x14 << 8 | x14 >>> 24;
    x10 = (x10 + x14) | 0; x6 ^= x10; x6 = x6 << 7 | x6 >>> 25;
    x3 = (x3 + x7) | 0; x15 ^= x3; x15 = x15 << 16 | x15 >>> 16;
    x11 = (x11 + x15) | 0; x7 ^= x11; x7 = x7 << 12 | x7 >>> 20;
    x3 = (x3 + x7) | 0; x15 ^= x3; x15 = x15 << 8 | x15 >>> 24;
    x11 = (x11 + x15) | 0; x7 ^= x11; x7 = x7 << 7 | x7 >>> 25;
    // Diagonals.
    x0 = (x0 + x5) | 0; x15 ^= x0; x15 = x15 << 16 | x15 >>> 16;
    x10 = (x10 + x15) | 0; x5 ^= x10; x5 = x5 << 12 | x5 >>> 20;
    x0 = (x0 + x5) | 0; x15 ^= x0; x15 = x15 << 8 | x15 >>> 24;
    x10 = (x10 + x15) | 0; x5 ^= x10; x5 = x5 << 7 | x5 >>> 25;
    x1 = (x1 + x6) | 0; x12 ^= x1; x12 = x12 << 16 | x12 >>> 16;
    x11 = (x11 + x12) | 0; x6 ^= x11; x6 = x6 << 12 | x6 >>> 20;
    x1 = (x1 + x6) | 0; x12 ^= x1; x12 = x12 << 8 | x12 >>> 24;
    x11 = (x11 + x12) | 0; x6 ^= x11; x6 = x6 << 7 | x6 >>> 25;
    x2 = (x2 + x7) | 0; x13 ^= x2; x13 = x13 << 16 | x13 >>> 16;
    x8 = (x8 + x13) | 0; x7 ^= x8; x7 = x7 << 12 | x7 >>> 20;
    x2 = (x2 + x7) | 0; x13 ^= x2; x13 = x13 << 8 | x13 >>> 24;
    x8 = (x8 + x13) | 0; x7 ^= x8; x7 = x7 << 7 | x7 >>> 25;
    x3 = (x3 + x4) | 0; x14 ^= x3; x14 = x14 << 16 | x14 >>> 16;
    x9 = (x9 + x14) | 0; x4 ^= x9; x4 = x4 << 12 | x4 >>> 20;
    x3 = (x3 + x4) | 0; x14 ^= x3; x14 = x14 << 8 | x14 >>> 24;
    x9 = (x9 + x14) | 0; x4 ^= x9; x4 = x4 << 7 | x4 >>> 25;
  }
  output[0] = x0 + input[0]!; output[1] = x1 + input[1]!;
  output[2] = x2 + input[2]!; output[3] = x3 + input[3]!;
  output[4] = x4 + input[4]!; output[5] = x5 + input[5]!;
  output[6] = x6 + input[6]!; output[7] = x7 + input[7]!;
  output[8] = x8 + input[8]!; output[9] = x9 + input[9]!;
  output[10] = x10 + input[10]!; output[11] = x11 + input[11]!;
  output[12] = x12 + input[12]!; output[13] = x13 + input[13]!;
  output[14] = x14 + input[14]!; output[15] = x15 + input[15]!;
}

/** The initial state: constants, key (32 bytes), a 64-bit block counter at 0 and a zero nonce. */
export function chachaState(key: Uint8Array): Uint32Array {
  assert(key.length === 32, 'a ChaCha20 key has 32 bytes');
  const state = new Uint32Array(words);
  state.set(constants);
  const view = new DataView(key.buffer, key.byteOffset, key.length);
  for (let i = 0; i < 8; i++) state[4 + i] = view.getUint32(4 * i, true);
  return state;
}

/** An endless ChaCha20 keystream: deterministic bytes from a 32-byte key. It cannot seek. */
export class ChachaStream {
  readonly #state: Uint32Array;
  readonly #block = new Uint32Array(words);
  readonly #bytes = new Uint8Array(4 * words);
  #used = 4 * words;

  constructor(key: Uint8Array) {
    this.#state = chachaState(key);
  }

  fill(bytes: Uint8Array): void {
    let done = 0;
    while (done < bytes.length) {
      if (this.#used === this.#bytes.length) this.#refill();
      const take = Math.min(bytes.length - done, this.#bytes.length - this.#used);
      bytes.set(this.#bytes.subarray(this.#used, this.#used + take), done);
      this.#used += take;
      done += take;
    }
  }

  #refill(): void {
    chachaBlock(this.#state, this.#block);
    const view = new DataView(this.#bytes.buffer);
    for (let i = 0; i < words; i++) view.setUint32(4 * i, this.#block[i]!, true);
    this.#state[12] = (this.#state[12]! + 1) | 0;
    if (this.#state[12] === 0) this.#state[13] = (this.#state[13]! + 1) | 0;
    this.#used = 0;
  }
}

/**
 * Folds texts of any length into a 32-byte key. Every text is preceded by its length and split into
 * 32-byte pieces. Each piece is mixed into the key before the next block runs. Deterministic. Equal
 * inputs give equal keys, and different inputs give unrelated keys. Use it for seeds and labels
 * only, not as a general hash.
 */
export function foldKey(...parts: readonly Uint8Array[]): Uint8Array {
  const state = chachaState(new Uint8Array(32));
  for (const part of parts) foldPart(state, part, part.length);
  const key = new Uint8Array(32);
  const view = new DataView(key.buffer);
  for (let i = 0; i < 8; i++) view.setUint32(4 * i, state[4 + i]!, true);
  return key;
}

const folded = new Uint32Array(words);

/**
 * Folds one more text into the key of a ChaCha20 state, in place: `chachaState(foldKey(a))` becomes
 * `chachaState(foldKey(a, b))`. One block for every 32 bytes of the text and its length.
 * @param text - the `length` bytes from `start` on.
 */
export function foldPart(
  state: Uint32Array, text: Uint8Array, length: number, start = 0,
): void {
  // The length takes 8 bytes, the low one first.
  state[4] = state[4]! ^ (length >>> 0);
  state[5] = state[5]! ^ Math.floor(length / 2 ** 32);
  const end = start + length;
  for (let from = start, at = 8; from < end || at > 0; at = 0) {
    for (; at < 32 && from < end; at++, from++) {
      state[4 + (at >> 2)] = state[4 + (at >> 2)]! ^ (text[from]! << 8 * (at & 3));
    }
    chachaBlock(state, folded);
    for (let i = 4; i < 12; i++) state[i] = folded[i - 4]!;
  }
}
