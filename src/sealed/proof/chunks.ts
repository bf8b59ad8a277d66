import { assert } from '../../base/assert.js';
import { concatBytes } from '../../base/bytes.js';
import { coinOf, elementOf, type ElementStream, type Field } from './field.js';
import { degreesOf, fanInsOf } from './folds.js';

/** Bytes of each verifier's half of the seed of a chunk's weights. */
export const halfSeedBytes = 16;

/** What all three servers know of a chunk of statements before it is proved. Public. */
export interface Chunk {
  readonly field: Field;
  /** Products in each statement, in the order of the messages. */
  readonly terms: readonly number[];
  /** The weights of the statements, from a seed of two halves. */
  readonly weightsOf: (seed: Uint8Array) => ElementStream;
  readonly sha512: (bytes: Uint8Array) => Uint8Array;
  /** Of a proof over so many products. Tests of tiny fields give others. Default: `fanInsOf`. */
  readonly fanIns?: readonly number[];
}

/** A chance of 2^-52: what each chunk promises. */
const chancesLeast = 2n ** 52n;
/** The weights are one polynomial in three random tables at most. */
const weightDegree = 3;

/**
 * The fan-ins of a chunk.
 * Claim. A chunk with a wrong message is accepted by an honest verifier with a chance of at most
 * 2^-52, in the field of 2^61 - 1.
 * Why. With random weights the claim is false but for 3 of p cases. A false claim passes a fold by
 * k points for at most 2 k - 2 coins, since two different polynomials of degree 2 k - 2 agree in no
 * more, and the prover spoke before the coin. It must pass one of them.
 * @throws InvariantError where the degrees are too many for that.
 */
export function foldsOf({ field, terms, fanIns }: Chunk): readonly number[] {
  const length = terms.reduce((sum, count) => sum + count, 0);
  const folds = fanIns ?? fanInsOf(length);
  if (fanIns === undefined) {
    const bad = BigInt(degreesOf(folds) + weightDegree);
    assert(
      bad * chancesLeast <= field.prime - field.coinsFrom,
      'a proof of a chunk is wrong with a chance of at most 2^-52',
    );
  }
  return folds;
}

/** Statements as one, each with its weight: the weighted vector of one side, and its claim. */
export function weighted(
  { field, weightsOf, terms }: Chunk, seed: Uint8Array,
  sides: readonly { readonly entries: readonly bigint[]; readonly claim: bigint }[],
  isLeft: boolean,
): { readonly vector: readonly bigint[]; readonly claim: bigint } {
  assert(
    sides.length === terms.length && sides.every(({ entries }, i) => entries.length === terms[i]),
    'a chunk has the statements of its public sizes',
  );
  const weights = weightsOf(seed);
  let claim = 0n;
  const vector = sides.flatMap((side) => {
    const weight = weights.next();
    claim += weight * side.claim;
    return side.entries.map((entry) => elementOf(field, isLeft ? weight * entry : entry));
  });
  return { vector, claim: elementOf(field, claim) };
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
