import { assert } from '../../base/assert.js';
import { openSealed } from '../../base/wrappers.js';
import type { Party } from './party.js';
import { bitsOf, numbersOf, type Bits, type Numbers } from './shares.js';
import { addInto, productsMost, ProductSum, subtractFrom } from './words.js';

/**
 * Products of shared values (Araki and others 2016).
 *
 * Server i computes z_i = x_i y_i + x_i y_{i+1} + x_{i+1} y_i + F_i - F_{i+1}, and sends it to
 * server i - 1. F_j is a fresh block of the stream of component j. The three z_i add up to x y,
 * since each of the nine products stands in one of them and the blocks cancel.
 *
 * Claim. What a server receives is uniform, and independent of all else that it holds.
 * Why. Server i receives z_{i+1}, which contains F_{i+2}. It does not hold that stream, and the
 * block masks nothing else that it receives. test/sealed/views looks for it in what is sent.
 */

/** x y, number by number. One round; 8 bytes for each product. */
export async function product(party: Party, x: Numbers, y: Numbers): Promise<Numbers> {
  const left = openSealed(x);
  const right = openSealed(y);
  assert(left.own.length === right.own.length, 'a product is of two lists of one length');
  const z = new Uint32Array(left.own.length);
  const sum = new ProductSum();
  for (let at = 0; at < z.length; at += 2) {
    sum.addCross(left, at, right, at);
    sum.addInto(z, at);
  }
  return reshared(party, z);
}

/** Which entries of two lists are multiplied and added up: `terms` places on either side. */
export interface Dots {
  /** Sums that are wanted. */
  readonly count: number;
  /** Products in each. */
  readonly terms: number;
  /** The index, in its list, of the left and right factor of product `term` of sum `dot`. */
  readonly left: (dot: number, term: number) => number;
  readonly right: (dot: number, term: number) => number;
}

/** Sums of products. One round; 8 bytes for each sum, however many products it has. */
export async function dot(party: Party, x: Numbers, y: Numbers, dots: Dots): Promise<Numbers> {
  const left = openSealed(x);
  const right = openSealed(y);
  const z = new Uint32Array(2 * dots.count);
  const sum = new ProductSum();
  for (let dot = 0; dot < dots.count; dot++) {
    for (let term = 0; term < dots.terms; term++) {
      sum.addCross(left, 2 * dots.left(dot, term), right, 2 * dots.right(dot, term));
      if ((term + 1) % crossesMost === 0) sum.addInto(z, 2 * dot);
    }
    sum.addInto(z, 2 * dot);
  }
  return reshared(party, z);
}

/** Terms that a sum has room for: each counts as three products. */
const crossesMost = Math.floor(productsMost / 3);

async function reshared(party: Party, z: Uint32Array): Promise<Numbers> {
  party.begin();
  addInto(z, party.ownNumbers(z.length / 2));
  subtractFrom(z, party.nextNumbers(z.length / 2));
  party.send(party.previous, z);
  return numbersOf(z, await party.receiveNumbers(party.following, z.length / 2));
}

/** x and y, bit by bit. The same step with exclusive or. One round; one bit for each bit. */
export async function and(party: Party, x: Bits, y: Bits): Promise<Bits> {
  const left = openSealed(x);
  const right = openSealed(y);
  assert(left.own.length === right.own.length, 'an and is of two lists of one length');
  party.begin();
  const { length } = left.own;
  const [own, next] = [party.ownStream(length), party.nextStream(length)];
  const z = new Uint32Array(length);
  for (let at = 0; at < length; at++) {
    z[at] = (left.own[at]! & (right.own[at]! ^ right.next[at]!))
      ^ (left.next[at]! & right.own[at]!) ^ own[at]! ^ next[at]!;
  }
  party.send(party.previous, z);
  return bitsOf(z, await party.receive(party.following, length));
}
