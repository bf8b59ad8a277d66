import { assert } from '../../base/assert.js';
import { equalBytes } from '../../base/bytes.js';
import { KeelsonError } from '../../base/errors.js';
import {
  foldedGroups, nodesOfGroup, quarters, sumOfWeights,
} from '../../numerics/kernels/and-groups.js';
import {
  andWeightsOf, coinsDigest, foldsOf, leftVector, numberWeightsOf, rightVector,
  type Chunk, type ChunkSide, type VerifiersCoins,
} from './chunks.js';
import {
  elementOf, weightsAt, type Elements, type ElementStream, type Field,
} from './field.js';
import { claimAt, folded } from './folds.js';
import { withMask } from './prover.js';
import { andFactors } from './statements.js';

/** A proof is not one of the messages that were sent, or its coins are not those that were told. */
export class ProofError extends KeelsonError {
  /** @param reason - `proof`: it does not hold; `coins`: other coins; `element`: not below p. */
  constructor(readonly reason: 'proof' | 'coins' | 'element', what: string) {
    super('malformed', what, { details: { reason } });
  }
}

/** The last message of a verifier to the other: the folded vector of one side, and a share of G. */
export interface FinalMessage {
  readonly entry: bigint;
  readonly share: bigint;
}

interface VerifierOptions {
  readonly chunk: Chunk;
  /** From the stream of the two verifiers: equal at both. */
  readonly coins: VerifiersCoins;
  /** Shared with the prover. */
  readonly withProver: ElementStream;
}

/**
 * One side of a chunk: the last entry of its vector, and its claim fold by fold. A verifier knows
 * all coins beforehand, so its vector is folded at once, and not kept.
 */
class Side {
  readonly #fanIns: readonly number[];
  readonly #coins: readonly bigint[];
  readonly #entry: bigint;
  #claim: bigint;
  #fold = 0;

  /** @param mask - at the last node of the last fold. */
  constructor(
    private readonly options: VerifierOptions, side: ChunkSide, isLeft: boolean, mask: bigint,
  ) {
    const { chunk, coins } = options;
    const { field } = chunk;
    const fanIns = this.#fanIns = foldsOf(chunk);
    const last = fanIns.length - 1;
    this.#coins = fanIns.map((_, fold) => coins.next(fold < last));
    const begun = chunk.andWords > 0
      ? andSide(chunk, side, isLeft, this.#coins, coins.seed)
      : numberSide(chunk, side, isLeft, coins.seed);
    this.#claim = begun.claim;
    let { vector } = begun;
    for (let fold = begun.folds; fold <= last; fold++) {
      const fan = fanIns[fold]!;
      if (fold === last) vector = withMask(vector, fan, mask);
      vector = folded(field, vector, fan, this.#coins[fold]!);
    }
    this.#entry = vector[0]!;
  }

  get isOver(): boolean {
    return this.#fold === this.#fanIns.length;
  }

  /** Elements of the next fold. */
  get elements(): number {
    return 2 * this.#fanIns[this.#fold]! - 2;
  }

  /** Goes on to the next fold. @returns the coin, which the prover learns but for the last. */
  go(shares: readonly bigint[]): bigint | null {
    const { field } = this.options.chunk;
    const isLast = this.#fold === this.#fanIns.length - 1;
    const fan = this.#fanIns[this.#fold]!;
    const coin = this.#coins[this.#fold]!;
    this.#claim = claimAt(field, this.#claim, shares, isLast ? fan - 1 : fan, coin);
    this.#fold += 1;
    return isLast ? null : coin;
  }

  /** @throws ProofError('coins') where the prover was told others: then nothing is said. */
  final(said: Uint8Array): FinalMessage {
    assert(this.isOver, 'the final message comes after the last fold');
    const { chunk, coins } = this.options;
    if (!equalBytes(said, coinsDigest(chunk, coins.seed, coins.told))) {
      throw new ProofError('coins', 'a server proved its messages with other coins');
    }
    return { entry: this.#entry, share: this.#claim };
  }

  /** @throws ProofError('proof') where the proof does not hold. */
  check(theirs: FinalMessage): void {
    const { field } = this.options.chunk;
    const product = elementOf(field, this.#entry * theirs.entry);
    if (product !== elementOf(field, this.#claim + theirs.share)) {
      throw new ProofError('proof', 'a message of a server does not have the value that it must');
    }
  }
}

/** A side's vector after some folds, and its claim before all. */
interface Begun {
  readonly vector: Elements;
  readonly claim: bigint;
  readonly folds: number;
}

/** Entries of ands, which are folded at once: the next verifier overwrites them. */
let folding = new BigUint64Array(0);

function andSide(
  chunk: Chunk, { ands }: ChunkSide, isLeft: boolean, coins: readonly bigint[], seed: Uint8Array,
): Begun {
  const { field } = chunk;
  const weights = isLeft ? andWeightsOf(chunk, seed) : null;
  const entries = ands.length / (2 * quarters);
  if (folding.length < entries) folding = new BigUint64Array(entries);
  const vector = foldedGroups(
    ands, weightsAt(field, nodesOfGroup, coins[0]!), weightsAt(field, quarters, coins[1]!),
    weights, andFactors, folding,
  );
  // Known to all three, so one of them counts it.
  return { vector, claim: weights === null ? 0n : sumOfWeights(weights), folds: 2 };
}

function numberSide(
  chunk: Chunk, side: ChunkSide, isLeft: boolean, seed: Uint8Array,
): Begun {
  const weights = numberWeightsOf(chunk, seed);
  const vector = isLeft ? leftVector(chunk, side) : rightVector(chunk, side, weights);
  return { vector, claim: chunk.field.innerProductOf(side.claims, weights), folds: 0 };
}

/**
 * The left verifier of a chunk. Its shares of points are elements of the stream that it shares with
 * the prover, so it receives nothing before the end.
 * Claim. As `foldsOf`: it accepts a wrong message with a chance of at most 2^-52.
 */
export class LeftVerifier {
  readonly #side: Side;

  constructor(options: VerifierOptions, side: ChunkSide) {
    const { chunk, withProver } = options;
    const fanIns = foldsOf(chunk);
    let mask = 0n;
    const shares = fanIns.map((fan, fold) => {
      if (fold === fanIns.length - 1) mask = withProver.next();
      return Array.from({ length: 2 * fan - 2 }, () => withProver.next());
    });
    this.#side = new Side(options, side, true, mask);
    for (const ofFold of shares) this.#side.go(ofFold);
  }

  /** For the right verifier. @param said - the prover's digest of coins. @throws ProofError. */
  final(said: Uint8Array): FinalMessage {
    return this.#side.final(said);
  }

  /** @throws ProofError('proof') unless the proof holds. */
  check(theirs: FinalMessage): void {
    this.#side.check(theirs);
  }
}

/** The right verifier of a chunk: it receives the prover's folds, and tells it coins. */
export class RightVerifier {
  readonly #side: Side;
  readonly #field: Field;

  constructor(options: VerifierOptions, side: ChunkSide) {
    this.#field = options.chunk.field;
    this.#side = new Side(options, side, false, options.withProver.next());
  }

  /**
   * Takes the elements of a fold.
   * @returns the coin for the prover; null after the last fold, whose coin nobody is told.
   * @throws ProofError('element') for another number of elements, or one that is not below p.
   */
  fold(elements: readonly bigint[]): bigint | null {
    assert(!this.#side.isOver, 'no fold comes after the last');
    const isWhole = elements.length === this.#side.elements
      && elements.every((element) => element >= 0n && element < this.#field.prime);
    if (!isWhole) throw new ProofError('element', 'a fold has elements that are none');
    return this.#side.go(elements);
  }

  /** For the left verifier. @param said - the prover's digest of coins. @throws ProofError. */
  final(said: Uint8Array): FinalMessage {
    return this.#side.final(said);
  }

  /** @throws ProofError('proof') unless the proof holds. */
  check(theirs: FinalMessage): void {
    this.#side.check(theirs);
  }
}
