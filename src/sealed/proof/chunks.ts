import { assert } from '../../base/assert.js';
import { concatBytes } from '../../base/bytes.js';
import {
  andsOfGroup, groupsOf, nodesOfGroup, quarters, type AndWeights,
} from '../../numerics/kernels/and-groups.js';
import type { NumberMessages } from '../steps/statements.js';
import { coinOf, type Elements, type ElementStream, type Field } from './field.js';
import { degreesOf, fanInsOf } from './folds.js';

/** Bytes of each verifier's half of the seed of a chunk's weights. */
export const halfSeedBytes = 16;

/** Words of a digest of coins. */
export const digestWords = 16;

/** Ands of a chunk at most, 32 to a word. */
export const andWordsMost = 2 ** 17;
/** Chunks of ands that are proved side by side. */
export const andChunksMost = 8;
/** Numbers in the lists of statements that are proved together, but for those of the last step. */
export const factorsMost = 2 ** 22;

/**
 * The public part of a chunk of statements before it is proved: ands, or statements about numbers.
 */
export interface Chunk {
  readonly field: Field;
  /** Words of ands; 0 where the statements are about numbers. */
  readonly andWords: number;
  /** Statements about numbers, in the order of the messages. */
  readonly others: readonly Statements[];
  /** The weights of the statements, from a seed of two halves. */
  readonly weightsOf: (seed: Uint8Array) => ElementStream;
  readonly sha512: (bytes: Uint8Array) => Uint8Array;
  /** The fan-ins of the folds. Tests of tiny fields give others. Default: `foldsOf`. */
  readonly fanIns?: readonly number[];
}

/** So many statements about numbers. */
export type Statements = Pick<NumberMessages, 'count' | 'parts'>;

/** One side of a chunk, as its verifier and the prover hold it. */
export interface ChunkSide {
  /** Patterns of ands: see numerics/kernels/and-groups. */
  readonly ands: Uint8Array;
  /** The list of each part of the other statements. */
  readonly lists: readonly Elements[];
  /** The side's part of the claim of each of those; empty at the prover. */
  readonly claims: Elements;
}

/** A chance of 2^-52: what each chunk promises. */
const chancesLeast = 2n ** 52n;
/** A weight is a product of three random elements at most. */
const weightDegree = 3;

/**
 * The fan-ins of a chunk. The first folds of ands are over the products of a group, and over
 * four groups.
 *
 * Claim. A chunk with a wrong message is accepted by an honest verifier with a chance of at most
 * 2^-52, in the field of 2^61 - 1.
 * Why. The weighted sum of the errors is a polynomial of degree 3 in the entries of the weights'
 * tables, and not 0, since each statement's weight is a monomial of its own. So with random weights
 * the claim is false but for 3 of p cases. A false claim passes a fold by k points for at most
 * 2 k - 2 coins, since two different polynomials of degree 2 k - 2 agree in no more, and the prover
 * spoke before the coin. It must pass one of them.
 * @throws InvariantError where the degrees are too many for that.
 */
export function foldsOf({ field, andWords, others, fanIns }: Chunk): readonly number[] {
  if (fanIns !== undefined) return fanIns;
  const folds = foldsFor(andWords, factorsOf(others));
  assert(
    BigInt(degreesOf(folds) + weightDegree) * chancesLeast <= field.prime - field.coinsFrom,
    'a proof of a chunk is wrong with a chance of at most 2^-52',
  );
  return folds;
}

/** The fan-ins for so many words of ands, or numbers of either side. */
export function foldsFor(andWords: number, factors: number): readonly number[] {
  return andWords > 0
    ? [nodesOfGroup, quarters, ...fanInsOf(groupsOf(andWords) / quarters)] : fanInsOf(factors);
}

/** Numbers of either side's vector. */
function factorsOf(statements: readonly Statements[]): number {
  return statements.flatMap(({ parts }) => parts).reduce((sum, { length }) => sum + length, 0);
}

/** Places that have random elements of their own. A block of so many has one more. */
const placesOfBlock = 2 ** 13;

/**
 * The weights of a chunk of ands that a seed gives. The left side has them. The weight of a place
 * is a product of two elements: a product takes less time than the element of a stream.
 */
export function andWeightsOf({ field, andWords, weightsOf }: Chunk, seed: Uint8Array): AndWeights {
  const stream = weightsOf(seed);
  const ands = [...stream.many(quarters * andsOfGroup)];
  const places = new BigUint64Array(groupsOf(andWords) / quarters);
  const ofPlaces = stream.many(Math.min(places.length, placesOfBlock));
  const blocks = stream.many(Math.ceil(places.length / placesOfBlock));
  field.addWeighed(places, ofPlaces, blocks, Array.from(blocks, (_, block) => {
    const left = placesOfBlock * block;
    const length = Math.min(placesOfBlock, places.length - left);
    return { left, right: 0, sum: block, isOneSum: true, length };
  }));
  return { ands, places };
}

/** The weights of statements about numbers. The right side's vector has them. */
export function numberWeightsOf({ others, weightsOf }: Chunk, seed: Uint8Array): Elements {
  return weightsOf(seed).many(others.reduce((sum, { count }) => sum + count, 0));
}

/** The left side's vector: its lists, one behind the other. */
export function leftVector({ others }: Chunk, { lists }: ChunkSide): Elements {
  const vector = new BigUint64Array(factorsOf(others));
  let at = 0;
  for (const list of lists) {
    vector.set(list, at);
    at += list.length;
  }
  assert(at === vector.length, 'a chunk has the statements of its public sizes');
  return vector;
}

/**
 * The right side's vector. At the place of each number of the left side it has all numbers that
 * this one is multiplied by, each times the weight of its statement: a number that is in many
 * statements has one place.
 */
export function rightVector(
  { field, others }: Chunk, { lists }: ChunkSide, weights: Elements,
): Elements {
  const vector = new BigUint64Array(factorsOf(others));
  let [at, list, statement] = [0, 0, 0];
  for (const { count, parts } of others) {
    const ofThese = weights.subarray(statement, statement += count);
    for (const { length, runs } of parts) {
      field.addWeighed(vector.subarray(at, at += length), lists[list++]!, ofThese, runs);
    }
  }
  return vector;
}

/** SHA-512 of the seed and of the coins that a prover was told, or should have been. */
export function coinsDigest(
  { sha512 }: Chunk, seed: Uint8Array, coins: readonly bigint[],
): Uint8Array {
  return sha512(concatBytes(seed, ...coins.map(elementBytes)));
}

/** An element as it is sent: 8 bytes, little-endian. */
export function elementBytes(element: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, element, true);
  return bytes;
}

/** The coins that two verifiers share and their prover does not know: a seed, then the coins. */
export class VerifiersCoins {
  readonly seed: Uint8Array;
  readonly told: bigint[] = [];

  constructor(
    private readonly field: Field, private readonly stream: ElementStream, seed: Uint8Array,
  ) {
    assert(seed.length === 2 * halfSeedBytes, 'a seed has two halves');
    this.seed = seed;
  }

  /** The coin of the next fold. @param isTold - whether the prover learns it. */
  next(isTold: boolean): bigint {
    const coin = coinOf(this.field, this.stream);
    if (isTold) this.told.push(coin);
    return coin;
  }
}
