import type { ValueOutcome } from '../../client/index.js';
import { type KeyDoubt, keyDoubts, quotedText } from '../../client/words.js';
import { intervalOf, numberAt } from '../../src/answers/intervals.js';
import type { Asked } from './model.js';
import { wordsOfAll, type NumberWords } from './number-words.js';

/** The answer of each key. */
export interface KeyedPicture {
  readonly kind: 'keyed';
  readonly rows: readonly KeyRow[];
  /** The numbers that each key has; empty for an answer of keys alone. */
  readonly words: readonly NumberWords[];
  /** Names of the columns that the answer is split by. */
  readonly by: readonly string[];
}

/** One key with its numbers. */
export interface KeyRow {
  /** A part for each column, as a page may show it. */
  readonly parts: readonly string[];
  /** Null for a key without an answer. */
  readonly values: readonly (number | null)[];
  readonly intervals: readonly (readonly [number, number] | null)[];
  /** The reason why a reader may mistake the key for another one; null if there is none. */
  readonly doubt: KeyDoubt | null;
}

/** Orders in which keys can be shown. */
export const keyOrders = ['listed', 'size', 'name'] as const;
/** An order in which keys can be shown. */
export type KeyOrder = (typeof keyOrders)[number];

/** The keys of a split answer and their numbers; null for an answer that is not split. */
export function keyedOf(asked: Asked, outcome: ValueOutcome): KeyedPicture | null {
  const { groups, estimate } = outcome;
  if (groups === undefined) return null;
  const size = groups.length === 0 ? 1 : estimate.length / groups.length;
  const words = size === 0 ? [] : wordsOfAll(asked, outcome);
  const doubts = keyDoubts(groups);
  const rows = groups.map((key, row): KeyRow => {
    const places = words.map((_, i) => row * size + i);
    return {
      parts: key.map(shownKey),
      values: places.map((place) => numberAt(outcome, place)),
      intervals: places.map((place) => intervalOf(outcome, place)),
      doubt: doubts[row]!,
    };
  });
  return { kind: 'keyed', rows, words, by: asked.by?.columns ?? [] };
}

/** A part of a key as it is; in quotes, with escapes, if it holds anything that cannot be seen. */
function shownKey(part: string): string {
  const quoted = quotedText(part);
  return quoted === `"${part}"` ? part : quoted;
}

/** The parts of a key in one line of text. */
export function keyName({ parts }: Pick<KeyRow, 'parts'>): string {
  return parts.join(', ');
}

const collator = new Intl.Collator('en-GB', { numeric: true });
const searched = (text: string): string => text.normalize('NFKC').toLowerCase();

/**
 * The rows whose key holds `filter`, in the wanted order. Sizes are those of the number at `place`,
 * the largest first; keys without an answer are last.
 */
export function arranged(
  rows: readonly KeyRow[], order: KeyOrder, filter: string, place: number,
): readonly KeyRow[] {
  const wanted = searched(filter.trim());
  const found = rows.filter((row) => searched(keyName(row)).includes(wanted));
  if (order === 'listed') return found;
  if (order === 'name') {
    return found.sort((one, two) => collator.compare(keyName(one), keyName(two)));
  }
  const sizeOf = ({ values }: KeyRow): number => values[place] ?? -Infinity;
  return found.sort((one, two) => (sizeOf(two) > sizeOf(one) ? 1 : -1));
}
