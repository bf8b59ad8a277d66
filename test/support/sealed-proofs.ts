import { utf8 } from '../../src/base/bytes.js';
import { seededRandom } from '../../src/random/work.js';
import {
  VerifiersCoins, type Chunk, type ChunkSide, type Statements,
} from '../../src/sealed/proof/chunks.js';
import {
  elementOf, KeyElements, sharedField, type Elements, type ElementStream, type Field,
} from '../../src/sealed/proof/field.js';
import { Prover } from '../../src/sealed/proof/prover.js';
import {
  LeftVerifier, RightVerifier, type FinalMessage,
} from '../../src/sealed/proof/verifier.js';
import { KeyStream } from '../../src/sealed/steps/key-stream.js';
import { signing } from '../../src/signing/node.js';

const elementsWith = (count: number, entry: (i: number) => bigint): Elements =>
  BigUint64Array.from({ length: count }, (_, i) => entry(i));

/** A field of any prime, entry by entry: the kernels know 2^61 - 1 alone. */
export function plainField(prime: bigint, coinsFrom: bigint): Field {
  const of = (value: bigint): bigint => elementOf({ prime }, value);
  const at = (vector: Elements, i: number): bigint => vector[i] ?? 0n;
  const foldedVector: Field['foldedVector'] = (vector, weights) => {
    const q = Math.ceil(vector.length / weights.length);
    return elementsWith(q, (c) => of(
      weights.reduce((sum, weight, i) => sum + weight * at(vector, c + i * q), 0n)));
  };
  const innerProductOf: Field['innerProductOf'] = (left, right) =>
    of(left.reduce((sum, entry, i) => sum + entry * right[i]!, 0n));
  return {
    prime, coinsFrom, foldedVector, innerProductOf,
    pointsOf: (left, right, nodes, weights) => Array.from({ length: 2 * nodes - 2 }, (_, point) => {
      const row = point < nodes - 1
        ? elementsWith(nodes, (i) => (i === point + 1 ? 1n : 0n))
        : weights.subarray(nodes * (point + 1 - nodes), nodes * (point + 2 - nodes));
      return innerProductOf(foldedVector(left, row), foldedVector(right, row));
    }),
    addWeighed: (target, right, weights, runs) => {
      for (const run of runs) {
        for (let i = 0; i < run.length; i++) {
          const place = run.left + i;
          const weight = weights[run.isOneSum ? run.sum : run.sum + i]!;
          target[place] = of(target[place]! + right[run.right + i]! * weight);
        }
      }
    },
  };
}

/** Elements of a key stream of a name. */
export function keyedElements(name: string): ElementStream {
  return new KeyElements(KeyStream.ofKey(signing.sha512(utf8(name)).slice(0, 16)));
}

/** These elements and no more. */
export function listed(values: readonly bigint[]): ElementStream {
  const left = [...values];
  const next = (): bigint => {
    const value = left.shift();
    if (value === undefined) throw new Error('a listed stream is at its end');
    return value;
  };
  return { next, many: (count) => elementsWith(count, next) };
}

/** All ones, which are the weights in tiny fields: a test chooses what a claim is worth there. */
const ones: ElementStream = { next: () => 1n, many: (count) => elementsWith(count, () => 1n) };

/** A chunk of statements as both sides know them. */
export interface Sides {
  readonly left: ChunkSide;
  readonly right: ChunkSide;
}

/** The public part of a chunk. @param fanIns - in a tiny field, where all weights are 1. */
export function chunkOf(
  shape: { readonly andWords?: number; readonly others?: readonly Statements[] },
  field = sharedField, fanIns?: readonly number[],
): Chunk {
  return {
    field, andWords: shape.andWords ?? 0, others: shape.others ?? [],
    sha512: (bytes) => signing.sha512(bytes), ...(fanIns !== undefined && { fanIns }),
    weightsOf: (seed) => (fanIns === undefined ? keyedElements(`weights ${seed.join()}`) : ones),
  };
}

/** One side of statements about numbers. */
export function numberSide(lists: readonly (readonly bigint[])[], claims: readonly bigint[]) {
  return {
    ands: new Uint8Array(0), lists: lists.map((list) => BigUint64Array.from(list)),
    claims: BigUint64Array.from(claims),
  };
}

/** Changes of the messages of a proof, and its streams. */
export interface ProofEvents {
  /** Each message as it arrives. Default: as it was sent. */
  readonly change?: {
    readonly half?: (half: Uint8Array, from: 'left' | 'right') => Uint8Array;
    readonly elements?: (elements: readonly bigint[], fold: number) => readonly bigint[];
    readonly coin?: (coin: bigint, fold: number) => bigint;
    readonly digest?: (digest: Uint8Array, to: 'left' | 'right') => Uint8Array;
    readonly final?: (final: FinalMessage, from: 'left' | 'right') => FinalMessage;
  };
  /** Streams: shared by prover and left, by prover and right, and by both verifiers. */
  readonly streams?: Readonly<Record<'left' | 'right' | 'coins', () => ElementStream>>;
  /** The seed of the weights: both halves. */
  readonly seed?: Uint8Array;
}

/** The views of both verifiers of a proof. */
export interface ProofRun {
  readonly elements: readonly (readonly bigint[])[];
  readonly finals: { readonly left: FinalMessage; readonly right: FinalMessage };
  /** The verdict of each verifier: null where it accepts. */
  readonly verdicts: readonly [left: Error | null, right: Error | null];
}

const keyed = (name: string): (() => ElementStream) => () => keyedElements(name);

/**
 * A proof among three servers in one process.
 * @param proved - what the prover proves. @param held - what its verifiers hold.
 */
export function proofOf(
  chunk: Chunk, proved: Sides, held: Sides, { change = {}, streams, seed }: ProofEvents = {},
): ProofRun {
  const { left, right, coins } =
    streams ?? { left: keyed('proof'), right: keyed('mask'), coins: keyed('coin') };
  const seedBytes = seed ?? new Uint8Array(32);
  if (seed === undefined) seededRandom(utf8('seed')).fill(seedBytes);
  const coinsOf = (): VerifiersCoins => new VerifiersCoins(chunk.field, coins(), seedBytes);
  const prover = new Prover({ chunk, ...proved, withLeft: left(), withRight: right() });
  const leftVerifier = new LeftVerifier(
    { chunk, coins: coinsOf(), withProver: left() }, held.left,
  );
  const rightVerifier = new RightVerifier(
    { chunk, coins: coinsOf(), withProver: right() }, held.right,
  );
  const half = change.half ?? ((bytes) => bytes);
  let message =
    prover.begin(half(seedBytes.slice(0, 16), 'left'), half(seedBytes.slice(16), 'right'));
  const elements: (readonly bigint[])[] = [];
  for (;;) {
    const fold = elements.length;
    elements.push(change.elements?.(message.elements, fold) ?? message.elements);
    const coin = rightVerifier.fold(elements.at(-1)!);
    if (coin === null) break;
    message = prover.answer(change.coin?.(coin, fold) ?? coin);
  }
  const digest = change.digest ?? ((bytes) => bytes);
  const final = change.final ?? ((said) => said);
  const finals = {
    left: final(leftVerifier.final(digest(message.coins!, 'left')), 'left'),
    right: final(rightVerifier.final(digest(message.coins!, 'right')), 'right'),
  };
  const verdictOf = (check: () => void): Error | null => {
    try {
      check();
      return null;
    } catch (error) {
      return error as Error;
    }
  };
  return {
    elements, finals,
    verdicts: [
      verdictOf(() => leftVerifier.check(finals.right)),
      verdictOf(() => rightVerifier.check(finals.left)),
    ],
  };
}
