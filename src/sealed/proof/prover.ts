import { assert } from '../../base/assert.js';
import { concatBytes } from '../../base/bytes.js';
import {
  foldedGroups, nodesOfGroup, pointsOfGroups, productsOfGroups, quarters, type AndWeights,
} from '../../numerics/kernels/and-groups.js';
import {
  andWeightsOf, coinsDigest, foldsOf, leftVector, numberWeightsOf, rightVector,
  type Chunk, type ChunkSide,
} from './chunks.js';
import {
  elementOf, weightsAt, type Elements, type ElementStream, type Field,
} from './field.js';
import { folded, pointsOfFold } from './folds.js';
import { andFactors } from './statements.js';

/** The message of a prover in a fold. */
export interface FoldMessage {
  /** To the right verifier: G(1), G(2), .. less the left verifier's shares. */
  readonly elements: readonly bigint[];
  /** To both, with the last fold: the digest of the seed and of all coins that it was told. */
  readonly coins: Uint8Array | null;
}

/** The statements of a chunk, as their prover knows them, and the streams that it shares. */
export interface ProverOptions {
  readonly chunk: Chunk;
  readonly left: ChunkSide;
  readonly right: ChunkSide;
  readonly withLeft: ElementStream;
  readonly withRight: ElementStream;
}

/**
 * A server that proves to the two others that the messages of a chunk are right (Boneh and others
 * 2019; Boyle and others 2019). It has no sockets: its owner passes the messages on.
 *
 * Claim. If it follows this file, then each verifier learns nothing that it does not hold, also
 * from a verifier beside it that runs changed code.
 * Why. In each fold the right verifier gets points less fresh elements that it lacks, and the left
 * one gets nothing. After the last fold one entry of each vector is a random one, of a stream that
 * the other side lacks, with a weight that is not 0, since a coin is no node. So what the verifiers
 * tell each other of the folded vectors is uniform, and their shares follow from the equation. They
 * tell it only if the digest shows that all three used the same coins: with a false coin the folded
 * vectors and shares would fit no more, and would be an equation in the other side's values.
 */
export class Prover {
  readonly #options: ProverOptions;
  readonly #fanIns: readonly number[];
  #seed: Uint8Array | null = null;
  #weights: AndWeights | null = null;
  readonly #told: bigint[] = [];
  /** The vectors of the next fold. The first two over ands work on patterns instead. */
  #left: Elements = new BigUint64Array(0);
  #right: Elements = new BigUint64Array(0);

  constructor(options: ProverOptions) {
    this.#options = options;
    this.#fanIns = foldsOf(options.chunk);
  }

  /** The first fold, once both halves of the seed are there. */
  begin(leftHalf: Uint8Array, rightHalf: Uint8Array): FoldMessage {
    assert(this.#seed === null, 'a chunk is proved once');
    const { chunk, left, right } = this.#options;
    const seed = this.#seed = concatBytes(leftHalf, rightHalf);
    if (chunk.andWords > 0) {
      this.#weights = andWeightsOf(chunk, seed);
      return this.#message(pointsOfAnds(
        chunk, productsOfGroups(left.ands, right.ands, this.#weights, andFactors),
      ));
    }
    this.#left = leftVector(chunk, left);
    this.#right = rightVector(chunk, right, numberWeightsOf(chunk, seed));
    return this.#fold();
  }

  /** The next fold, after a coin of the right verifier. */
  answer(coin: bigint): FoldMessage {
    const { chunk: { field }, left, right } = this.#options;
    const fan = this.#fanIns[this.#told.length];
    assert(
      this.#seed !== null && this.#told.length + 1 < this.#fanIns.length,
      'a coin is told after each fold but the last',
    );
    this.#told.push(coin);
    if (this.#weights === null) {
      this.#left = folded(field, this.#left, fan!, coin);
      this.#right = folded(field, this.#right, fan!, coin);
      return this.#fold();
    }
    const weights = this.#weights;
    const at = weightsAt(field, nodesOfGroup, this.#told[0]!);
    if (this.#told.length === 1) {
      return this.#message(pointsOfGroups(left.ands, right.ands, at, weights, andFactors));
    }
    const ofQuarter = weightsAt(field, quarters, coin);
    this.#left = foldedGroups(left.ands, at, ofQuarter, weights, andFactors);
    this.#right = foldedGroups(right.ands, at, ofQuarter, null, andFactors);
    this.#weights = null;
    return this.#fold();
  }

  #fold(): FoldMessage {
    const { chunk: { field }, withLeft, withRight } = this.#options;
    const fan = this.#fanIns[this.#told.length]!;
    if (this.#isLast) {
      this.#left = withMask(this.#left, fan, withLeft.next());
      this.#right = withMask(this.#right, fan, withRight.next());
    }
    return this.#message(pointsOfFold(field, this.#left, this.#right, fan));
  }

  get #isLast(): boolean {
    return this.#told.length + 1 === this.#fanIns.length;
  }

  #message(points: readonly bigint[]): FoldMessage {
    const { chunk, withLeft } = this.#options;
    return {
      elements: points.map((point) => elementOf(chunk.field, point - withLeft.next())),
      coins: this.#isLast ? coinsDigest(chunk, this.#seed!, this.#told) : null,
    };
  }
}

/** For each of G(1) .. G(30), the weights of the products of two factors. Row by row. */
const weightsOfProducts = new WeakMap<Field, readonly Elements[]>();

function productWeights(field: Field): readonly Elements[] {
  let found = weightsOfProducts.get(field);
  if (found === undefined) {
    found = Array.from({ length: 2 * nodesOfGroup - 2 }, (_, i) => {
      const at = weightsAt(field, nodesOfGroup, BigInt(i + 1));
      return BigUint64Array.from({ length: nodesOfGroup ** 2 }, (__, place) => elementOf(
        field, at[Math.floor(place / nodesOfGroup)]! * at[place % nodesOfGroup]!,
      ));
    });
    weightsOfProducts.set(field, found);
  }
  return found;
}

/** G(1) .. G(30) of the fold over groups of ands, from sums of products of their factors. */
function pointsOfAnds({ field }: Chunk, products: Elements): readonly bigint[] {
  return productWeights(field).map((weights) => field.innerProductOf(weights, products));
}

/** A vector of at most fan - 1 entries, and the random one at the last node. */
export function withMask(vector: Elements, fan: number, mask: bigint): Elements {
  assert(vector.length < fan, 'the last fold has a point beside the vector');
  const masked = new BigUint64Array(fan);
  masked.set(vector);
  masked[fan - 1] = mask;
  return masked;
}
