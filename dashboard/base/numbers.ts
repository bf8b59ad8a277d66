import { pictureOf } from './answer.js';
import { spoken } from './format.js';
import { keyName } from './keys.js';
import { labelsOf, type Asked, type ValueOutcome } from './model.js';

/** One number of an estimate, and its name as people read it. */
export interface NamedNumber {
  readonly place: number;
  readonly name: string;
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
    return rows.flatMap((row, key) => numbers.map((number, i) => ({
      place: key * numbers.length + i,
      name: numbers.length === 1 ? keyName(row) : `${keyName(row)}: ${spoken(number)}`,
    })));
  }
  const all = labelsOf(asked, outcome.estimate.length)
    .map((label, place) => ({ place, name: spoken(label) }));
  if (picture?.kind !== 'matrix') return all;
  const { size, offset, isCovariance } = picture;
  const columns = asked.columns.map(spoken);
  const named = (i: number, j: number): NamedNumber => {
    const place = offset + i * size + j;
    const [one, both] = isCovariance ? ['variance of', 'covariance of'] : ['share of', 'shared by'];
    return {
      place, name: i === j ? `${one} ${columns[i]!}` : `${both} ${columns[i]!} and ${columns[j]!}`,
    };
  };
  const indices = columns.map((_, i) => i);
  const [before, after] = [all.slice(0, offset), all.slice(offset + size * size)];
  const diagonal = indices.map((i) => named(i, i));
  const pairs = indices.flatMap((i) => indices.slice(i + 1).map((j) => named(i, j)));
  return [...before, ...after, ...diagonal, ...pairs];
}
