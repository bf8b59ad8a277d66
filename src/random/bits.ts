import { assert } from '../base/assert.js';
import type { NoiseSource } from './source.js';

const bufferWords = 256;
const wordSpan = 2 ** 32;

/**
 * Random bits in the forms that the exact samplers use. Reads the source 1 KiB at a time and wipes
 * each word that was used. Integers are uniform without bias: the fewest bits that hold the range
 * are drawn, and a value outside the range is drawn again.
 */
export class RandomBits {
  readonly #noise: NoiseSource;
  readonly #words = new Uint32Array(bufferWords);
  #used = bufferWords;
  #pool = 0;
  #poolBits = 0;

  constructor(noise: NoiseSource) {
    this.#noise = noise;
  }

  /** Uniform in [0, 2^32). */
  word(): number {
    if (this.#used === bufferWords) {
      this.#noise.fill(new Uint8Array(this.#words.buffer));
      this.#used = 0;
    }
    const word = this.#words[this.#used]!;
    this.#words[this.#used] = 0;
    this.#used += 1;
    return word;
  }

  /** A fair coin. */
  bit(): boolean {
    if (this.#poolBits === 0) {
      this.#pool = this.word();
      this.#poolBits = 32;
    }
    const bit = (this.#pool & 1) === 1;
    this.#pool >>>= 1;
    this.#poolBits -= 1;
    return bit;
  }

  /** Uniform in [0, bound). `bound`: an integer, 1..2^53. */
  below(bound: number): number {
    if (bound <= wordSpan) {
      const last = bound - 1;
      if (last === 0) return 0;
      const shift = Math.clz32(last);
      for (;;) {
        const value = this.word() >>> shift;
        if (value < bound) return value;
      }
    }
    const shift = Math.clz32(Math.floor((bound - 1) / wordSpan));
    for (;;) {
      const value = (this.word() >>> shift) * wordSpan + this.word();
      if (value < bound) return value;
    }
  }

  /** Uniform in [0, bound). `bound`: any positive integer. */
  belowBig(bound: bigint): bigint {
    assert(bound > 0n, 'a uniform draw has a positive bound');
    if (bound <= 0x20_0000_0000_0000n) return BigInt(this.below(Number(bound)));
    const digits = (bound - 1n).toString(16);
    const bits = 4 * digits.length - Math.clz32(Number.parseInt(digits[0]!, 16)) + 28;
    const whole = bits >>> 5;
    const rest = bits & 31;
    for (;;) {
      let value = rest === 0 ? 0n : BigInt(this.word() >>> (32 - rest));
      for (let i = 0; i < whole; i++) value = (value << 32n) | BigInt(this.word());
      if (value < bound) return value;
    }
  }
}
