import { assert } from '../base/assert.js';

const words = 16;
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

function quarterRound(state: Uint32Array, a: number, b: number, c: number, d: number): void {
  let x = state[a]!;
  let y = state[b]!;
  let z = state[c]!;
  let w = state[d]!;
  x = (x + y) | 0;
  w ^= x;
  w = (w << 16) | (w >>> 16);
  z = (z + w) | 0;
  y ^= z;
  y = (y << 12) | (y >>> 20);
  x = (x + y) | 0;
  w ^= x;
  w = (w << 8) | (w >>> 24);
  z = (z + w) | 0;
  y ^= z;
  y = (y << 7) | (y >>> 25);
  state[a] = x;
  state[b] = y;
  state[c] = z;
  state[d] = w;
}

/**
 * One ChaCha20 block (RFC 8439, section 2.3): twenty rounds over `input`, plus the input. 16 words
 * each.
 */
export function chachaBlock(input: Uint32Array, output: Uint32Array): void {
  output.set(input);
  for (let round = 0; round < 10; round++) {
    quarterRound(output, 0, 4, 8, 12);
    quarterRound(output, 1, 5, 9, 13);
    quarterRound(output, 2, 6, 10, 14);
    quarterRound(output, 3, 7, 11, 15);
    quarterRound(output, 0, 5, 10, 15);
    quarterRound(output, 1, 6, 11, 12);
    quarterRound(output, 2, 7, 8, 13);
    quarterRound(output, 3, 4, 9, 14);
  }
  for (let i = 0; i < words; i++) output[i] = (output[i]! + input[i]!) | 0;
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
 * @param text - the first `length` bytes.
 */
export function foldPart(state: Uint32Array, text: Uint8Array, length: number): void {
  // The length takes 8 bytes, the low one first.
  state[4] = state[4]! ^ (length >>> 0);
  state[5] = state[5]! ^ Math.floor(length / 2 ** 32);
  for (let from = 0, at = 8; from < length || at > 0; at = 0) {
    for (; at < 32 && from < length; at++, from++) {
      state[4 + (at >> 2)] = state[4 + (at >> 2)]! ^ (text[from]! << 8 * (at & 3));
    }
    chachaBlock(state, folded);
    for (let i = 4; i < 12; i++) state[i] = folded[i - 4]!;
  }
}
