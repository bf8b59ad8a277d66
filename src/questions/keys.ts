import { utf8 } from '../base/bytes.js';
import { InvalidParameterError } from '../base/errors.js';
import { publicKeys } from '../base/public-keys.js';
import { publicParts } from '../base/question-rules.js';
import { questionLimits, type GroupBy } from '../base/questions.js';
import { foldKey } from '../random/chacha20.js';
import { columnOf, textAt, type Column, type SentRows, type StudyColumns } from './columns.js';

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
  return by.keys === undefined ? combinations(names, columns) : listed(names, columns);
}

/** All combinations of the columns' public values, with the last column changing fastest. */
function combinations(names: KeyList['names'], columns: readonly Column[]): KeyList {
  const digits = columns.map(({ place, type }) => ({
    place,
    /** The number that stands for the first public value; the others follow it. */
    first: type.type === 'integer' ? type.low! : 0,
    count: publicParts(type)!.length,
  }));
  return {
    names,
    placeOf({ values }, start) {
      let key = 0;
      for (const { place, first, count } of digits) {
        const at = values[start + place]! - first;
        if (!(at >= 0 && at < count)) return -1;
        key = key * count + at;
      }
      return key;
    },
  };
}

function noList({ columns: names, discover }: GroupBy, columns: readonly Column[]): Error {
  if (discover !== undefined) return new InvalidParameterError('the keys of by are not listed');
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
    ? `column ${name} is a text: give discover, or a list in keys`
    : `column ${name} has no public list of values: by takes a category, a boolean, a text, `
      + `or an integer with low and high and at most ${questionLimits.integerValues} values`);
}

/** A given list. The parts of its keys are compared as text. */
function listed(keys: readonly (readonly string[])[], columns: readonly Column[]): KeyList {
  if (keys.length > questionLimits.keys) {
    throw new InvalidParameterError(
      `the list has ${keys.length} keys, and ${questionLimits.keys} are the most`,
    );
  }
  const places = new Map(keys.map((key, place) => [JSON.stringify(key), place]));
  return {
    names: keys,
    placeOf(sent, start) {
      const key: string[] = [];
      for (const column of columns) {
        const part = partOf(column, sent, start);
        if (part === undefined) return -1;
        key.push(part);
      }
      return places.get(JSON.stringify(key)) ?? -1;
    },
  };
}

/**
 * The key of a row as one text, of keys that nobody listed; null where a cell is absent or outside
 * the range of its column. Equal keys give equal texts.
 */
export type KeyReader = (sent: SentRows, start: number) => string | null;

/** @throws InvalidParameterError for a column that is not there, or a number without a range. */
export function keyReaderOf(by: GroupBy, study: StudyColumns): KeyReader {
  const columns = partsOfBy(by, study);
  return (sent, start) => {
    const key: string[] = [];
    for (const { place, first, parts } of columns) {
      const cell = sent.values[start + place]!;
      if (Number.isNaN(cell)) return null;
      const part = parts === null ? textAt(sent.texts![place]!, cell) : parts[cell - first];
      if (part === undefined) return null;
      key.push(part);
    }
    return JSON.stringify(key);
  };
}

/** The parts of a key that a KeyReader read. */
export function partsOfKey(key: string): readonly string[] {
  return JSON.parse(key) as readonly string[];
}

/**
 * The most bytes that a key of these columns takes in a table: the UTF-8 of each part, and a byte
 * with its length. It depends on the columns' types alone.
 * @throws InvalidParameterError as `keyReaderOf`.
 */
export function keyBytesMax(by: GroupBy, study: StudyColumns): number {
  return partsOfBy(by, study).reduce((sum, { type, parts }) => sum + 1
    + (type.type === 'text' ? type.bytes : Math.max(...parts!.map((part) => utf8(part).length))), 0);
}

/** The columns of `by`. `parts[i]` is the text of the number `first + i`; null: texts. */
function partsOfBy(by: GroupBy, study: StudyColumns): readonly (Column & {
  readonly first: number; readonly parts: readonly string[] | null;
})[] {
  return by.columns.map((name) => {
    const column = columnOf(study, name);
    const { type } = column;
    const parts = column.isText ? null : publicParts(type);
    if (parts === null && !column.isText) throw noValues(column, name);
    return { ...column, parts, first: type.type === 'integer' ? type.low! : 0 };
  });
}

/** The text of a cell in a key; undefined for an absent cell. */
function partOf({ place, names, isText }: Column, sent: SentRows, start: number):
string | undefined {
  const cell = sent.values[start + place]!;
  if (Number.isNaN(cell)) return undefined;
  if (isText) return textAt(sent.texts![place]!, cell);
  return names === null ? String(cell) : names[cell];
}

/** Ranks keys for one contributor. */
export type KeyRanks = (key: readonly string[]) => number;

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
  const seed = foldKey(secret, ...columns.map(utf8));
  return (key) => {
    const rank = foldKey(seed, ...key.map(utf8));
    const view = new DataView(rank.buffer, rank.byteOffset, 8);
    return (view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)) / 2 ** 53;
  };
}

/**
 * The keys of one contributor that count: those with the smallest ranks, at most `keysMax`, and
 * what each holds.
 *
 * Claim: after any rows it holds exactly the keys with the smallest ranks among all keys seen, and
 * for each of them what all of its rows gave. So the result does not depend on the order of the
 * rows, on how they were cut into batches, or on anybody else. Memory: keysMax keys.
 * Proof: let r be the largest rank held once keysMax keys are held. A key leaves only for one with
 * a smaller rank, so r only falls. A key that left, or was not taken, has a rank above r at that
 * time and at every later time, so it never comes back. Hence a key that is held at the end was
 * taken at its first row and never left.
 * Ranks are computed only when there are more than keysMax keys.
 */
export class KeptKeys<Held, Key extends number | string = number> {
  readonly #held = new Map<Key, { readonly held: Held; rank: number }>();

  constructor(private readonly keysMax: number) {}

  get size(): number {
    return this.#held.size;
  }

  entries(): readonly (readonly [key: Key, held: Held])[] {
    return [...this.#held].map(([key, { held }]) => [key, held]);
  }

  /**
   * What this key holds; undefined if the key does not count.
   * @param key - its place in a public list, or the key as one text.
   * @param rankOf - the rank of a key. Equal ranks go by key.
   */
  at(key: Key, rankOf: (key: Key) => number, empty: () => Held): Held | undefined {
    const found = this.#held.get(key);
    if (found !== undefined) return found.held;
    let rank = NaN;
    if (this.#held.size >= this.keysMax) {
      for (const [other, entry] of this.#held) {
        if (Number.isNaN(entry.rank)) entry.rank = rankOf(other);
      }
      rank = rankOf(key);
      const last = this.#last();
      const largest = this.#held.get(last)!.rank;
      if (rank > largest || (rank === largest && key > last)) return undefined;
      this.#held.delete(last);
    }
    const held = empty();
    this.#held.set(key, { held, rank });
    return held;
  }

  /** The key with the largest rank. */
  #last(): Key {
    const [last] = [...this.#held].reduce((most, each) => {
      const gap = each[1].rank - most[1].rank;
      return gap > 0 || (gap === 0 && each[0] > most[0]) ? each : most;
    });
    return last;
  }
}
