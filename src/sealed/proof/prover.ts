import { assert } from '../../base/assert.js';
import { concatBytes } from '../../base/bytes.js';
import { coinsDigest, foldsOf, weighted, type Chunk } from './chunks.js';
import { elementOf, type ElementStream } from './field.js';
import { folded, pointsOf } from './folds.js';
import type { LeftSide, RightSide } from './statements.js';

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
  readonly left: readonly LeftSide[];
  readonly right: readonly RightSide[];
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
  readonly #told: bigint[] = [];
  #left: readonly bigint[] = [];
  #right: readonly bigint[] = [];

  constructor(options: ProverOptions) {
    this.#options = options;
    this.#fanIns = foldsOf(options.chunk);
  }

  /** The first fold, once both halves of the seed are there. */
  begin(leftHalf: Uint8Array, rightHalf: Uint8Array): FoldMessage {
    assert(this.#seed === null, 'a chunk is proved once');
    const { chunk, left, right } = this.#options;
    const seed = concatBytes(leftHalf, rightHalf);
    this.#seed = seed;
    this.#left = weighted(
      chunk, seed, left.map(({ u, l }) => ({ entries: u, claim: l })), true,
    ).vector;
    this.#right = weighted(
      chunk, seed, right.map(({ w, r }) => ({ entries: w, claim: r })), false,
    ).vector;
    return this.#fold();
  }

  /** The next fold, after a coin of the right verifier. */
  answer(coin: bigint): FoldMessage {
    const { field } = this.#options.chunk;
    const fan = this.#fanIns[this.#told.length];
    assert(
      this.#seed !== null && this.#told.length + 1 < this.#fanIns.length,
      'a coin is told after each fold but the last',
    );
    this.#told.push(coin);
    this.#left = folded(field, this.#left, fan!, coin);
    this.#right = folded(field, this.#right, fan!, coin);
    return this.#fold();
  }

  #fold(): FoldMessage {
    const { chunk, withLeft, withRight } = this.#options;
    const { field } = chunk;
    const fan = this.#fanIns[this.#told.length]!;
    const isLast = this.#told.length + 1 === this.#fanIns.length;
    if (isLast) {
      this.#left = withMask(this.#left, fan, withLeft.next());
      this.#right = withMask(this.#right, fan, withRight.next());
    }
    const [, ...points] = pointsOf(field, this.#left, this.#right, fan);
    return {
      elements: points.map((point) => elementOf(field, point - withLeft.next())),
      coins: isLast ? coinsDigest(chunk, this.#seed!, this.#told) : null,
    };
  }
}

/** A vector of at most fan - 1 entries, and the random one at the last node. */
export function withMask(
  vector: readonly bigint[], fan: number, mask: bigint,
): readonly bigint[] {
  assert(vector.length < fan, 'the last fold has a point beside the vector');
  return [...vector, ...new Array<bigint>(fan - 1 - vector.length).fill(0n), mask];
}
