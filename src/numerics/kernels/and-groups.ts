import { assert } from '../../base/assert.js';
import { modPrime } from '../../base/prime.js';
import { Arena } from './arena.js';
import type { Elements } from './prime-vectors.js';

/** Ands whose statements are put together: 16 products, at as many nodes. */
export const andsOfGroup = 4;
export const nodesOfGroup = 16;
const productsOfPair = 8;
const patternsOfPair = 64;
const combinations = 4;

/**
 * Weights of statements of ands: one for each block of groups, one for each place in a block, and
 * one for each of the four ands of a group. The weight of an and is the product of its three.
 */
export interface AndWeights {
  readonly blocks: Elements;
  readonly places: Elements;
  readonly ands: readonly bigint[];
}

/** Groups of a list of `words` words of bits, 32 ands to a word. */
export function groupsOf(words: number): number {
  return Math.ceil(words / 2) * 16;
}

let own: Arena | null = null;

/**
 * Patterns of one side of ands: three bits of each, two ands to a byte. Four ands are a group: bits
 * i, i + n, i + 2 n and i + 3 n for group i of n.
 * @param lists - x, y and the third bit, 32 ands to a word. Bits that fill up the last groups are
 *   zeros: an and of zeros, which is right.
 */
export function andPatterns(
  [x, y, third]: readonly [Uint32Array, Uint32Array, Uint32Array],
): Uint8Array {
  assert(x.length === y.length && x.length === third.length, 'an and has three bits');
  const groups = groupsOf(x.length);
  const bytes = (groups * andsOfGroup) / 8;
  const arena = own ??= new Arena();
  const [a, b, c, out] = arena.layout(bytes / 8, bytes / 8, bytes / 8, groups / 4);
  const bytesOf = (part: Float64Array): Uint8Array =>
    new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  [x, y, third].forEach((list, i) => {
    const part = bytesOf([a, b, c][i]!);
    part.set(new Uint8Array(list.buffer, list.byteOffset, list.byteLength));
    part.fill(0, list.byteLength);
  });
  arena.exports.andPatterns(a.byteOffset, b.byteOffset, c.byteOffset, bytes / 2, out.byteOffset);
  return bytesOf(out).slice(0, 2 * groups);
}

/** The eight factors of a pair of ands, for each of its 64 patterns: three bits of each. */
function factorsOf(
  factors: (first: number, second: number, third: number, and: number) => readonly bigint[],
  pair: number,
): readonly bigint[] {
  return Array.from({ length: patternsOfPair }, (_, pattern) => [0, 1].flatMap((i) => {
    const bits = pattern >> (3 * i);
    return factors(bits & 1, (bits >> 1) & 1, (bits >> 2) & 1, 2 * pair + i).map(modPrime);
  })).flat();
}

/** The four factors of an and on either side, from its three bits there. */
export interface AndFactors {
  readonly left: (x: number, y: number, third: number) => readonly bigint[];
  readonly right: (x: number, y: number, third: number) => readonly bigint[];
}

/** Factors of the left side's two pairs, each and with its weight. */
const leftFactors = ({ left }: AndFactors, weights: AndWeights, pair: number): readonly bigint[] =>
  factorsOf((x, y, third, and) =>
    left(x, y, third).map((factor) => factor * weights.ands[and]!), pair);

/**
 * The sums over groups of the products of factor i of the left side, with its weight, and factor k
 * of the right side: 16 x 16, row by row. O(ands), by counting patterns.
 */
export function productsOfGroups(
  left: Uint8Array, right: Uint8Array, weights: AndWeights, factors: AndFactors,
): Elements {
  assert(left.length === right.length, 'both sides have the same ands');
  const groups = left.length / 2;
  const arena = own ??= new Arena();
  const size = productsOfPair * patternsOfPair;
  const [l, r, places, sums, u, w, weight, products, work] = arena.layout(
    groups / 4, groups / 4, weights.places.length, combinations * patternsOfPair ** 2,
    2 * size, size, 1, combinations * productsOfPair ** 2, size,
  );
  const elements = (part: Float64Array): Elements =>
    new BigUint64Array(part.buffer as ArrayBuffer, part.byteOffset, part.length);
  new Uint8Array(l.buffer, l.byteOffset, left.length).set(left);
  new Uint8Array(r.buffer, r.byteOffset, right.length).set(right);
  elements(places).set(weights.places);
  elements(u).set([0, 1].flatMap((pair) => leftFactors(factors, weights, pair)));
  elements(w).set(factorsOf(factors.right, 0));
  products.fill(0);
  const block = weights.places.length;
  for (let from = 0, i = 0; from < groups; from += block, i++) {
    arena.exports.addByPattern(
      l.byteOffset + from, r.byteOffset + from, groups, Math.min(block, groups - from),
      places.byteOffset, sums.byteOffset,
    );
    elements(weight)[0] = weights.blocks[i]!;
    for (let both = 0; both < combinations; both++) {
      arena.exports.addPatternProducts(
        sums.byteOffset + 8 * both * patternsOfPair ** 2, u.byteOffset + 8 * size * (both >> 1),
        w.byteOffset, weight.byteOffset, products.byteOffset + 8 * both * productsOfPair ** 2,
        work.byteOffset,
      );
    }
  }
  return inRows(elements(products));
}

/** 16 x 16 products from those of the four combinations of pairs, 8 x 8 each. */
function inRows(products: Elements): Elements {
  const rows = new BigUint64Array(nodesOfGroup ** 2);
  for (let i = 0; i < nodesOfGroup; i++) {
    for (let k = 0; k < nodesOfGroup; k++) {
      const both = 2 * Math.floor(i / productsOfPair) + Math.floor(k / productsOfPair);
      rows[nodesOfGroup * i + k] = products[
        productsOfPair ** 2 * both + productsOfPair * (i % productsOfPair) + (k % productsOfPair)
      ]!;
    }
  }
  return rows;
}

/**
 * One entry for each group, the sum of `at[i]` times factor i, on one side; and then others.
 * @param weights - of the left side, which has them; null on the right one.
 */
export function foldedGroups(
  patterns: Uint8Array, at: readonly bigint[], weights: AndWeights | null, factors: AndFactors,
  others: Elements,
): Elements {
  const groups = patterns.length / 2;
  const arena = own ??= new Arena();
  const block = weights?.places.length ?? Math.max(1, groups);
  const [pairs, tables, places, entries] =
    arena.layout(groups / 4, 2 * patternsOfPair, block, groups);
  const elements = (part: Float64Array): Elements =>
    new BigUint64Array(part.buffer as ArrayBuffer, part.byteOffset, part.length);
  new Uint8Array(pairs.buffer, pairs.byteOffset, patterns.length).set(patterns);
  const sums = [0, 1].flatMap((pair) => {
    const all = weights === null
      ? factorsOf(factors.right, pair) : leftFactors(factors, weights, pair);
    return Array.from({ length: patternsOfPair }, (_, pattern) =>
      all.slice(productsOfPair * pattern, productsOfPair * (pattern + 1))
        .reduce((sum, factor, i) => sum + factor * at[productsOfPair * pair + i]!, 0n));
  });
  if (weights !== null) elements(places).set(weights.places);
  for (let from = 0, i = 0; from < groups; from += block, i++) {
    const weight = weights?.blocks[i] ?? 1n;
    elements(tables).set(sums.map((sum) => modPrime(sum * weight)));
    arena.exports.foldPatterns(
      pairs.byteOffset + from, groups, Math.min(block, groups - from), tables.byteOffset,
      weights === null ? 0 : places.byteOffset, entries.byteOffset + 8 * from,
    );
  }
  const vector = new BigUint64Array(groups + others.length);
  vector.set(elements(entries));
  vector.set(others, groups);
  return vector;
}

/** The sum of all ands' weights: what their statements add up to, if each is right. */
export function sumOfWeights({ blocks, places, ands }: AndWeights, groups: number): bigint {
  const sum = (elements: Elements): bigint => elements.reduce((total, one) => total + one, 0n);
  const whole = Math.floor(groups / places.length);
  const rest = places.subarray(0, groups - whole * places.length);
  const all = sum(blocks.subarray(0, whole)) * sum(places)
    + (rest.length === 0 ? 0n : blocks[whole]! * sum(rest));
  return modPrime(all * ands.reduce((total, one) => total + one, 0n));
}
