import { assert } from '../../base/assert.js';
import { equalBytes } from '../../base/bytes.js';
import { KeelsonError } from '../../base/errors.js';
import {
  foldedGroups, nodesOfGroup, sumOfWeights,
} from '../../numerics/kernels/and-groups.js';
import {
  coinsDigest, foldsOf, weighedFactors, weightsOf, type Chunk, type ChunkSide, type VerifiersCoins,
} from './chunks.js';
import { elementOf, weightsAt, type Elements, type ElementStream } from './field.js';
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

/** What verifiers tell each other in the end: the folded vector of one side, and a share of G. */
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

/** One side's vector and claim, fold by fold. */
class Side {
  readonly fanIns: readonly number[];
  #fold = 0;
  #vector: Elements;
  #claim: bigint;
  /** What joins the vector after the fold over ands. */
  #joins: (coin: bigint) => void = () => undefined;

  constructor(
    private readonly options: VerifierOptions, side: ChunkSide, isLeft: boolean,
  ) {
    const { chunk, coins } = options;
    const { field } = chunk;
    this.fanIns = foldsOf(chunk);
    const weights = weightsOf(chunk, coins.seed);
    const factors = isLeft ? weighedFactors(chunk, side.factors, weights) : side.factors;
    const claim = field.innerProductOf(side.claims, weights.others);
    const { ands } = weights;
    if (ands === null) {
      this.#vector = factors;
      this.#claim = claim;
      return;
    }
    // Known to all three, so one of them counts it.
    this.#claim = isLeft ? sumOfWeights(ands, side.ands.length / 2) : 0n;
    this.#vector = new BigUint64Array(0);
    this.#joins = (coin) => {
      const at = [...weightsAt(field, nodesOfGroup, coin)];
      this.#vector = foldedGroups(side.ands, at, isLeft ? ands : null, andFactors, factors);
      this.#claim = elementOf(field, this.#claim + claim);
    };
  }

  get isOver(): boolean {
    return this.#fold === this.fanIns.length;
  }

  get isLast(): boolean {
    return this.#fold === this.fanIns.length - 1;
  }

  get fan(): number {
    return this.fanIns[this.#fold]!;
  }

  /** At the last node of the last fold. */
  addMask(mask: bigint): void {
    this.#vector = withMask(this.#vector, this.fan, mask);
  }

  /** Goes on to the next fold. @returns the coin, which the prover learns but for the last. */
  go(shares: readonly bigint[]): bigint {
    const { chunk, coins } = this.options;
    const { field } = chunk;
    const { fan, isLast } = this;
    const coin = coins.next(!isLast);
    this.#claim = claimAt(field, this.#claim, shares, isLast ? fan - 1 : fan, coin);
    if (this.#fold === 0 && chunk.andWords > 0) this.#joins(coin);
    else this.#vector = folded(field, this.#vector, fan, coin);
    this.#fold += 1;
    return coin;
  }

  /** @throws ProofError('coins') where the prover was told others: then nothing is said. */
  final(said: Uint8Array): FinalMessage {
    assert(this.isOver, 'the final message comes after the last fold');
    const { chunk, coins } = this.options;
    if (!equalBytes(said, coinsDigest(chunk, coins.seed, coins.told))) {
      throw new ProofError('coins', 'a server proved its messages with other coins');
    }
    return { entry: this.#vector[0]!, share: this.#claim };
  }

  /** @throws ProofError('proof') where the proof does not hold. */
  check(theirs: FinalMessage): void {
    const { field } = this.options.chunk;
    const product = elementOf(field, this.#vector[0]! * theirs.entry);
    if (product !== elementOf(field, this.#claim + theirs.share)) {
      throw new ProofError('proof', 'a message of a server does not have the value that it must');
    }
  }
}

/**
 * The left verifier of a chunk. Its shares of points are elements of the stream that it shares with
 * the prover, so it receives nothing before the end.
 * Claim. As `foldsOf`: it accepts a wrong message with a chance of at most 2^-52.
 */
export class LeftVerifier {
  readonly #side: Side;

  constructor(options: VerifierOptions, side: ChunkSide) {
    this.#side = new Side(options, side, true);
    while (!this.#side.isOver) {
      const { fan, isLast } = this.#side;
      if (isLast) this.#side.addMask(options.withProver.next());
      this.#side.go(Array.from({ length: 2 * fan - 2 }, () => options.withProver.next()));
    }
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
  readonly #options: VerifierOptions;

  constructor(options: VerifierOptions, side: ChunkSide) {
    this.#options = options;
    this.#side = new Side(options, side, false);
  }

  /**
   * Takes the elements of a fold.
   * @returns the coin for the prover; null after the last fold, whose coin nobody is told.
   * @throws ProofError('element') for another number of elements, or one that is not below p.
   */
  fold(elements: readonly bigint[]): bigint | null {
    const { chunk: { field }, withProver } = this.#options;
    const { fan, isLast, isOver } = this.#side;
    assert(!isOver, 'no fold comes after the last');
    const isWhole = elements.length === 2 * fan - 2
      && elements.every((element) => element >= 0n && element < field.prime);
    if (!isWhole) throw new ProofError('element', 'a fold has elements that are none');
    if (isLast) this.#side.addMask(withProver.next());
    const coin = this.#side.go(elements);
    return isLast ? null : coin;
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
