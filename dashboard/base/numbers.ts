import { pictureOf } from './answer.js';
import { labelsOf, type StudyEntry, type ValueOutcome } from './model.js';

/** One number of an estimate, and its name. */
export interface NamedNumber {
  readonly place: number;
  readonly name: string;
}

/**
 * The numbers of an estimate, most useful first. For a matrix: the mean in front of it, then its
 * diagonal, then each pair of columns once. Otherwise in their own order.
 */
export function numbersOf(entry: StudyEntry, outcome: ValueOutcome): readonly NamedNumber[] {
  const labels = labelsOf(entry, outcome.estimate.length);
  const all = labels.map((name, place) => ({ place, name }));
  const { picture } = pictureOf(entry, outcome);
  if (picture?.kind !== 'matrix') return all;
  const { size, offset, isCovariance } = picture;
  const { columns } = entry.document;
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
