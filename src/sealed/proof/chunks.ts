import { assert } from '../../base/assert.js';
import { concatBytes } from '../../base/bytes.js';
import {
  andsOfGroup, groupsOf, nodesOfGroup, type AndWeights,
} from '../../numerics/kernels/and-groups.js';
import { coinOf, type Elements, type ElementStream, type Field } from './field.js';
import { degreesOf, fanInsOf } from './folds.js';

/** Bytes of each verifier's half of the seed of a chunk's weights. */
export const halfSeedBytes = 16;

/** Ands of a chunk at most, 32 to a word. */
export const andWordsMost = 2 ** 17;

/** What all three servers know of a chunk of statements before it is proved. Public. */
export interface Chunk {
  readonly field: Field;
  /** Words of ands. */
  readonly andWords: number;
  /** The other statements, in the order of the messages. */
  readonly others: readonly StatementSizes[];
  /** The weights of the statements, from a seed of two halves. */
  readonly weightsOf: (seed: Uint8Array) => ElementStream;
  readonly sha512: (bytes: Uint8Array) => Uint8Array;
  /** Of a proof over so many products. Tests of tiny fields give others. Default: `fanInsOf`. */
  readonly fanIns?: readonly number[];
}

/** So many statements, each of so many products. */
export interface StatementSizes {
  readonly statements: number;
  readonly terms: number;
}

/** One side of a chunk, as its verifier and the prover hold it. */
export interface ChunkSide {
  /** Patterns of ands: see numerics/kernels/and-groups. */
  readonly ands: Uint8Array;
  /** The factors of the other statements, one behind the other. */
  readonly factors: Elements;
  /** The side's part of the claim of each of those. */
  readonly claims: Elements;
}

/** A chance of 2^-52: what each chunk promises. */
const chancesLeast = 2n ** 52n;
/** A weight is a product of three random elements at most. */
const weightDegree = 3;

/**
 * The fan-ins of a chunk. Where there are ands, the first fold is over the products of a group.
 *
 * Claim. A chunk with a wrong message is accepted by an honest verifier with a chance of at most
 * 2^-52, in the field of 2^61 - 1.
 * Why. The weighted sum of the errors is a polynomial of degree 3 in the entries of the weights'
 * tables, and not 0, since each statement's weight is a monomial of its own. So with random weights
 * the claim is false but for 3 of p cases. A false claim passes a fold by k points for at most 2 k - 2 coins,
 * since two different polynomials of degree 2 k - 2 agree in no more, and the prover spoke before
 * the coin. It must pass one of them.
 * @throws InvariantError where the degrees are too many for that.
 */
export function foldsOf({ field, andWords, others, fanIns }: Chunk): readonly number[] {
  if (fanIns !== undefined) return fanIns;
  const products = others.reduce((sum, { statements, terms }) => sum + statements * terms, 0);
  const folds = andWords === 0
    ? fanInsOf(products) : [nodesOfGroup, ...fanInsOf(groupsOf(andWords) + products)];
  assert(
    BigInt(degreesOf(folds) + weightDegree) * chancesLeast <= field.prime - field.coinsFrom,
    'a proof of a chunk is wrong with a chance of at most 2^-52',
  );
  return folds;
}

/** Groups of ands with a weight of their own in a block. */
const placesMost = 2 ** 14;

/** The weights of a chunk's statements. */
export interface ChunkWeights {
  readonly ands: AndWeights | null;
  /** Of each of the other statements. */
  readonly others: Elements;
}

/** The weights of a chunk that a seed gives. */
export function weightsOf(chunk: Chunk, seed: Uint8Array): ChunkWeights {
  const stream = chunk.weightsOf(seed);
  const groups = groupsOf(chunk.andWords);
  const ands = groups === 0 ? null : {
    ands: [...stream.many(andsOfGroup)],
    places: stream.many(Math.min(groups, placesMost)),
    blocks: stream.many(Math.ceil(groups / placesMost)),
  };
  const statements = chunk.others.reduce((sum, one) => sum + one.statements, 0);
  return { ands, others: stream.many(statements) };
}

/** The left side's factors, each with the weight of its statement. */
export function weighedFactors(
  { field, others }: Chunk, factors: Elements, weights: ChunkWeights,
): Elements {
  const spread = new BigUint64Array(factors.length);
  let [at, statement] = [0, 0];
  for (const { statements, terms } of others) {
    for (let i = 0; i < statements; i++) {
      spread.fill(weights.others[statement++]!, at, at += terms);
    }
  }
  assert(at === factors.length, 'a chunk has the statements of its public sizes');
  return field.weighedVector(factors, spread);
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
