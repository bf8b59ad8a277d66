import { assert } from '../../base/assert.js';
import { Arena } from './arena.js';

/** Numbers below p = 2^61 - 1 (base/prime), 8 bytes each. */
export type Elements = BigUint64Array;

let own: Arena | null = null;

/** Parts of the arena, each with room for so many elements. Valid until the next call. */
function laidOut<const Lengths extends readonly number[]>(
  ...lengths: Lengths
): { readonly arena: Arena; readonly parts: { [K in keyof Lengths]: Elements } } {
  const arena = own ??= new Arena();
  const parts = arena.layout(...lengths).map(({ buffer, byteOffset, length }) =>
    new BigUint64Array(buffer as ArrayBuffer, byteOffset, length));
  return { arena, parts: parts as { [K in keyof Lengths]: Elements } };
}

/** A vector, and zeros behind it. */
function put(part: Elements, vector: Elements): void {
  part.set(vector);
  part.fill(0n, vector.length);
}

/** Entries at each node: the last column is filled up with zeros. */
const columnsOf = (length: number, nodes: number): number => Math.ceil(length / nodes);

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
  const { arena, parts: [u, w, table, points] } =
    laidOut(q * nodes, q * nodes, weights.length, 2 * nodes - 2);
  put(u, left);
  put(w, right);
  if (nodes === 4) {
    arena.exports.pointsOfFour(u.byteOffset, w.byteOffset, q, points.byteOffset);
  } else {
    table.set(weights);
    arena.exports.pointsOfMany(
      u.byteOffset, w.byteOffset, q, nodes, table.byteOffset, points.byteOffset,
    );
  }
  return [...points];
}

/**
 * A vector at a point: entry c is the sum of weights[i] vector[c + i q], where q = ceil(length /
 * weights). O(length).
 */
export function foldedVector(vector: Elements, weights: Elements): Elements {
  const q = columnsOf(vector.length, weights.length);
  const { arena, parts: [u, factors] } = laidOut(q * weights.length, weights.length);
  put(u, vector);
  factors.set(weights);
  arena.exports.foldVector(u.byteOffset, q, weights.length, factors.byteOffset);
  return u.slice(0, q);
}

/** Products, entry by entry. */
export function weighedVector(vector: Elements, weights: Elements): Elements {
  assert(vector.length === weights.length, 'each entry has a weight');
  const { arena, parts: [u, factors] } = laidOut(vector.length, vector.length);
  u.set(vector);
  factors.set(weights);
  arena.exports.weigh(u.byteOffset, factors.byteOffset, vector.length, u.byteOffset);
  return u.slice();
}

/** The sum of products, modulo p. */
export function innerProductOf(left: Elements, right: Elements): bigint {
  assert(left.length === right.length, 'a product is of two vectors of one length');
  const { arena, parts: [u, w, sum] } = laidOut(left.length, right.length, 1);
  u.set(left);
  w.set(right);
  arena.exports.innerProduct(u.byteOffset, w.byteOffset, left.length, sum.byteOffset);
  return sum[0]!;
}
