import { pictureOf } from './answer.js';
import { spoken } from './format.js';
import { keyName } from './keys.js';
import { labelsOf, type Asked, type ValueOutcome } from './model.js';
import {
  columnName, plainWords, varianceWords, wordsOf, type NumberWords,
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
    const { rows, numbers } = picture;
    return rows.flatMap((row, key) => wordsOfAll(asked, numbers.length).map((words, i) => ({
      ...words, place: key * numbers.length + i,
      name: numbers.length === 1 ? keyName(row) : `${keyName(row)}: ${words.name}`,
    })));
  }
  if (picture?.kind === 'choice') {
    return [{ ...plainWords('best fit'), texts: picture.names, place: 0 }];
  }
  const all = wordsOfAll(asked, outcome.estimate.length)
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

/** The words for each number, in the order of the estimate. */
export function wordsOfAll(asked: Asked, size: number): readonly NumberWords[] {
  const { columns, estimator } = asked;
  return labelsOf(asked, size).map((label, place) => {
    const mean = /^mean (.+)$/.exec(label)?.[1];
    if (estimator === 'gaussian' && mean !== undefined && mean === columns[place]) {
      return { ...wordsOf(asked, label, place), name: `mean ${columnName(asked, place)}` };
    }
    return wordsOf(asked, label, size === columns.length ? place : columnIn(asked, label));
  });
}

/** The only column that an answer of one number is about; null if the label is no column. */
function columnIn({ columns }: Asked, label: string): number | null {
  const place = columns.findIndex((name) => name === label || spoken(name) === label);
  return place < 0 ? null : place;
}
