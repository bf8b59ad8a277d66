import { prime } from '../../base/prime.js';
import type { KeyStream } from '../steps/key-stream.js';

/** Uniform elements, each used once. */
export interface ElementStream {
  readonly next: () => bigint;
}

/**
 * A prime field, and the least value of a coin. Coins are no nodes of a polynomial: there a proof
 * would show an entry of a vector.
 */
export interface Field {
  readonly prime: bigint;
  readonly coinsFrom: bigint;
}

/** The field of numbers that three servers share. Polynomials have at most 127 nodes. */
export const sharedField: Field = { prime, coinsFrom: 128n };

/** The element that a whole number stands for. */
export function elementOf({ prime: p }: Field, value: bigint): bigint {
  const rest = value % p;
  return rest < 0n ? rest + p : rest;
}

/** Sum of products. */
export function innerProduct(
  field: Field, left: readonly bigint[], right: readonly bigint[],
): bigint {
  return elementOf(field, left.reduce((sum, value, i) => sum + value * right[i]!, 0n));
}

function inverse(field: Field, value: bigint): bigint {
  let [result, base, exponent] = [1n, elementOf(field, value), field.prime - 2n];
  for (; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = elementOf(field, result * base);
    base = elementOf(field, base * base);
  }
  return result;
}

/** Weights that give a polynomial of degree below `nodes` at a point from its values at 0, 1, .. */
export function weightsAt(field: Field, nodes: number, point: bigint): readonly bigint[] {
  return Array.from({ length: nodes }, (_, i) => {
    let [above, below] = [1n, 1n];
    for (let j = 0; j < nodes; j++) {
      if (j === i) continue;
      above = elementOf(field, above * (point - BigInt(j)));
      below = elementOf(field, below * BigInt(i - j));
    }
    return elementOf(field, above * inverse(field, below));
  });
}

/** Elements that a stream takes at once. */
const elementsAtOnce = 512;

/**
 * The elements of a key stream, from its position 0 on: the lowest 61 bits of 8 bytes each, where
 * they are below p.
 */
export class KeyElements implements ElementStream {
  readonly #stream: KeyStream;
  #position = 0;
  #words: BigUint64Array = new BigUint64Array(0);
  #at = 0;

  /** @param stream - of a key for this use alone. */
  constructor(stream: KeyStream) {
    this.#stream = stream;
  }

  next(): bigint {
    for (;;) {
      if (this.#at === this.#words.length) {
        const { buffer, byteOffset } = this.#stream.take(this.#position++, 2 * elementsAtOnce);
        this.#words = new BigUint64Array(buffer, byteOffset, elementsAtOnce);
        this.#at = 0;
      }
      // p itself is 2^61 - 1: the mask of 61 bits.
      const value = this.#words[this.#at++]! & prime;
      if (value < prime) return value;
    }
  }
}

/** The next element that may be a coin. */
export function coinOf({ coinsFrom }: Field, stream: ElementStream): bigint {
  for (;;) {
    const value = stream.next();
    if (value >= coinsFrom) return value;
  }
}
