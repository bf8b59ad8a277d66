import { pictureOf } from './answer.js';
import { keyName } from './keys.js';
import type { Asked, ValueOutcome } from './model.js';
import {
  columnName, plainWords, varianceWords, wordsOfAll, type NumberWords,
} from './number-words.js';

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
    return [{ ...plainWords('best fit'), texts: picture.names, place: 0 }];
  }
  const all = wordsOfAll(asked, outcome.estimate.length, outcome.parts)
    .map((words, place) => ({ ...words, place }));
  if (picture?.kind !== 'matrix') return all;
  const { size, offset, isCovariance } = picture;
  const columns = asked.columns.map((_, column) => columnName(asked, column));
  const named = (i: number, j: number): NamedNumber => {
    const place = offset + i * size + j;
    const [one, both] = isCovariance ? ['variance of', 'covariance of'] : ['share of', 'shared by'];
    return i === j ? { ...varianceWords(`${one} ${columns[i]!}`), place }
      : { ...plainWords(`${both} ${columns[i]!} and ${columns[j]!}`), place };
  };
  const indices = columns.map((_, i) => i);
  const [before, after] = [all.slice(0, offset), all.slice(offset + size * size)];
  const diagonal = indices.map((i) => named(i, i));
  const pairs = indices.flatMap((i) => indices.slice(i + 1).map((j) => named(i, j)));
  return [...before, ...after, ...diagonal, ...pairs];
}
