import { assert } from '../base/assert.js';
import { utf8, writeUtf8 } from '../base/bytes.js';
import { InvalidParameterError } from '../base/errors.js';
import { publicKeys } from '../base/public-keys.js';
import { placeOfPart, publicParts } from '../base/question-rules.js';
import { questionLimits, type GroupBy } from '../base/questions.js';
import type { TextTable } from '../base/text-table.js';
import { chachaState, foldKey, foldPart } from '../random/chacha20.js';
import { columnOf, textOf, type Column, type SentRows, type StudyColumns } from './columns.js';

/** The public keys of a question, in their order. */
export interface KeyList {
  /** Each key has a part for each column of the question's `by`. */
  readonly names: readonly (readonly string[])[];
  /** The place of a row's key in `names`; -1 where a cell is absent or the key is not listed. */
  placeOf(sent: SentRows, start: number): number;
}

/**
 * The public keys of `by`, as `publicKeys` lists them.
 * @throws InvalidParameterError for a column that is not there or has no public values, for more
 *   than `questionLimits.keys` keys, and where the keys are to be found.
 */
export function keyListOf(by: GroupBy, study: StudyColumns): KeyList {
  const columns = by.columns.map((name) => columnOf(study, name));
  const names = publicKeys(by, study);
  if (names === null) throw noList(by, columns);
  return by.groups === undefined
    ? combinations(names, columns) : listed(names, keyReaderOf(by, study));
}

/** All combinations of the columns' public values, with the last column changing fastest. */
function combinations(names: KeyList['names'], columns: readonly Column[]): KeyList {
  const digits = columns.map(({ place, type }) =>
    ({ place, type, count: publicParts(type)!.length }));
  return {
    names,
    placeOf({ values }, start) {
      let key = 0;
      for (const { place, type, count } of digits) {
        const cell = values[start + place]!;
        if (Number.isNaN(cell)) return -1;
        key = key * count + placeOfPart(type, cell);
      }
      return key;
    },
  };
}

function noList({ columns: names, discover }: GroupBy, columns: readonly Column[]): Error {
  if (discover !== undefined) return new InvalidParameterError('the groups of by are not listed');
  const at = columns.findIndex(({ type }) => publicParts(type) === null);
  if (at < 0) {
    const count = columns.reduce((all, { type }) => all * publicParts(type)!.length, 1);
    return new InvalidParameterError(
      `by has ${count} combinations of values, and ${questionLimits.keys} are the most: `
        + 'use fewer columns, or columns with fewer values',
    );
  }
  return noValues(columns[at]!, names[at]!);
}

function noValues({ isText }: Column, name: string): Error {
  return new InvalidParameterError(isText
    ? `column ${name} is a text: give discover, or a list in groups`
    : `column ${name} has no public list of values: by takes a category, a boolean, a text, `
      + `or an integer with low and high and at most ${questionLimits.integerValues} values`);
}

/** A given list. Keys are compared as text. */
function listed(keys: readonly (readonly string[])[], read: KeyReader): KeyList {
  if (keys.length > questionLimits.keys) {
    throw new InvalidParameterError(
      `the list has ${keys.length} groups, and ${questionLimits.keys} are the most`,
    );
  }
  const places = new Map(keys.map((key, place) => [textOfKey(key), place]));
  return {
    names: keys,
    placeOf(sent, start) {
      const key = read(sent, start);
      return key === null ? -1 : places.get(key) ?? -1;
    },
  };
}

/** The key of a row as one text; null where a cell is absent. Equal keys give equal texts. */
export type KeyReader = (sent: SentRows, start: number) => string | null;

/** @throws InvalidParameterError for a column that is not there, or a number without a range. */
export function keyReaderOf(by: GroupBy, study: StudyColumns): KeyReader {
  const columns = partsOfBy(by, study);
  const [only] = columns;
  if (columns.length === 1 && only!.isText) {
    const { place } = only!;
    return ({ values, texts }, start) => {
      const cell = values[start + place]!;
      return Number.isNaN(cell) ? null : textOf(texts![place]!, cell);
    };
  }
  return (sent, start) => {
    const key: string[] = [];
    for (const { place, type, parts } of columns) {
      const cell = sent.values[start + place]!;
      if (Number.isNaN(cell)) return null;
      key.push(parts === null ? textOf(sent.texts![place]!, cell)
        : parts[placeOfPart(type, cell)]!);
    }
    return textOfKey(key);
  };
}

/** A key as one text: its part, or its parts as JSON. */
function textOfKey(parts: readonly string[]): string {
  return parts.length === 1 ? parts[0]! : JSON.stringify(parts);
}

/** The parts of a key that a KeyReader read. @param count - the number of parts. */
export function partsOfKey(key: string, count: number): readonly string[] {
  return count === 1 ? [key] : JSON.parse(key) as readonly string[];
}

/**
 * The most bytes that a key of these columns takes in a table: the UTF-8 of each part, and a byte
 * with its length. It depends on the columns' types alone.
 * @throws InvalidParameterError as `keyReaderOf`.
 */
export function keyBytesMax(by: GroupBy, study: StudyColumns): number {
  return partsOfBy(by, study).reduce((sum, { type, parts }) => {
    const most = type.type === 'text' ? type.bytes
      : Math.max(...parts!.map((part) => utf8(part).length));
    return sum + 1 + most;
  }, 0);
}

/** The columns of `by`, each with its public values; null: texts. */
function partsOfBy(by: GroupBy, study: StudyColumns): readonly (Column & {
  readonly parts: readonly string[] | null;
})[] {
  return by.columns.map((name) => {
    const column = columnOf(study, name);
    const { type } = column;
    const parts = column.isText ? null : publicParts(type);
    if (parts === null && !column.isText) throw noValues(column, name);
    return { ...column, parts };
  });
}

/** Ranks keys for one contributor. */
export interface KeyRanks {
  of(key: readonly string[]): number;
  /** The rank of a key of one part, from its UTF-8: the same as `of` gives its text. */
  ofText(texts: TextTable, place: number): number;
}

/**
 * The ranks by which a contributor's keys are chosen: pseudo-random in [0, 1) with 53 bits, from
 * the names of the columns and the key. Questions that are split by the same columns have the same
 * ranks.
 *
 * Privacy does not rely on the hash: a rank depends on the contributor's secret and the key alone,
 * so nobody else's rows decide which keys stay. That the choice is even, and that nobody can choose
 * a key with a small rank, relies on ChaCha20 as a keyed function: `foldKey` begins with the secret
 * and precedes every text by its length, so no list of texts is the beginning of another.
 * Cost: about one ChaCha20 block for each 32 bytes, plus one for each part.
 * @param secret - of this contributor in this epoch, at least 16 bytes.
 */
export function keyRanks(secret: Uint8Array, columns: readonly string[]): KeyRanks {
  const seed = chachaState(foldKey(foldKey(secret, ...columns.map(utf8))));
  return {
    of(key) {
      rankState.set(seed);
      for (const part of key) {
        const length = writeUtf8(part, rankedPart, 0);
        assert(length >= 0, 'a part of a group has at most 255 bytes');
        foldPart(rankState, rankedPart, length);
      }
      return rankOfState();
    },
    ofText({ bytes, starts }, place) {
      rankState.set(seed);
      const start = starts[place]!;
      foldPart(rankState, bytes, bytes[start]!, start + 1);
      return rankOfState();
    },
  };
}

function rankOfState(): number {
  return (swapped(rankState[4]!) * 2 ** 21 + (swapped(rankState[5]!) >>> 11)) / 2 ** 53;
}

/** Memory in which ranks are computed, one after the other. */
const rankState = new Uint32Array(16);
const rankedPart = new Uint8Array(255);

/** A number of 32 bits with its bytes in the other order. */
function swapped(word: number): number {
  return (word << 24 | (word & 0xff00) << 8 | (word >>> 8 & 0xff00) | word >>> 24) >>> 0;
}

/**
 * The keys of one contributor that count: those with the smallest ranks, at most `groupsMax`, and
 * what each holds.
 *
 * Claim: after any rows it holds exactly the keys with the smallest ranks among all keys seen, and
 * for each of them what all of its rows gave. So the result does not depend on the order of the
 * rows, on how they were cut into batches, or on anybody else. Memory: groupsMax keys.
 * Proof: let r be the largest rank held once groupsMax keys are held. A key leaves only for one
 * with a smaller rank, so r only falls. A key that left or was refused has a rank above r, then and
 * later. So it never comes back. A key that is held at the end was therefore taken at its first
 * row, and it never left.
 * Ranks are computed only when there are more than groupsMax keys.
 * The first key is held without a map, so that a million people with one key each are small.
 */
export class KeptKeys<Held, Key extends number | string = number> {
  /** Null: no key is held here. */
  #key: Key | null = null;
  #held: Held | null = null;
  #rank = unranked;
  #others: OtherKeys<Held, Key> | null = null;

  constructor(private readonly groupsMax: number) {}

  get size(): number {
    return Number(this.#key !== null) + (this.#others?.keys.size ?? 0);
  }

  /** True if there were more than groupsMax keys, so that some do not count. */
  get isCut(): boolean {
    return this.#others?.isCut === true;
  }

  entries(): readonly (readonly [key: Key, held: Held])[] {
    const others = [...this.#others?.keys ?? []].map(([key, { held }]) => [key, held] as const);
    return this.#key === null ? others : [[this.#key, this.#held!], ...others];
  }

  /**
   * The largest rank of the keys held; a key with a larger one does not count. Infinity until there
   * are more than groupsMax keys, since ranks are not needed before.
   */
  largestRank(rankOf: (key: Key) => number): number {
    if (!this.isCut) return Infinity;
    return (this.#others!.last ??= this.#largest(rankOf)).rank;
  }

  /**
   * The content of this key; undefined if the key does not count.
   * @param key - its place in a public list, or the key as one text.
   * @param rankOf - the rank of a key. Equal ranks go by key.
   */
  at(key: Key, rankOf: (key: Key) => number, empty: () => Held): Held | undefined {
    if (this.#key === key) return this.#held!;
    const found = this.#others?.keys.get(key);
    if (found !== undefined) return found.held;
    let rank = unranked;
    if (this.size >= this.groupsMax) {
      rank = rankOf(key);
      this.#others ??= { keys: new Map(), last: null, isCut: true };
      this.#others.isCut = true;
      const last = this.#others.last ??= this.#largest(rankOf);
      if (rank > last.rank || (rank === last.rank && key > last.key)) return undefined;
      if (this.#key === last.key) this.#key = null;
      else this.#others.keys.delete(last.key);
    }
    const held = empty();
    this.#put(key, held, rank);
    return held;
  }

  #put(key: Key, held: Held, rank: number): void {
    if (this.#key === null) {
      [this.#key, this.#held, this.#rank] = [key, held, rank];
    } else {
      this.#others ??= { keys: new Map(), last: null, isCut: false };
      this.#others.keys.set(key, { held, rank });
    }
    if (this.#others !== null) this.#others.last = null;
  }

  /** The key with the largest rank. Computes the ranks that are not known yet. */
  #largest(rankOf: (key: Key) => number): RankedKey<Key> {
    let last: RankedKey<Key> | null = null;
    const visit = (key: Key, rank: number): void => {
      if (last === null || rank > last.rank || (rank === last.rank && key > last.key)) {
        last = { key, rank };
      }
    };
    if (this.#key !== null) {
      if (this.#rank === unranked) this.#rank = rankOf(this.#key);
      visit(this.#key, this.#rank);
    }
    for (const [key, kept] of this.#others!.keys) {
      if (kept.rank === unranked) kept.rank = rankOf(key);
      visit(key, kept.rank);
    }
    return last!;
  }
}

/** The rank of a key whose rank was not needed yet. */
const unranked = -1;

interface RankedKey<Key> {
  readonly key: Key;
  readonly rank: number;
}

/** The keys that a contributor holds besides its first one. */
interface OtherKeys<Held, Key> {
  readonly keys: Map<Key, { readonly held: Held; rank: number }>;
  /** The one with the largest rank of all keys that are held. Null: not known. */
  last: RankedKey<Key> | null;
  /** True if another key came once groupsMax keys were held. */
  isCut: boolean;
}
