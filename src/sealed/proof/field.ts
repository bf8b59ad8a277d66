import { prime } from '../../base/prime.js';
import {
  addWeighed, foldedVector, innerProductOf, pointsOf, type Elements,
} from '../../numerics/kernels/prime-vectors.js';
import type { KeyStream } from '../steps/key-stream.js';

export type { Elements };

/** Uniform elements, each used once. */
export interface ElementStream {
  readonly next: () => bigint;
  /** The next `count` elements. */
  readonly many: (count: number) => Elements;
}

/** A prime field: elements are whole numbers below the prime, at most 61 bits. */
export interface Field {
  readonly prime: bigint;
  /**
   * The least value of a coin. Coins are no nodes of a polynomial: there a proof would show an
   * entry of a vector.
   */
  readonly coinsFrom: bigint;
  /** Values of a product of polynomials: see numerics/kernels/prime-vectors. */
  readonly pointsOf: typeof pointsOf;
  readonly foldedVector: typeof foldedVector;
  readonly addWeighed: typeof addWeighed;
  readonly innerProductOf: typeof innerProductOf;
}

/** The field of numbers that three servers share. Polynomials have at most 127 nodes. */
export const sharedField: Field = {
  prime, coinsFrom: 128n, pointsOf, foldedVector, addWeighed, innerProductOf,
};

/** The element that a whole number stands for. */
export function elementOf({ prime: p }: Pick<Field, 'prime'>, value: bigint): bigint {
  const rest = value % p;
  return rest < 0n ? rest + p : rest;
}

function inverse(field: Field, value: bigint): bigint {
  let [result, base, exponent] = [1n, elementOf(field, value), field.prime - 2n];
  for (; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = elementOf(field, result * base);
    base = elementOf(field, base * base);
  }
  return result;
}

/** Makes once what follows from a field and a number of nodes alone. */
export function onceForNodes<T>(
  make: (field: Field, nodes: number) => T,
): (field: Field, nodes: number) => T {
  const made = new WeakMap<Field, Map<number, T>>();
  return (field, nodes) => {
    let ofField = made.get(field);
    if (ofField === undefined) made.set(field, ofField = new Map<number, T>());
    let found = ofField.get(nodes);
    if (found === undefined) ofField.set(nodes, found = make(field, nodes));
    return found;
  };
}

/** The inverses of prod (i - j) over the nodes j beside i, for each node i. */
const denominatorsOf = onceForNodes((field, nodes) => Array.from({ length: nodes }, (_, i) => {
  let below = 1n;
  for (let j = 0; j < nodes; j++) if (j !== i) below = elementOf(field, below * BigInt(i - j));
  return inverse(field, below);
}));

/** Weights that give a polynomial of degree below `nodes` at a point from its values at 0, 1, .. */
export function weightsAt(field: Field, nodes: number, point: bigint): Elements {
  const inverses = denominatorsOf(field, nodes);
  // Products of point - j over the nodes below i, then over those above it.
  const weights = new BigUint64Array(nodes);
  let product = 1n;
  for (let i = 0; i < nodes; i++) {
    weights[i] = product;
    product = elementOf(field, product * (point - BigInt(i)));
  }
  product = 1n;
  for (let i = nodes - 1; i >= 0; i--) {
    const above = elementOf(field, weights[i]! * product);
    weights[i] = elementOf(field, above * inverses[i]!);
    product = elementOf(field, product * (point - BigInt(i)));
  }
  return weights;
}

/** The elements of a key stream, from its position 0 on. */
export class KeyElements implements ElementStream {
  readonly #stream: KeyStream;
  #position = 0;
  #left: Elements = new BigUint64Array(0);

  /** @param stream - of a key for this use alone. */
  constructor(stream: KeyStream) {
    this.#stream = stream;
  }

  next(): bigint {
    if (this.#left.length === 0) this.#left = this.many(elementsAtOnce);
    const next = this.#left[0]!;
    this.#left = this.#left.subarray(1);
    return next;
  }

  many(count: number): Elements {
    const words = this.#stream.takeNumbers(this.#position++, count);
    return new BigUint64Array(words.buffer, words.byteOffset, count);
  }
}

/** Elements that `next` takes from a stream at once. */
const elementsAtOnce = 64;

/** The next element that may be a coin. */
export function coinOf({ coinsFrom }: Field, stream: ElementStream): bigint {
  for (;;) {
    const value = stream.next();
    if (value >= coinsFrom) return value;
  }
}
