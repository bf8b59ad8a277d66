import { assert } from '../../base/assert.js';
import { modPrime } from '../../base/prime.js';
import { Arena, blocksOf } from './arena.js';
import { asElements, type Elements } from './prime-vectors.js';

/** Ands whose statements are put together: 16 products, at as many nodes. */
export const andsOfGroup = 4;
export const nodesOfGroup = 16;
/** Groups that the second fold puts together: one from each quarter of them. */
export const quarters = 4;
const productsOfPair = 8;
const patternsOfPair = 64;
/** Combinations of a left and a right pair of a group. */
const combinations = 4;
/** Columns of groups that are in the arena at a time: its memory is never given back. */
const blockColumns = 2 ** 14;

/**
 * Weights of statements of ands: one for each place in a quarter of the groups, and one for each of
 * the 16 ands at that place in the four quarters. The weight of an and is the product of the two.
 */
export interface AndWeights {
  readonly places: Elements;
  readonly ands: readonly bigint[];
}

/** Groups of a list of `words` words of bits, 32 ands to a word. */
export function groupsOf(words: number): number {
  return Math.ceil(words / 2) * 16;
}

/** Bytes of the patterns of one side of so many words of ands. */
export function patternBytes(words: number): number {
  return 2 * groupsOf(words);
}

let own: Arena | null = null;

const bytesOf = (part: Float64Array): Uint8Array =>
  new Uint8Array(part.buffer, part.byteOffset, part.byteLength);

/**
 * Patterns of one side of ands: three bits of each, two ands to a byte. Four ands are a group: bits
 * i, i + n, i + 2 n and i + 3 n for group i of n.
 * @param lists - x, y and the third bit, 32 ands to a word. Bits that fill up the last groups are
 *   zeros: an and of zeros, which is right.
 * @param target - of `patternBytes` bytes or more: the patterns are at its start.
 */
export function andPatterns(
  [x, y, third]: readonly [Uint32Array, Uint32Array, Uint32Array],
  target = new Uint8Array(patternBytes(x.length)),
): Uint8Array {
  assert(x.length === y.length && x.length === third.length, 'an and has three bits');
  const groups = groupsOf(x.length);
  const bytes = (groups * andsOfGroup) / 8;
  const arena = own ??= new Arena();
  const [a, b, c, out] = arena.layout(bytes / 8, bytes / 8, bytes / 8, groups / 4);
  [x, y, third].forEach((list, i) => {
    const part = bytesOf([a, b, c][i]!);
    part.set(new Uint8Array(list.buffer, list.byteOffset, list.byteLength));
    part.fill(0, list.byteLength);
  });
  arena.exports.andPatterns(a.byteOffset, b.byteOffset, c.byteOffset, bytes / 2, out.byteOffset);
  const patterns = target.subarray(0, 2 * groups);
  patterns.set(bytesOf(out).subarray(0, 2 * groups));
  return patterns;
}

/** The four factors of an and on either side, from its three bits there. */
export interface AndFactors {
  readonly left: (x: number, y: number, third: number) => readonly bigint[];
  readonly right: (x: number, y: number, third: number) => readonly bigint[];
}

type FactorsOfAnd = (x: number, y: number, third: number) => readonly bigint[];

/** The eight factors of a pair of ands, for each of its 64 patterns: three bits of each. */
function factorsOf(factors: FactorsOfAnd, weights: readonly [bigint, bigint]): Elements {
  const table = new BigUint64Array(productsOfPair * patternsOfPair);
  const ofAnd = Array.from({ length: 8 }, (_, bits) =>
    factors(bits & 1, (bits >> 1) & 1, bits >> 2));
  const each = weights.map((weight) =>
    ofAnd.map((list) => list.map((factor) => modPrime(factor * weight))));
  for (let pattern = 0; pattern < patternsOfPair; pattern++) {
    const at = productsOfPair * pattern;
    each[0]![pattern & 7]!.forEach((factor, i) => { table[at + i] = factor; });
    each[1]![pattern >> 3]!.forEach((factor, i) => { table[at + 4 + i] = factor; });
  }
  return table;
}

/**
 * For each quarter and pair, what each pattern of the pair adds to the entry of its group: the sum
 * of `at[i]` times factor i, times the weight of the and, if there is one, and of the quarter.
 */
function entriesOf(
  factors: FactorsOfAnd, at: Elements, ofQuarter: Elements, ands: readonly bigint[] | null,
): Elements {
  const table = new BigUint64Array(2 * quarters * patternsOfPair);
  const ofAnd = Array.from({ length: andsOfGroup }, (_, and) =>
    Array.from({ length: 8 }, (__, bits) => modPrime(
      factors(bits & 1, (bits >> 1) & 1, bits >> 2)
        .reduce((sum, factor, i) => sum + factor * at[4 * and + i]!, 0n),
    )));
  for (let quarter = 0; quarter < quarters; quarter++) {
    for (let pair = 0; pair < 2; pair++) {
      const [low, high] = [0, 1].map((i) => {
        const and = 2 * pair + i;
        const weight = modPrime(ofQuarter[quarter]! * (ands?.[andsOfGroup * quarter + and] ?? 1n));
        return ofAnd[and]!.map((entry) => modPrime(entry * weight));
      });
      for (let pattern = 0; pattern < patternsOfPair; pattern++) {
        table[patternsOfPair * (2 * quarter + pair) + pattern] =
          modPrime(low![pattern & 7]! + high![pattern >> 3]!);
      }
    }
  }
  return table;
}

/** Puts the patterns of columns `from` to `end` into the arena: by pair, and then by quarter. */
function putPatterns(target: Uint8Array, patterns: Uint8Array, from: number, end: number): void {
  const columns = patterns.length / (2 * quarters);
  for (let i = 0; i < 2 * quarters; i++) {
    target.set(
      patterns.subarray(i * columns + from, i * columns + end), i * (end - from),
    );
  }
}

/**
 * The sums over groups of the products of factor i of the left side, with its weight, and factor k
 * of the right side: 16 x 16, row by row. O(ands), by counting patterns.
 */
export function productsOfGroups(
  left: Uint8Array, right: Uint8Array, { places, ands }: AndWeights, factors: AndFactors,
): Elements {
  assert(left.length === right.length, 'both sides have the same ands');
  const arena = own ??= new Arena();
  const room = Math.min(places.length, blockColumns);
  const [size, tables] = [productsOfPair * patternsOfPair, combinations * patternsOfPair ** 2];
  const [l, r, weights, sums, u, w, products, work] = arena.layout(
    room, room, room, quarters * tables, size, size, combinations * productsOfPair ** 2, size,
  );
  sums.fill(0);
  products.fill(0);
  asElements(w).set(factorsOf(factors.right, [1n, 1n]));
  for (const [from, end] of blocksOf(places.length, blockColumns)) {
    putPatterns(bytesOf(l), left, from, end);
    putPatterns(bytesOf(r), right, from, end);
    asElements(weights).set(places.subarray(from, end));
    const count = end - from;
    for (let quarter = 0; quarter < quarters; quarter++) {
      arena.exports.addByPattern(
        l.byteOffset + quarter * count, r.byteOffset + quarter * count, quarters * count, count,
        weights.byteOffset, sums.byteOffset + 8 * quarter * tables,
      );
    }
  }
  for (let i = 0; i < quarters * combinations; i++) {
    const [quarter, both] = [Math.floor(i / combinations), i % combinations];
    const and = andsOfGroup * quarter + 2 * (both >> 1);
    asElements(u).set(factorsOf(factors.left, [ands[and]!, ands[and + 1]!]));
    arena.exports.addPatternProducts(
      sums.byteOffset + 8 * i * patternsOfPair ** 2, u.byteOffset, w.byteOffset,
      products.byteOffset + 8 * both * productsOfPair ** 2, work.byteOffset,
    );
  }
  return inRows(asElements(products));
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

const ones = BigUint64Array.of(1n, 1n, 1n, 1n);

/**
 * G(1) .. G(6) of the fold of the groups by four, after the fold within groups at `at`. Neither the
 * entries of the groups nor their polynomials are kept: they would be four times the ands' room.
 */
export function pointsOfGroups(
  left: Uint8Array, right: Uint8Array, at: Elements, { places, ands }: AndWeights,
  factors: AndFactors,
): readonly bigint[] {
  const arena = own ??= new Arena();
  const room = Math.min(places.length, blockColumns);
  const size = 2 * quarters * patternsOfPair;
  const [l, r, weights, u, w, points] = arena.layout(room, room, room, size, size, 6);
  asElements(u).set(entriesOf(factors.left, at, ones, ands));
  asElements(w).set(entriesOf(factors.right, at, ones, null));
  points.fill(0);
  for (const [from, end] of blocksOf(places.length, blockColumns)) {
    putPatterns(bytesOf(l), left, from, end);
    putPatterns(bytesOf(r), right, from, end);
    asElements(weights).set(places.subarray(from, end));
    const count = end - from;
    arena.exports.pointsOfPatterns(
      l.byteOffset, r.byteOffset, quarters * count, count, count, u.byteOffset, w.byteOffset,
      weights.byteOffset, points.byteOffset,
    );
  }
  return [...asElements(points)];
}

/**
 * One entry for each four groups after both folds, on one side: the entries of the four, times
 * `ofQuarter`.
 * @param weights - of the left side, which has them; null on the right one.
 * @param memory - of an entry for each four groups or more: the result is at its start.
 */
export function foldedGroups(
  patterns: Uint8Array, at: Elements, ofQuarter: Elements, weights: AndWeights | null,
  factors: AndFactors, memory = new BigUint64Array(patterns.length / (2 * quarters)),
): Elements {
  const arena = own ??= new Arena();
  const folded = memory.subarray(0, patterns.length / (2 * quarters));
  const room = Math.min(folded.length, blockColumns);
  const [pairs, tables, places, entries] =
    arena.layout(room, 2 * quarters * patternsOfPair, room, room);
  asElements(tables).set(entriesOf(
    weights === null ? factors.right : factors.left, at, ofQuarter, weights?.ands ?? null,
  ));
  for (const [from, end] of blocksOf(folded.length, blockColumns)) {
    putPatterns(bytesOf(pairs), patterns, from, end);
    if (weights !== null) asElements(places).set(weights.places.subarray(from, end));
    const count = end - from;
    arena.exports.foldPatterns(
      pairs.byteOffset, quarters * count, count, count, tables.byteOffset,
      weights === null ? 0 : places.byteOffset, entries.byteOffset,
    );
    folded.set(asElements(entries).subarray(0, count), from);
  }
  return folded;
}

/** The sum of all ands' weights: what their statements add up to, if each is right. */
export function sumOfWeights({ places, ands }: AndWeights): bigint {
  // Sums of the low and the high words: doubles hold both for up to 2^21 places.
  const words = new Uint32Array(places.buffer, places.byteOffset, 2 * places.length);
  let [low, high] = [0, 0];
  for (let at = 0; at < words.length; at += 2) {
    low += words[at]!;
    high += words[at + 1]!;
  }
  const total = BigInt(low) + (BigInt(high) << 32n);
  return modPrime(total * ands.reduce((sum, one) => sum + one, 0n));
}
