import { concatBytes } from '../../base/bytes.js';
import { andPatterns } from '../../numerics/kernels/and-groups.js';
import { servers, type ServerIndex } from '../shares/body.js';
import { KeyStream } from '../steps/key-stream.js';
import type { Party } from '../steps/party.js';
import type {
  AndMessage, MessageProofs, NumberMessages, StatementSide,
} from '../steps/statements.js';
import {
  andWordsMost, elementBytes, foldsOf, halfSeedBytes, VerifiersCoins, type Chunk, type ChunkSide,
  type StatementSizes,
} from './chunks.js';
import { KeyElements, sharedField, type Elements, type ElementStream } from './field.js';
import { Prover, type FoldMessage } from './prover.js';
import { LeftVerifier, RightVerifier, type FinalMessage } from './verifier.js';

/** Uses of the stream that two servers share in the proof of a chunk. */
export type ProofStreamUse = 'proof' | 'mask' | 'coin';

/** The streams of the pairs (server - 1, server) and (server, server + 1). */
export type ProofStreams =
  (pair: 'own' | 'next', use: ProofStreamUse, chunk: number) => ElementStream;

/** Chunks that are proved side by side. */
const chunksMost = 8;
/** Elements of a stream that make a seed. */
const seedElements = 8;
/** Factors of one side of the other statements of a chunk. */
const factorsMost = 2 ** 20;

const andLists = [
  'xOwn', 'xNext', 'yOwn', 'yNext', 'maskOwn', 'maskNext', 'sent', 'received',
] as const;

/** The messages of a chunk, as one server saw them. */
class NotedChunk {
  andWords = 0;
  readonly #ands: { [list in (typeof andLists)[number]]?: Uint32Array } = {};
  readonly #numbers: Record<ServerIndex, Omit<NumberMessages, 'prover'>[]> =
    { 0: [], 1: [], 2: [] };
  readonly #sizes: Record<ServerIndex, StatementSizes[]> = { 0: [], 1: [], 2: [] };
  #factors = 0;

  get isEmpty(): boolean {
    return this.andWords === 0 && this.#factors === 0;
  }

  get isFull(): boolean {
    return this.andWords === andWordsMost || this.#factors >= factorsMost;
  }

  /** Takes words from a place on, as many as there is room for. @returns how many. */
  takeAnds({ x, y, masks, sent, received }: AndMessage, from: number): number {
    const taken = Math.min(sent.length - from, andWordsMost - this.andWords);
    const message = {
      xOwn: x.own, xNext: x.next, yOwn: y.own, yNext: y.next,
      maskOwn: masks.own, maskNext: masks.next, sent, received,
    };
    for (const name of andLists) {
      const list = this.#ands[name] = roomFor(this.#ands[name], this.andWords + taken);
      list.set(message[name].subarray(from, from + taken), this.andWords);
    }
    this.andWords += taken;
    return taken;
  }

  takeNumbers({ prover, terms, left, right }: NumberMessages): void {
    const statements = (left ?? right)!.claims.length / 2;
    this.#numbers[prover].push({ terms, left, right });
    this.#sizes[prover].push({ statements, terms });
    this.#factors += statements * terms;
  }

  sizesOf(prover: ServerIndex): readonly StatementSizes[] {
    return this.#sizes[prover];
  }

  /** The left side of messages of this server, or of the one after it. */
  leftOf(prover: ServerIndex, isOwn: boolean): ChunkSide {
    const { xOwn, xNext, yOwn, yNext, maskOwn, maskNext, sent, received } = this.#lists();
    const [x, y, mask, message] =
      isOwn ? [xOwn, yOwn, maskOwn, sent] : [xNext, yNext, maskNext, received];
    const third = message.map((word, at) => word ^ mask[at]! ^ (x[at]! & y[at]!));
    return { ands: andPatterns([x, y, third]), ...this.#sides(prover, 'left') };
  }

  /** The right side of messages of this server, or of the one before it. */
  rightOf(prover: ServerIndex, isOwn: boolean): ChunkSide {
    const { xOwn, xNext, yOwn, yNext, maskOwn, maskNext } = this.#lists();
    const [x, y, mask] = isOwn ? [xNext, yNext, maskNext] : [xOwn, yOwn, maskOwn];
    return { ands: andPatterns([x, y, mask]), ...this.#sides(prover, 'right') };
  }

  #lists(): Record<(typeof andLists)[number], Uint32Array> {
    return Object.fromEntries(andLists.map((name) =>
      [name, (this.#ands[name] ?? new Uint32Array(0)).subarray(0, this.andWords)],
    )) as Record<(typeof andLists)[number], Uint32Array>;
  }

  #sides(prover: ServerIndex, side: 'left' | 'right'): Omit<ChunkSide, 'ands'> {
    const noted = this.#numbers[prover].map((messages) => messages[side]!);
    const all = (list: keyof StatementSide): Elements => {
      const joined = concatBytes(...noted.map((one) => new Uint8Array(
        one[list].buffer, one[list].byteOffset, one[list].byteLength,
      )));
      return new BigUint64Array(Uint8Array.from(joined).buffer);
    };
    return { factors: all('factors'), claims: all('claims') };
  }
}

/** A list with room for so many words, which doubles as it grows. */
function roomFor(list: Uint32Array | undefined, words: number): Uint32Array {
  if (list !== undefined && list.length >= words) return list;
  const grown = new Uint32Array(
    Math.min(andWordsMost, Math.max(words, 2 * (list?.length ?? 0))),
  );
  if (list !== undefined) grown.set(list);
  return grown;
}

/** The three parts that a server has in the proofs of one chunk. */
interface ChunkProofs {
  /** The fan-ins of each prover's folds. */
  readonly folds: Readonly<Record<ServerIndex, readonly number[]>>;
  readonly prover: Prover;
  /** Of the messages of the server after. */
  readonly left: LeftVerifier;
  readonly leftSeed: Uint8Array;
  /** Of the messages of the server before. */
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
  #chunks: NotedChunk[] = [new NotedChunk()];
  #proved = 0;

  constructor(
    private readonly party: Party, private readonly streams: ProofStreams,
    private readonly sha512: (bytes: Uint8Array) => Uint8Array,
  ) {}

  async noteAnds(message: AndMessage): Promise<void> {
    for (let from = 0; from < message.sent.length;) {
      from += this.#chunks.at(-1)!.takeAnds(message, from);
      await this.#goOn();
    }
  }

  async noteNumbers(messages: readonly NumberMessages[]): Promise<void> {
    for (const one of messages) this.#chunks.at(-1)!.takeNumbers(one);
    await this.#goOn();
  }

  async #goOn(): Promise<void> {
    if (!this.#chunks.at(-1)!.isFull) return;
    if (this.#chunks.length === chunksMost) await this.verify();
    else this.#chunks.push(new NotedChunk());
  }

  async verify(): Promise<void> {
    const chunks = this.#chunks.filter(({ isEmpty }) => !isEmpty);
    this.#chunks = [new NotedChunk()];
    if (chunks.length === 0) return;
    const proofs = chunks.map((chunk) => this.#proofsOf(chunk, this.#proved++));
    await this.#fold(proofs, await this.#exchangeSeeds(proofs));
    await this.#finish(proofs);
  }

  #proofsOf(noted: NotedChunk, number: number): ChunkProofs {
    const { party: { server, following, previous }, streams, sha512 } = this;
    const chunkOf = (prover: ServerIndex): Chunk => ({
      field: sharedField, andWords: noted.andWords, others: noted.sizesOf(prover), sha512,
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
        chunk: chunkOf(server), left: noted.leftOf(server, true),
        right: noted.rightOf(server, true), withLeft: streams('own', 'proof', number),
        withRight: streams('next', 'mask', number),
      }),
      left: new LeftVerifier({
        chunk: chunkOf(following), coins: leftCoins,
        withProver: streams('next', 'proof', number),
      }, noted.leftOf(following, false)),
      leftSeed: leftCoins.seed,
      right: new RightVerifier({
        chunk: chunkOf(previous), coins: rightCoins, withProver: streams('own', 'mask', number),
      }, noted.rightOf(previous, false)),
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
      new Uint8Array(received.slice(words * i, words * (i + 1)).buffer);
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

const digestWords = 16;

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
  return [...new BigUint64Array(words.slice().buffer)];
}
