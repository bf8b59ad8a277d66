import { utf8 } from '../../src/base/bytes.js';
import { seededRandom } from '../../src/random/work.js';
import { VerifiersCoins, type Chunk } from '../../src/sealed/proof/chunks.js';
import { KeyElements, type ElementStream, type Field } from '../../src/sealed/proof/field.js';
import { Prover } from '../../src/sealed/proof/prover.js';
import type { LeftSide, RightSide } from '../../src/sealed/proof/statements.js';
import {
  LeftVerifier, RightVerifier, type FinalMessage,
} from '../../src/sealed/proof/verifier.js';
import { KeyStream } from '../../src/sealed/steps/key-stream.js';
import { signing } from '../../src/signing/node.js';

/** Elements of a key stream of a name. */
export function elementsOf(name: string): ElementStream {
  return new KeyElements(KeyStream.ofKey(signing.sha512(utf8(name)).slice(0, 16)));
}

/** These elements and no more. */
export function listed(values: readonly bigint[]): ElementStream {
  const left = [...values];
  return {
    next: () => {
      const value = left.shift();
      if (value === undefined) throw new Error('a listed stream is at its end');
      return value;
    },
  };
}

/** A chunk of statements as both sides know them. */
export interface Statements {
  readonly left: readonly LeftSide[];
  readonly right: readonly RightSide[];
}

/** The chunk of statements in a field, with weights from a key, or all ones in a tiny field. */
export function chunkOf(
  field: Field, { left }: Statements, fanIns?: readonly number[],
): Chunk {
  return {
    field, terms: left.map(({ u }) => u.length), sha512: (bytes) => signing.sha512(bytes),
    ...(fanIns !== undefined && { fanIns }),
    weightsOf: (seed) => (fanIns === undefined
      ? elementsOf(`weights ${seed.join()}`) : { next: () => 1n }),
  };
}

/** What passes between three servers in a proof, in order. */
export interface ProofEvents {
  /** What each message becomes on its way. Default: it stays. */
  readonly change?: {
    readonly half?: (half: Uint8Array, from: 'left' | 'right') => Uint8Array;
    readonly elements?: (elements: readonly bigint[], fold: number) => readonly bigint[];
    readonly coin?: (coin: bigint, fold: number) => bigint;
    readonly digest?: (digest: Uint8Array, to: 'left' | 'right') => Uint8Array;
    readonly final?: (final: FinalMessage, from: 'left' | 'right') => FinalMessage;
  };
  /** Streams: shared by prover and left, by prover and right, and by both verifiers. */
  readonly streams?: () => {
    readonly left: readonly [ElementStream, ElementStream];
    readonly right: readonly [ElementStream, ElementStream];
    readonly coins: readonly [ElementStream, ElementStream];
  };
}

/** The right verifier's and the left verifier's views of a proof. */
export interface ProofRun {
  readonly elements: readonly (readonly bigint[])[];
  readonly coins: readonly bigint[];
  readonly finals: { readonly left: FinalMessage; readonly right: FinalMessage };
  /** What each verifier says: null where it accepts. */
  readonly verdicts: readonly [left: Error | null, right: Error | null];
}

const seedBytes = (seed: string): Uint8Array => {
  const bytes = new Uint8Array(32);
  seededRandom(utf8(seed)).fill(bytes);
  return bytes;
};

const keyed = (seed: string): ReturnType<NonNullable<ProofEvents['streams']>> => ({
  left: [elementsOf(`proof ${seed}`), elementsOf(`proof ${seed}`)],
  right: [elementsOf(`mask ${seed}`), elementsOf(`mask ${seed}`)],
  coins: [elementsOf(`coin ${seed}`), elementsOf(`coin ${seed}`)],
});

/**
 * A proof among three servers in one process.
 * @param proved - the statements that the prover proves. @param held - those of its verifiers.
 */
export function proofOf(
  field: Field, proved: Statements, held: Statements,
  { change = {}, streams }: ProofEvents, { fanIns, seed = 'proof' }: {
    readonly fanIns?: readonly number[]; readonly seed?: string;
  } = {},
): ProofRun {
  const chunk = chunkOf(field, held, fanIns);
  const { left, right, coins } = streams?.() ?? keyed(seed);
  const seedOf = seed === 'zero' ? new Uint8Array(32) : seedBytes(seed);
  const prover = new Prover({
    chunk: chunkOf(field, proved, fanIns), left: proved.left, right: proved.right,
    withLeft: left[0], withRight: right[0],
  });
  const leftVerifier = new LeftVerifier({
    chunk, coins: new VerifiersCoins(field, coins[0], seedOf), withProver: left[1],
  }, held.left);
  const rightVerifier = new RightVerifier({
    chunk, coins: new VerifiersCoins(field, coins[1], seedOf), withProver: right[1],
  }, held.right);
  const half = change.half ?? ((bytes) => bytes);
  let message = prover.begin(half(seedOf.slice(0, 16), 'left'), half(seedOf.slice(16), 'right'));
  const elements: (readonly bigint[])[] = [];
  const told: bigint[] = [];
  for (;;) {
    elements.push(change.elements?.(message.elements, elements.length) ?? message.elements);
    const coin = rightVerifier.fold(elements.at(-1)!);
    if (coin === null) break;
    told.push(coin);
    message = prover.answer(change.coin?.(coin, told.length - 1) ?? coin);
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
    elements, coins: told, finals,
    verdicts: [
      verdictOf(() => leftVerifier.check(finals.right)),
      verdictOf(() => rightVerifier.check(finals.left)),
    ],
  };
}
