import { pictureOf } from './answer.js';
import { keyName } from './keys.js';
import type { Asked, ValueOutcome } from './model.js';
import { wordsOfAll, type NumberWords } from './number-words.js';

/** One number of an estimate, and how people read it. */
export interface NamedNumber extends NumberWords {
  readonly place: number;
}

/**
 * The numbers of an estimate, most useful first. For a matrix: the mean in front of it, then its
 * diagonal, then each pair of columns once. Otherwise in their own order. None for discovered keys:
 * each release has others.
 */
export function numbersOf(asked: Asked, outcome: ValueOutcome): readonly NamedNumber[] {
  if (asked.by?.discover !== undefined) return [];
  const { picture } = pictureOf(asked, outcome);
  if (picture?.kind === 'keyed') {
    const { rows, words } = picture;
    return rows.flatMap((row, key) => words.map((each, i) => ({
      ...each, place: key * words.length + i,
      name: words.length === 1 ? keyName(row) : `${keyName(row)}: ${each.name}`,
    })));
  }
  if (picture?.kind === 'choice') {
    return [{ ...wordsOfAll(asked, outcome)[0]!, texts: picture.names, place: 0 }];
  }
  const all = wordsOfAll(asked, outcome).map((words, place) => ({ ...words, place }));
  if (picture?.kind !== 'matrix') return all;
  const { size, offset } = picture;
  const [before, after] = [all.slice(0, offset), all.slice(offset + size * size)];
  const columns = Array.from({ length: size }, (_, i) => i);
  const at = (i: number, j: number): NamedNumber => all[offset + i * size + j]!;
  const pairs = columns.flatMap((i) => columns.slice(i + 1).map((j) => at(i, j)));
  return [...before, ...after, ...columns.map((i) => at(i, i)), ...pairs];
}
