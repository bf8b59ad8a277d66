import type { StudyFacts } from '../../contract/estimator.js';

/**
 * The keys of a public list, by which an answer is split. A question that is not split has one key,
 * which every row belongs to.
 */
export interface KeyPlaces {
  /** Keys of the list: 1 or more. */
  readonly count: number;
  /** The most keys for which a contributor has a row. */
  readonly groupsMax: number;
  /** Where the columns begin in a row: 1 behind the place of a key, else 0. */
  readonly columnsFrom: 0 | 1;
}

/** The places of a question without keys: a single key. */
export const oneKey: KeyPlaces = { count: 1, groupsMax: 1, columnsFrom: 0 };

/** The public keys of a question. Its estimator was not planned for keys that are discovered. */
export function keyPlacesOf({ keys }: Pick<StudyFacts, 'keys'>): KeyPlaces {
  if (keys?.list !== 'public') return oneKey;
  return { count: keys.count, groupsMax: keys.groupsMax, columnsFrom: 1 };
}

/** The place of a row's key, from 0; null for a row whose place is not on the list. */
export function placeOf(row: ArrayLike<number>, { count, columnsFrom }: KeyPlaces): number | null {
  const place = columnsFrom === 0 ? 0 : row[0]!;
  return Number.isInteger(place) && place >= 0 && place < count ? place + 0 : null;
}

/** How far one key's part of a vector moves, at most, in a norm whose parts add up. */
export interface PartMoves {
  /** When the contributor has the key before and after, with other values. */
  readonly both: number;
  /** When the contributor has the key only before, or only after. */
  readonly one: number;
}

/**
 * How far one contributor moves a vector that has a part for each key.
 *
 * Claim. Let the vector be the sum over contributors of what their rows add, and let a row add to
 * the part of its key only. Measure by a norm whose parts add up: L1, or L2 squared. Neighbours:
 * one contributor's rows, of at most K distinct keys of m, replaced by any such rows or by none.
 * Then the vector moves by at most the maximum over j of j both + p one, with j in 0..min(K, m) and
 * p = min(2 (K - j), m - j).
 * Why: let the contributor have j keys before and after. Each of their parts moves by at most
 * `both`. It has at most K - j further keys before and as many after. These are distinct, and none
 * of them is one of the j, so they are at most p. Each of their parts moves by at most `one`. All
 * other parts stay. Contributors who come or go are the case j = 0 with at most K keys.
 *
 * Nothing is saved because each row is in one key only: which key it is in is secret. With K = 1 a
 * contributor who moves from one key to another changes two parts.
 * Exact for whole numbers below 2^53, else to 2^-51 of itself. Cost: O(min(K, m)).
 */
export function mostMoved({ count, groupsMax }: KeyPlaces, { both, one }: PartMoves): number {
  let most = 0;
  for (let j = 0; j <= Math.min(groupsMax, count); j++) {
    most = Math.max(most, j * both + Math.min(2 * (groupsMax - j), count - j) * one);
  }
  return most;
}

/** A bound above the square root, also above that of a number larger by 2^-51 of itself. */
export function rootAbove(square: number): number {
  return Math.sqrt(square) * (1 + 2 ** -50);
}
