import { assert } from '../../base/assert.js';
import { openSealed } from '../../base/wrappers.js';
import type { Party } from './party.js';
import { bitsOf, numbersOf, type Bits, type Numbers } from './shares.js';
import { addInto, highOfProduct, subtractFrom } from './words.js';

/**
 * Products of shared values (Araki and others 2016).
 *
 * Server i computes z_i = x_i y_i + x_i y_{i+1} + x_{i+1} y_i + F_i - F_{i+1}, and sends it to
 * server i - 1. F_j is a fresh block of the stream of component j. The three z_i add up to x y,
 * since each of the nine products stands in one of them and the blocks cancel.
 *
 * Claim. What a server receives is uniform, and independent of all else that it holds.
 * Why. Server i receives z_{i+1}, which contains F_{i+2}. It does not hold that stream, and the
 * block masks nothing else that it receives. test/sealed enumerates it.
 */

/** x y, number by number. One round; 8 bytes for each product. */
export async function product(party: Party, x: Numbers, y: Numbers): Promise<Numbers> {
  const left = openSealed(x);
  const right = openSealed(y);
  assert(left.own.length === right.own.length, 'a product is of two lists of one length');
  const z = new Uint32Array(left.own.length);
  for (let at = 0; at < z.length; at += 2) crossInto(z, at, left, at, right, at);
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
  for (let sum = 0; sum < dots.count; sum++) {
    for (let term = 0; term < dots.terms; term++) {
      crossInto(z, 2 * sum, left, 2 * dots.left(sum, term), right, 2 * dots.right(sum, term));
    }
  }
  return reshared(party, z);
}

interface Pair {
  readonly own: Uint32Array;
  readonly next: Uint32Array;
}

/** z[at] += x_i y_i + x_i y_{i+1} + x_{i+1} y_i, as x_i (y_i + y_{i+1}) + x_{i+1} y_i. */
function crossInto(
  z: Uint32Array, at: number, x: Pair, xAt: number, y: Pair, yAt: number,
): void {
  const lowSum = y.own[yAt]! + y.next[yAt]!;
  const sumLow = lowSum >>> 0;
  const sumHigh =
    (y.own[yAt + 1]! + y.next[yAt + 1]! + (lowSum > 0xffff_ffff ? 1 : 0)) >>> 0;
  productInto(z, at, x.own[xAt]!, x.own[xAt + 1]!, sumLow, sumHigh);
  productInto(z, at, x.next[xAt]!, x.next[xAt + 1]!, y.own[yAt]!, y.own[yAt + 1]!);
}

function productInto(
  z: Uint32Array, at: number, xLow: number, xHigh: number, yLow: number, yHigh: number,
): void {
  const low = z[at]! + (Math.imul(xLow, yLow) >>> 0);
  z[at] = low;
  z[at + 1] = z[at + 1]! + highOfProduct(xLow, yLow) + Math.imul(xLow, yHigh)
    + Math.imul(xHigh, yLow) + (low > 0xffff_ffff ? 1 : 0);
}

async function reshared(party: Party, z: Uint32Array): Promise<Numbers> {
  party.begin();
  addInto(z, party.ownStream(z.length));
  subtractFrom(z, party.nextStream(z.length));
  party.send(party.previous, z);
  return numbersOf(z, await party.receive(party.following, z.length));
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
