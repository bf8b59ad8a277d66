import { servers, type ServerIndex } from '../shares/body.js';
import type { BitRange, ComponentRange } from './adder.js';
import { messageHeadBytes } from './party.js';
import { planeWords } from './planes.js';
import { rowsAtEnd, tallyLayout } from './tally.js';

/** The traffic of a run. */
export interface Traffic {
  /** Messages after each other. */
  readonly rounds: number;
  /** Bytes that each server sends, by its number. */
  readonly bytes: readonly number[];
}

/** Counts messages of one round, of so many words. An empty one is not sent. */
export type SentWords =
  (messages: readonly (readonly [from: ServerIndex, to: ServerIndex, words: number])[]) => void;

/** Counts what the proofs of messages send (sealed/proof/traffic). */
export interface CountedProofs {
  noteAnds(words: number, send: SentWords): void;
  noteNumbers(provers: readonly ServerIndex[], factors: number, send: SentWords): void;
  verify(send: SentWords): void;
}

/**
 * Counts rounds and bytes of steps from public sizes alone: each method is a step of this folder,
 * with the same name, and sends nothing. `test/sealed/traffic.test.ts` compares it with what
 * parties sent.
 */
export class TrafficCount {
  #rounds = 0;
  readonly #bytes = [0, 0, 0];

  /** @param proofs - null: of a run without proofs. */
  constructor(private readonly proofs: CountedProofs | null) {}

  get traffic(): Traffic {
    return { rounds: this.#rounds, bytes: [...this.#bytes] };
  }

  /** @param words - of a plane or of several. */
  and(words: number): void {
    this.#step(servers, words);
    this.proofs?.noteAnds(words, this.#send);
  }

  #andAll(pairs: number, words: number): void {
    if (pairs > 0) this.and(pairs * words);
  }

  /**
   * Sums of products: `count` numbers come out.
   * @param factors - numbers of the two lists; of one list that is multiplied by itself, those.
   */
  dot(count: number, factors: number): void {
    this.#step(servers, 2 * count);
    this.proofs?.noteNumbers(servers, factors, this.#send);
  }

  number(words: number): void {
    this.#step([0], 64 * words);
    this.proofs?.noteNumbers([0], 32 * words, this.#send);
    this.#step([1, 2], 64 * words);
    this.proofs?.noteNumbers([1, 2], 32 * words, this.#send);
  }

  /** @param count - numbers that are opened. */
  open(count: number): void {
    this.proofs?.verify(this.#send);
    this.#step(servers, 2 * count, 2);
  }

  /** @param count - numbers of which bits are wanted. */
  bits(count: number, { from, end }: BitRange): void {
    const words = planeWords(count);
    this.and((end + 1) * words);
    this.#sumBits(words, { from: from + 1, end: end + 1 });
  }

  /** @param count - numbers whose components are added up. */
  componentSum(count: number, { from, width }: ComponentRange): void {
    const words = planeWords(count);
    this.and(width * words);
    this.#sumBits(words, { from: from - 1, end: width });
  }

  #sumBits(words: number, { from, end }: BitRange): void {
    this.#andAll(end - 1, words);
    // The stretches through which carries pass: none comes from below the lowest.
    const positions = Array.from({ length: end - 1 }, (_, i) => i > 0);
    const below = from === 0 ? [] : [this.#mergedTree(positions.slice(0, from), words)];
    this.#mergedPrefixes([...below, ...positions.slice(from)], words);
  }

  #mergedTree(stretches: readonly boolean[], words: number): boolean {
    let level = stretches;
    while (level.length > 1) {
      const lower = level.filter((_, i) => i % 2 === 0 && i + 1 < level.length);
      this.#merged(lower, words);
      level = level.length % 2 === 1 ? [...lower, level.at(-1)!] : lower;
    }
    return level[0]!;
  }

  #mergedPrefixes(stretches: readonly boolean[], words: number): void {
    const result = [...stretches];
    for (let span = 1; span < result.length; span *= 2) {
      const places = [...result.keys()].filter((i) => (i & span) !== 0);
      const lower = places.map((i) => result[i - (i & (span - 1)) - 1]!);
      this.#merged(lower, words);
      places.forEach((place, i) => { result[place] = lower[i]!; });
    }
  }

  /** @param lower - of each pair, whether carries pass through the lower stretch. */
  #merged(lower: readonly boolean[], words: number): void {
    this.#andAll(lower.reduce((ands, passes) => ands + (passes ? 2 : 1), 0), words);
  }

  /** @param planes - bits of the number that becomes one of 2^planes bins. */
  oneHot(planes: number, words: number): void {
    for (let plane = 0; plane < planes; plane++) this.#andAll(2 ** plane, words);
  }

  tally(planes: number, words: number): void {
    const { rowWords, rows } = tallyLayout(planes, words);
    let levels = [rows];
    for (;;) {
      const total = levels.reduce((sum, count) => sum + count, 0);
      const triples = levels.map((count) => (total <= rowsAtEnd ? 0 : Math.floor(count / 3)));
      const ands = triples.reduce((sum, count) => sum + count, 0);
      if (ands === 0) return this.number(total * rowWords);
      this.and(ands * rowWords);
      levels = [...levels, 0].map((count, weight) =>
        count - 2 * (triples[weight] ?? 0) + (triples[weight - 1] ?? 0));
    }
  }

  readonly #send: SentWords = (messages) => {
    this.#rounds += 1;
    for (const [from, , words] of messages) {
      if (words > 0) this.#bytes[from]! += messageHeadBytes + 4 * words;
    }
  };

  /** One round, in which these servers send a message of this many words. */
  #step(who: readonly ServerIndex[], words: number, receivers = 1): void {
    this.#rounds += 1;
    for (const server of who) {
      this.#bytes[server]! += receivers * (messageHeadBytes + 4 * words);
    }
  }
}
