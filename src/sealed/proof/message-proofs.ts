import { concatBytes } from '../../base/bytes.js';
import { andPatterns, patternBytes } from '../../numerics/kernels/and-groups.js';
import { servers, type ServerIndex } from '../shares/body.js';
import { KeyStream } from '../steps/key-stream.js';
import type { Party } from '../steps/party.js';
import type { AndMessage, MessageProofs, NumberMessages } from '../steps/statements.js';
import { elementsOf } from '../steps/words.js';
import {
  andChunksMost, andWordsMost, digestWords, elementBytes, factorsMost, foldsOf, halfSeedBytes,
  VerifiersCoins, type Chunk, type ChunkSide, type Statements,
} from './chunks.js';
import { KeyElements, sharedField, type ElementStream } from './field.js';
import { Prover, type FoldMessage } from './prover.js';
import { LeftVerifier, RightVerifier, type FinalMessage } from './verifier.js';

/** Uses of the stream that two servers share in the proof of a chunk. */
export type ProofStreamUse = 'proof' | 'mask' | 'coin';

/** The streams of the pairs (server - 1, server) and (server, server + 1). */
export type ProofStreams =
  (pair: 'own' | 'next', use: ProofStreamUse, chunk: number) => ElementStream;

/** Elements of a stream that make a seed. */
const seedElements = 8;

/** The messages of a chunk, as one server saw them. */
interface NotedChunk {
  readonly andWords: number;
  statementsOf(prover: ServerIndex): readonly Statements[];
  /** Both sides of messages of this server. */
  ownSides(prover: ServerIndex): { readonly left: ChunkSide; readonly right: ChunkSide };
  /** The left side of messages of the server after this one. */
  leftOf(prover: ServerIndex): ChunkSide;
  /** The right side of messages of the server before this one. */
  rightOf(prover: ServerIndex): ChunkSide;
}

const andLists = [
  'xOwn', 'xNext', 'yOwn', 'yNext', 'maskOwn', 'maskNext', 'sent', 'received',
] as const;

type AndLists = Record<(typeof andLists)[number], Uint32Array>;

/** Room for patterns, in the first place, once some were made. */
type PatternMemory = [memory?: Uint8Array<ArrayBuffer>];

const noElements = new BigUint64Array(0);

/** Ands. Its lists are used again for later chunks: new memory for each would take longer. */
class NotedAnds implements NotedChunk {
  andWords = 0;
  /** Patterns of the prover's sides, which are kept until both are folded. */
  readonly #patterns: Readonly<Record<'left' | 'right', PatternMemory>> =
    { left: [], right: [] };
  readonly #lists = Object.fromEntries(
    andLists.map((name) => [name, new Uint32Array(0)]),
  ) as AndLists;

  get isFull(): boolean {
    return this.andWords === andWordsMost;
  }

  /** Takes words from a place on, as many as there is room for. @returns how many. */
  take({ x, y, masks, sent, received }: AndMessage, from: number): number {
    const taken = Math.min(sent.length - from, andWordsMost - this.andWords);
    const message: AndLists = {
      xOwn: x.own, xNext: x.next, yOwn: y.own, yNext: y.next,
      maskOwn: masks.own, maskNext: masks.next, sent, received,
    };
    for (const name of andLists) {
      const list = this.#lists[name] = withRoom(this.#lists[name], this.andWords + taken);
      list.set(message[name].subarray(from, from + taken), this.andWords);
    }
    this.andWords += taken;
    return taken;
  }

  statementsOf(): readonly Statements[] {
    return [];
  }

  ownSides(): { readonly left: ChunkSide; readonly right: ChunkSide } {
    return {
      left: this.#left('xOwn', 'yOwn', 'maskOwn', 'sent', this.#patterns.left),
      right: this.#side('xNext', 'yNext', this.#taken('maskNext'), this.#patterns.right),
    };
  }

  leftOf(): ChunkSide {
    return this.#left('xNext', 'yNext', 'maskNext', 'received', verifiersPatterns);
  }

  rightOf(): ChunkSide {
    return this.#side('xOwn', 'yOwn', this.#taken('maskOwn'), verifiersPatterns);
  }

  clear(): void {
    this.andWords = 0;
  }

  #taken(name: keyof AndLists): Uint32Array {
    return this.#lists[name].subarray(0, this.andWords);
  }

  #left(
    xName: keyof AndLists, yName: keyof AndLists, mask: keyof AndLists, message: keyof AndLists,
    memory: PatternMemory,
  ): ChunkSide {
    const [x, y, masks] = [this.#taken(xName), this.#taken(yName), this.#taken(mask)];
    const third = this.#taken(message).slice();
    for (let at = 0; at < third.length; at++) third[at]! ^= masks[at]! ^ (x[at]! & y[at]!);
    return this.#side(xName, yName, third, memory);
  }

  #side(
    xName: keyof AndLists, yName: keyof AndLists, third: Uint32Array, memory: PatternMemory,
  ): ChunkSide {
    const bytes = patternBytes(this.andWords);
    if ((memory[0]?.length ?? 0) < bytes) memory[0] = new Uint8Array(bytes);
    const ands = andPatterns([this.#taken(xName), this.#taken(yName), third], memory[0]);
    return { ands, lists: [], claims: noElements };
  }
}

/** A verifier folds its patterns at once, so the next one may overwrite them. */
const verifiersPatterns: PatternMemory = [];

/** Statements about numbers. */
class NotedNumbers implements NotedChunk {
  readonly andWords = 0;
  /** Numbers in the left sides of all provers. */
  factors = 0;
  readonly #messages: Record<ServerIndex, NumberMessages[]> = { 0: [], 1: [], 2: [] };

  take(messages: NumberMessages): void {
    this.#messages[messages.prover].push(messages);
    for (const { length } of messages.parts) this.factors += length;
  }

  statementsOf(prover: ServerIndex): readonly Statements[] {
    return this.#messages[prover];
  }

  ownSides(prover: ServerIndex): { readonly left: ChunkSide; readonly right: ChunkSide } {
    return { left: this.leftOf(prover), right: this.rightOf(prover) };
  }

  leftOf(prover: ServerIndex): ChunkSide {
    return this.#side(prover, ({ left }) => left!);
  }

  rightOf(prover: ServerIndex): ChunkSide {
    return this.#side(prover, ({ right }) => right!);
  }

  #side(
    prover: ServerIndex, listsOf: (messages: NumberMessages) => readonly Uint32Array[],
  ): ChunkSide {
    const messages = this.#messages[prover];
    const claims = messages.flatMap(({ claims: list }) => (list === null ? [] : [list]));
    const all = new Uint32Array(claims.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const list of claims) {
      all.set(list, at);
      at += list.length;
    }
    const lists = messages.flatMap(listsOf).map(elementsOf);
    return { ands: new Uint8Array(0), lists, claims: elementsOf(all) };
  }
}

/** A list with room for so many words, which doubles as it grows. */
function withRoom(list: Uint32Array, words: number): Uint32Array {
  if (list.length >= words) return list;
  const grown = new Uint32Array(Math.min(andWordsMost, Math.max(words, 2 * list.length)));
  grown.set(list);
  return grown;
}

/** The three parts that a server has in the proofs of one chunk. */
interface ChunkProofs {
  /** The fan-ins of each prover's folds. */
  readonly folds: Readonly<Record<ServerIndex, readonly number[]>>;
  readonly prover: Prover;
  /** For the messages of the server after. */
  readonly left: LeftVerifier;
  readonly leftSeed: Uint8Array;
  /** For the messages of the server before. */
  readonly right: RightVerifier;
  readonly rightSeed: Uint8Array;
  /** Digests of the coins that the servers after and before this one said they were told. */
  saidToLeft?: Uint8Array;
  saidToRight?: Uint8Array;
}

/**
 * Proves the messages of this server to the two others, and verifies theirs, before anything is
 * opened. All three are prover, left and right verifier at once, of all chunks in the same rounds:
 * one for the seeds, two for each fold but the last, one for that, and one for the last values.
 *
 * Claim. Where the two other servers, or one of them, follow this file, a message that is not the
 * one that its step says ends the run in a ProofError before a number is opened, but for a chance
 * of 2^-52 for each chunk; and a proof tells nobody anything that it does not hold.
 * Why. `foldsOf` and `Prover`. A verifier's half of the seed leaves after all messages of the chunk
 * that it receives, so a prover that chooses a message later than it should does not know one half.
 * Each stream is of one chunk and one use.
 */
export class ChunkedProofs implements MessageProofs {
  #ands = [new NotedAnds()];
  readonly #spare: NotedAnds[] = [];
  #numbers = new NotedNumbers();
  #proved = 0;

  constructor(
    private readonly party: Party, private readonly streams: ProofStreams,
    private readonly sha512: (bytes: Uint8Array) => Uint8Array,
  ) {}

  async noteAnds(message: AndMessage): Promise<void> {
    for (let from = 0; from < message.sent.length;) {
      if (this.#ands.at(-1)!.isFull) this.#ands.push(this.#spare.pop() ?? new NotedAnds());
      from += this.#ands.at(-1)!.take(message, from);
      if (this.#ands.length === andChunksMost && this.#ands.at(-1)!.isFull) await this.verify();
    }
  }

  async noteNumbers(messages: readonly NumberMessages[]): Promise<void> {
    for (const one of messages) this.#numbers.take(one);
    if (this.#numbers.factors >= factorsMost) await this.verify();
  }

  async verify(): Promise<void> {
    const ands = this.#ands;
    const chunks: NotedChunk[] = ands.filter(({ andWords }) => andWords > 0);
    if (this.#numbers.factors > 0) chunks.push(this.#numbers);
    this.#ands = [this.#spare.pop() ?? new NotedAnds()];
    this.#numbers = new NotedNumbers();
    if (chunks.length === 0) return;
    const proofs = chunks.map((chunk) => this.#proofsOf(chunk, this.#proved++));
    await this.#fold(proofs, await this.#exchangeSeeds(proofs));
    await this.#finish(proofs);
    for (const chunk of ands) chunk.clear();
    this.#spare.push(...ands);
  }

  #proofsOf(noted: NotedChunk, number: number): ChunkProofs {
    const { party: { server, following, previous }, streams, sha512 } = this;
    const chunkOf = (prover: ServerIndex): Chunk => ({
      field: sharedField, andWords: noted.andWords, others: noted.statementsOf(prover), sha512,
      weightsOf: (seed) => new KeyElements(KeyStream.ofKey(sha512(seed).slice(0, 16))),
    });
    const coinsOf = (pair: 'own' | 'next'): VerifiersCoins => {
      const stream = streams(pair, 'coin', number);
      // 32 bytes of which each half has more bits of chance than a key needs.
      const seed = concatBytes(...[...stream.many(seedElements)].map(elementBytes));
      return new VerifiersCoins(sharedField, stream, sha512(seed).slice(0, 2 * halfSeedBytes));
    };
    const [leftCoins, rightCoins] = [coinsOf('own'), coinsOf('next')];
    return {
      folds: {
        0: foldsOf(chunkOf(0)), 1: foldsOf(chunkOf(1)), 2: foldsOf(chunkOf(2)),
      },
      prover: new Prover({
        chunk: chunkOf(server), ...noted.ownSides(server),
        withLeft: streams('own', 'proof', number), withRight: streams('next', 'mask', number),
      }),
      left: new LeftVerifier({
        chunk: chunkOf(following), coins: leftCoins,
        withProver: streams('next', 'proof', number),
      }, noted.leftOf(following)),
      leftSeed: leftCoins.seed,
      right: new RightVerifier({
        chunk: chunkOf(previous), coins: rightCoins, withProver: streams('own', 'mask', number),
      }, noted.rightOf(previous)),
      rightSeed: rightCoins.seed,
    };
  }

  async #exchangeSeeds(proofs: readonly ChunkProofs[]): Promise<FoldMessage[]> {
    const words = halfSeedBytes / 4;
    const { previous, following } = await exchange(this.party, {
      toFollowing: wordsOf(proofs.map(({ leftSeed }) => leftSeed.subarray(0, halfSeedBytes))),
      toPrevious: wordsOf(proofs.map(({ rightSeed }) => rightSeed.subarray(halfSeedBytes))),
      previousWords: words * proofs.length, followingWords: words * proofs.length,
    });
    const half = (received: Uint32Array, i: number): Uint8Array =>
      bytesOf(received.subarray(words * i, words * (i + 1)));
    return proofs.map(({ prover }, i) => prover.begin(half(previous, i), half(following, i)));
  }

  /** All folds of all chunks. Chunks of fewer folds are over sooner. */
  async #fold(proofs: readonly ChunkProofs[], messages: FoldMessage[]): Promise<void> {
    const { server } = this.party;
    const most = Math.max(...proofs.flatMap(({ folds }) =>
      servers.map((prover) => folds[prover].length)));
    for (let fold = 0; fold < most; fold++) {
      const coins = await this.#sendFold(proofs, messages, fold);
      if (fold === most - 1) return;
      const told = proofs.filter(({ folds }) => fold < folds[server].length - 1);
      const { following } = await exchange(this.party, {
        toFollowing: new Uint32Array(0), toPrevious: wordsOf(coins.map(elementBytes)),
        previousWords: 0, followingWords: 2 * told.length,
      });
      told.forEach((proof, i) => {
        const [coin] = elementsIn(following.subarray(2 * i, 2 * i + 2));
        messages[proofs.indexOf(proof)] = proof.prover.answer(coin!);
      });
    }
  }

  /** One fold. @returns the coins for the server before. */
  async #sendFold(
    proofs: readonly ChunkProofs[], messages: readonly FoldMessage[], fold: number,
  ): Promise<readonly bigint[]> {
    const { server, previous, following } = this.party;
    const going = (prover: ServerIndex): readonly ChunkProofs[] =>
      proofs.filter(({ folds }) => fold < folds[prover].length);
    const last = (prover: ServerIndex): readonly ChunkProofs[] =>
      proofs.filter(({ folds }) => fold === folds[prover].length - 1);
    const messageOf = (proof: ChunkProofs): FoldMessage => messages[proofs.indexOf(proof)]!;
    const digests = last(server).map((proof) => messageOf(proof).coins!);
    const words = ({ folds }: ChunkProofs): number => 2 * (2 * folds[previous][fold]! - 2);
    const got = await exchange(this.party, {
      toFollowing: wordsOf([
        ...going(server).flatMap((proof) => messageOf(proof).elements.map(elementBytes)),
        ...digests,
      ]),
      toPrevious: wordsOf(digests),
      previousWords: going(previous).reduce((sum, proof) => sum + words(proof), 0)
        + digestWords * last(previous).length,
      followingWords: digestWords * last(following).length,
    });
    let at = 0;
    const next = (count: number): Uint32Array => got.previous.subarray(at, at += count);
    const coins = going(previous).map((proof) => proof.right.fold(elementsIn(next(words(proof)))));
    for (const proof of last(previous)) proof.saidToRight = bytesOf(next(digestWords));
    last(following).forEach((proof, i) => {
      proof.saidToLeft =
        bytesOf(got.following.subarray(digestWords * i, digestWords * (i + 1)));
    });
    return coins.filter((coin) => coin !== null);
  }

  /** Nothing leaves before all provers have said the right coins, and nothing is kept after. */
  async #finish(proofs: readonly ChunkProofs[]): Promise<void> {
    const left = proofs.map((proof) => proof.left.final(proof.saidToLeft!));
    const right = proofs.map((proof) => proof.right.final(proof.saidToRight!));
    const sent = (finals: readonly FinalMessage[]): Uint32Array =>
      wordsOf(finals.flatMap(({ entry, share }) => [elementBytes(entry), elementBytes(share)]));
    // The right verifier of the server after is the server before, and so on.
    const { previous, following } = await exchange(this.party, {
      toPrevious: sent(left), toFollowing: sent(right),
      previousWords: 4 * proofs.length, followingWords: 4 * proofs.length,
    });
    const final = (words: Uint32Array, i: number): FinalMessage => {
      const [entry, share] = elementsIn(words.subarray(4 * i, 4 * i + 4));
      return { entry: entry!, share: share! };
    };
    proofs.forEach((proof, i) => {
      proof.left.check(final(previous, i));
      proof.right.check(final(following, i));
    });
  }
}

/** One round: what goes to either server, and the words that come from it. Nothing is empty. */
async function exchange(
  party: Party, { toPrevious, toFollowing, previousWords, followingWords }: {
    readonly toPrevious: Uint32Array; readonly toFollowing: Uint32Array;
    readonly previousWords: number; readonly followingWords: number;
  },
): Promise<{ readonly previous: Uint32Array; readonly following: Uint32Array }> {
  party.begin();
  if (toPrevious.length > 0) party.send(party.previous, toPrevious);
  if (toFollowing.length > 0) party.send(party.following, toFollowing);
  const receive = (from: ServerIndex, words: number): Promise<Uint32Array> | Uint32Array =>
    (words === 0 ? new Uint32Array(0) : party.receive(from, words));
  const [previous, following] = await Promise.all([
    receive(party.previous, previousWords), receive(party.following, followingWords),
  ]);
  return { previous, following };
}

function wordsOf(parts: readonly Uint8Array[]): Uint32Array {
  return new Uint32Array(Uint8Array.from(concatBytes(...parts)).buffer);
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.slice().buffer);
}

function elementsIn(words: Uint32Array): readonly bigint[] {
  return [...elementsOf(words.slice())];
}
