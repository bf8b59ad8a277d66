import { assert } from '../../base/assert.js';
import { openSealed } from '../../base/wrappers.js';
import { addRuns, type Run } from '../../numerics/kernels/prime-vectors.js';
import type { Party } from './party.js';
import { bitsOf, numbersOf, type Bits, type Numbers, type Shares } from './shares.js';
import type { AndMessage } from './statements.js';
import { addInto, elementsOf, subtractFrom } from './words.js';

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
  const length = openSealed(x).own.length / 2;
  assert(length === openSealed(y).own.length / 2, 'a product is of two lists of one length');
  return dot(party, x, y, {
    count: length, runs: [{ left: 0, right: 0, sum: 0, isOneSum: false, length }],
  });
}

/** Which places of two lists are multiplied, and added up to which sums. Public. */
export interface Dots {
  /** Sums that are wanted. */
  readonly count: number;
  readonly runs: readonly Run[];
}

/** Sums of products. One round; 8 bytes for each sum, however many products it has. */
export async function dot(party: Party, x: Numbers, y: Numbers, dots: Dots): Promise<Numbers> {
  const left = openSealed(x);
  const right = openSealed(y);
  const z = new Uint32Array(2 * dots.count);
  for (const [l, r] of [['own', 'own'], ['own', 'next'], ['next', 'own']] as const) {
    addRuns(elementsOf(z), elementsOf(left[l]), elementsOf(right[r]), dots.runs);
  }
  party.begin();
  const masks = { own: party.ownNumbers(dots.count), next: party.nextNumbers(dots.count) };
  addInto(z, masks.own);
  subtractFrom(z, masks.next);
  party.send(party.previous, z);
  const received = await party.receiveNumbers(party.following, dots.count);
  await noteDots(party, left, right, dots, { masks, received });
  return numbersOf(z, received);
}

/**
 * The statement about z of server P: sum(x_P y' + y_P x') = (z - F_P - sum x_P y_P) + F', where x'
 * and y' are components P + 1, and F' is their mask.
 */
async function noteDots(
  party: Party, x: Shares<'numbers'>, y: Shares<'numbers'>, { count, runs }: Dots,
  { masks, received }: Pick<AndMessage, 'masks' | 'received'>,
): Promise<void> {
  if (party.proofs === null) return;
  const turned = runs.map((run) => ({ ...run, left: run.right, right: run.left }));
  // A square has each number of the left side once.
  const isSquare = x === y;
  const parts = isSquare ? [{ length: x.own.length / 2, runs: [...runs, ...turned] }]
    : [{ length: x.own.length / 2, runs }, { length: y.own.length / 2, runs: turned }];
  const leftOf = (of: 'own' | 'next'): readonly Uint32Array[] =>
    (isSquare ? [x[of]] : [x[of], y[of]]);
  const rightOf = (of: 'own' | 'next'): readonly Uint32Array[] =>
    (isSquare ? [x[of]] : [y[of], x[of]]);
  const claims = received.slice();
  subtractFrom(claims, masks.next);
  const known = new Uint32Array(2 * count);
  addRuns(elementsOf(known), elementsOf(x.next), elementsOf(y.next), runs);
  subtractFrom(claims, known);
  const all = { count, parts };
  await party.proofs.noteNumbers([
    { prover: party.server, ...all, left: leftOf('own'), right: rightOf('next'), claims: null },
    { prover: party.following, ...all, left: leftOf('next'), right: null, claims },
    { prover: party.previous, ...all, left: null, right: rightOf('own'), claims: masks.own },
  ]);
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
