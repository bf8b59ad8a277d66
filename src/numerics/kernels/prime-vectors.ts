import { assert } from '../../base/assert.js';
import { Arena, blocksOf } from './arena.js';

/** Numbers below p = 2^61 - 1 (base/prime), 8 bytes each. */
export type Elements = BigUint64Array;

/** Places of two lists that are multiplied, one after the other. */
export interface Run {
  /** The first place in the left list. */
  readonly left: number;
  /** The first place in the right list. */
  readonly right: number;
  /** The place of the sum that the first product is added to. */
  readonly sum: number;
  /** True where all products are added to that sum, false where each has a sum of its own. */
  readonly isOneSum: boolean;
  readonly length: number;
}

/** Entries that are in the arena at a time: its memory is never given back. */
const blockEntries = 2 ** 16;

/** Places of a block, each with room for `width` entries. */
const placesFor = (width: number): number => Math.max(1, Math.floor(blockEntries / width));

let own: Arena | null = null;

/** A part of the arena as elements. */
export function asElements({ buffer, byteOffset, length }: Float64Array): Elements {
  return new BigUint64Array(buffer as ArrayBuffer, byteOffset, length);
}

/** Parts of the arena, each with room for so many elements. Valid until the next call. */
function laidOut<const Lengths extends readonly number[]>(
  ...lengths: Lengths
): { readonly arena: Arena; readonly parts: { [K in keyof Lengths]: Elements } } {
  const arena = own ??= new Arena();
  const parts = arena.layout(...lengths).map(asElements);
  return { arena, parts: parts as { [K in keyof Lengths]: Elements } };
}

/** Columns of a vector with an entry at each node: the last one is filled up with zeros. */
const columnsOf = (length: number, nodes: number): number => Math.ceil(length / nodes);

/** Entries of some columns at each node, node after node. */
function putColumns(
  target: Elements, vector: Elements, nodes: number, from: number, end: number,
): void {
  const q = columnsOf(vector.length, nodes);
  const width = end - from;
  for (let node = 0; node < nodes; node++) {
    const entries = vector.subarray(node * q + from, node * q + end);
    target.set(entries, node * width);
    target.fill(0n, node * width + entries.length, (node + 1) * width);
  }
}

/**
 * G(1) .. G(2 nodes - 2) of G = sum of A_c B_c. The polynomial A_c goes through entries c, c + q,
 * c + 2 q, .. of `left` at 0, 1, 2, .., where q = ceil(length / nodes), and B_c through those of
 * `right`. O(length nodes).
 * @param weights - of a polynomial's values at 0 .. nodes - 1, row by row, for each of the points
 *   nodes .. 2 nodes - 2.
 */
export function pointsOf(
  left: Elements, right: Elements, nodes: number, weights: Elements,
): readonly bigint[] {
  assert(left.length === right.length, 'a product is of two vectors of one length');
  const q = columnsOf(left.length, nodes);
  const room = Math.min(q * nodes, Math.max(nodes, blockEntries));
  const { arena: { exports }, parts: [u, w, table, points] } =
    laidOut(room, room, weights.length, 2 * nodes - 2);
  table.set(weights);
  points.fill(0n);
  for (const [from, end] of blocksOf(q, placesFor(nodes))) {
    putColumns(u, left, nodes, from, end);
    putColumns(w, right, nodes, from, end);
    if (nodes === 4) {
      exports.pointsOfFour(u.byteOffset, w.byteOffset, end - from, points.byteOffset);
    } else {
      exports.pointsOfMany(
        u.byteOffset, w.byteOffset, end - from, nodes, table.byteOffset, points.byteOffset,
      );
    }
  }
  return [...points];
}

/**
 * A vector at a point: entry c is the sum of weights[i] vector[c + i q], where q = ceil(length /
 * weights). O(length).
 */
export function foldedVector(vector: Elements, weights: Elements): Elements {
  const nodes = weights.length;
  const folded = new BigUint64Array(columnsOf(vector.length, nodes));
  const room = Math.min(folded.length * nodes, Math.max(nodes, blockEntries));
  const { arena: { exports }, parts: [u, factors] } = laidOut(room, nodes);
  factors.set(weights);
  for (const [from, end] of blocksOf(folded.length, placesFor(nodes))) {
    putColumns(u, vector, nodes, from, end);
    exports.foldVector(u.byteOffset, end - from, nodes, factors.byteOffset);
    folded.set(u.subarray(0, end - from), from);
  }
  return folded;
}

/** Adds the products of each run to its sums. */
export function addRuns(
  sums: Elements, left: Elements, right: Elements, runs: readonly Run[],
): void {
  const most = runs.reduce((longest, { length }) => Math.max(longest, length), 0);
  const room = Math.min(most, blockEntries);
  const { arena: { exports }, parts: [u, w, target] } = laidOut(room, room, room);
  for (const run of runs) {
    for (const [from, end] of blocksOf(run.length, blockEntries)) {
      u.set(left.subarray(run.left + from, run.left + end));
      w.set(right.subarray(run.right + from, run.right + end));
      const places = run.isOneSum
        ? sums.subarray(run.sum, run.sum + 1) : sums.subarray(run.sum + from, run.sum + end);
      target.set(places);
      const add = run.isOneSum ? exports.addInnerProduct : exports.addProducts;
      add(u.byteOffset, w.byteOffset, end - from, target.byteOffset);
      places.set(target.subarray(0, places.length));
    }
  }
}

/**
 * Adds to each place of the left list the places of the right one that it is multiplied by, each
 * times the weight of its sum: the inner product of the left list and this is the weighed total.
 */
export function addWeighed(
  target: Elements, right: Elements, weights: Elements, runs: readonly Run[],
): void {
  const most = runs.reduce((longest, { length }) => Math.max(longest, length), 0);
  const room = Math.min(most, blockEntries);
  const { arena: { exports }, parts: [u, w, sums] } = laidOut(room, room, room);
  for (const run of runs) {
    for (const [from, end] of blocksOf(run.length, blockEntries)) {
      const places = target.subarray(run.left + from, run.left + end);
      u.set(right.subarray(run.right + from, run.right + end));
      w.set(run.isOneSum
        ? weights.subarray(run.sum, run.sum + 1)
        : weights.subarray(run.sum + from, run.sum + end));
      sums.set(places);
      const add = run.isOneSum ? exports.addMultiples : exports.addProducts;
      add(u.byteOffset, w.byteOffset, end - from, sums.byteOffset);
      places.set(sums.subarray(0, places.length));
    }
  }
}

/** The sum of products, modulo p. */
export function innerProductOf(left: Elements, right: Elements): bigint {
  assert(left.length === right.length, 'a product is of two vectors of one length');
  const sum = new BigUint64Array(1);
  addRuns(sum, left, right, [{ left: 0, right: 0, sum: 0, isOneSum: true, length: left.length }]);
  return sum[0]!;
}
