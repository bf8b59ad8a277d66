import { assert } from '../../base/assert.js';
import { openSealed } from '../../base/wrappers.js';
import type { Party } from './party.js';
import { bitsOf, numbersOf, type Bits, type Numbers, type Shares } from './shares.js';
import type { AndMessage, StatementSide } from './statements.js';
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
  const { length } = openSealed(x).own;
  assert(length === openSealed(y).own.length, 'a product is of two lists of one length');
  return dot(party, x, y, {
    count: length / 2, terms: 1, left: (number) => number, right: (number) => number,
  });
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
  party.begin();
  const masks = { own: party.ownNumbers(dots.count), next: party.nextNumbers(dots.count) };
  addInto(z, masks.own);
  subtractFrom(z, masks.next);
  party.send(party.previous, z);
  const received = await party.receiveNumbers(party.following, dots.count);
  await noteDots(party, left, right, dots, { masks, sent: z, received });
  return numbersOf(z, received);
}

/** Terms that a sum has room for: each counts as three products. */
const crossesMost = Math.floor(productsMost / 3);

/**
 * The statement about z of server P: sum(x_P y' + y_P x') = (z - F_P - sum x_P y_P) + F', where x'
 * and y' are components P + 1, and F' is their mask.
 */
async function noteDots(
  party: Party, x: Shares<'numbers'>, y: Shares<'numbers'>, dots: Dots,
  { masks, sent, received }: Pick<AndMessage, 'masks' | 'sent' | 'received'>,
): Promise<void> {
  if (party.proofs === null) return;
  const leftOf = (component: 'own' | 'next', message: Uint32Array): StatementSide => {
    const claims = message.slice();
    subtractFrom(claims, masks[component]);
    subtractFrom(claims, ownDots(x[component], y[component], dots));
    return { factors: factorsOf(x[component], y[component], dots, true), claims };
  };
  const rightOf = (component: 'own' | 'next'): StatementSide => ({
    factors: factorsOf(x[component], y[component], dots, false), claims: masks[component],
  });
  const terms = 2 * dots.terms;
  await party.proofs.noteNumbers([
    { prover: party.server, terms, left: leftOf('own', sent), right: rightOf('next') },
    { prover: party.following, terms, left: leftOf('next', received), right: null },
    { prover: party.previous, terms, left: null, right: rightOf('own') },
  ]);
}

/** For each sum the factors of its terms: x and then y on the left side, y and then x else. */
function factorsOf(x: Uint32Array, y: Uint32Array, dots: Dots, isLeft: boolean): Uint32Array {
  const { count, terms } = dots;
  const factors = new Uint32Array(4 * count * terms);
  const [first, second] = isLeft ? [0, 2 * terms] : [2 * terms, 0];
  for (let dot = 0; dot < count; dot++) {
    for (let term = 0; term < terms; term++) {
      const at = 4 * terms * dot + 2 * term;
      const [l, r] = [2 * dots.left(dot, term), 2 * dots.right(dot, term)];
      factors[at + first] = x[l]!;
      factors[at + first + 1] = x[l + 1]!;
      factors[at + second] = y[r]!;
      factors[at + second + 1] = y[r + 1]!;
    }
  }
  return factors;
}

/** The sums of products of one component. */
function ownDots(x: Uint32Array, y: Uint32Array, dots: Dots): Uint32Array {
  const sums = new Uint32Array(2 * dots.count);
  const sum = new ProductSum();
  for (let dot = 0; dot < dots.count; dot++) {
    for (let term = 0; term < dots.terms; term++) {
      const [l, r] = [2 * dots.left(dot, term), 2 * dots.right(dot, term)];
      sum.add(x[l]!, x[l + 1]!, y[r]!, y[r + 1]!);
      if ((term + 1) % productsMost === 0) sum.addInto(sums, 2 * dot);
    }
    sum.addInto(sums, 2 * dot);
  }
  return sums;
}

/** x and y, bit by bit. The same step with exclusive or. One round; one bit for each bit. */
export async function and(party: Party, x: Bits, y: Bits): Promise<Bits> {
  const left = openSealed(x);
  const right = openSealed(y);
  assert(left.own.length === right.own.length, 'an and is of two lists of one length');
  party.begin();
  const { length } = left.own;
  const masks = { own: party.ownStream(length), next: party.nextStream(length) };
  const z = new Uint32Array(length);
  for (let at = 0; at < length; at++) {
    z[at] = (left.own[at]! & (right.own[at]! ^ right.next[at]!))
      ^ (left.next[at]! & right.own[at]!) ^ masks.own[at]! ^ masks.next[at]!;
  }
  party.send(party.previous, z);
  const received = await party.receive(party.following, length);
  await party.proofs?.noteAnds({ x: left, y: right, masks, sent: z, received });
  return bitsOf(z, received);
}
