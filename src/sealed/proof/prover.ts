import { assert } from '../../base/assert.js';
import { concatBytes } from '../../base/bytes.js';
import {
  foldedGroups, nodesOfGroup, productsOfGroups,
} from '../../numerics/kernels/and-groups.js';
import {
  coinsDigest, foldsOf, weighedFactors, weightsOf, type Chunk, type ChunkSide, type ChunkWeights,
} from './chunks.js';
import { elementOf, weightsAt, type Elements, type ElementStream } from './field.js';
import { folded, pointsOfFold } from './folds.js';
import { andFactors } from './statements.js';

/** What a prover sends in a fold. */
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
 * 2019; Boyle and others 2019). No sockets: whoever holds it passes its messages on.
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
  #weights: ChunkWeights | null = null;
  readonly #told: bigint[] = [];
  /** Of the next fold. The first one over ands works on patterns instead. */
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
    this.#seed = concatBytes(leftHalf, rightHalf);
    const weights = this.#weights = weightsOf(chunk, this.#seed);
    if (weights.ands !== null) {
      return this.#message(pointsOfAnds(
        chunk, productsOfGroups(left.ands, right.ands, weights.ands, andFactors),
      ));
    }
    this.#left = weighedFactors(chunk, left.factors, weights);
    this.#right = right.factors;
    return this.#fold();
  }

  /** The next fold, after a coin of the right verifier. */
  answer(coin: bigint): FoldMessage {
    const { chunk, left, right } = this.#options;
    const fan = this.#fanIns[this.#told.length];
    assert(
      this.#weights !== null && this.#told.length + 1 < this.#fanIns.length,
      'a coin is told after each fold but the last',
    );
    this.#told.push(coin);
    const { ands } = this.#weights;
    if (ands !== null && this.#told.length === 1) {
      const at = [...weightsAt(chunk.field, nodesOfGroup, coin)];
      const factors = weighedFactors(chunk, left.factors, this.#weights);
      this.#left = foldedGroups(left.ands, at, ands, andFactors, factors);
      this.#right = foldedGroups(right.ands, at, null, andFactors, right.factors);
    } else {
      this.#left = folded(chunk.field, this.#left, fan!, coin);
      this.#right = folded(chunk.field, this.#right, fan!, coin);
    }
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

/** G(1) .. G(30) of the fold over groups of ands, from sums of products of their factors. */
function pointsOfAnds({ field }: Chunk, products: Elements): readonly bigint[] {
  return Array.from({ length: 2 * nodesOfGroup - 2 }, (_, i) => {
    const at = weightsAt(field, nodesOfGroup, BigInt(i + 1));
    let sum = 0n;
    for (let row = 0; row < nodesOfGroup; row++) {
      if (at[row] === 0n) continue;
      for (let column = 0; column < nodesOfGroup; column++) {
        sum += elementOf(field, at[row]! * at[column]!) * products[nodesOfGroup * row + column]!;
      }
    }
    return elementOf(field, sum);
  });
}

/** A vector of at most fan - 1 entries, and the random one at the last node. */
export function withMask(vector: Elements, fan: number, mask: bigint): Elements {
  assert(vector.length < fan, 'the last fold has a point beside the vector');
  const masked = new BigUint64Array(fan);
  masked.set(vector);
  masked[fan - 1] = mask;
  return masked;
}
