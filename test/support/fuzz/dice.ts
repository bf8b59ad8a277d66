/**
 * Choices of a fuzzer from one seed: a few nanoseconds each, which is what millions of frames need.
 * A counter with 128 bits of state: not for privacy, and not for statistics.
 */
export class Dice {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, stream = 0) {
    this.#a = seed | 0;
    this.#b = stream | 0;
    this.#c = Math.trunc(seed / 2 ** 32) | 0;
    for (let i = 0; i < 15; i++) this.word();
  }

  /** 32 bits. */
  word(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum | 0;
    return sum >>> 0;
  }

  /** A whole number in 0..count-1. */
  below(count: number): number {
    return Math.floor((this.word() / 2 ** 32) * count);
  }

  happens(share: number): boolean {
    return this.word() < share * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = this.word() & 255;
    return bytes;
  }
}
