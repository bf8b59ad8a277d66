import { assert } from '../../base/assert.js';
import { Sealed } from '../../base/brands.js';
import { checkWhole } from '../../base/given.js';
import type { ShareForm } from '../shares/form.js';
import type { RowShare } from '../shares/opening.js';
import { planesOfNumbers, planeWords } from '../steps/planes.js';
import { parts, type Bits, type Numbers } from '../steps/shares.js';

/** How the rows of an epoch lie in lists of shares. Public. */
export interface Layout {
  readonly people: number;
  /** People rounded up to whole words of 32 bits. The places past the last one hold zeros. */
  readonly padded: number;
  /** Words of a plane of one column. */
  readonly words: number;
}

/** Contributors of a sealed epoch, at most: sums of more could leave the numbers. */
export const peopleMax = 2 ** 20;

/** @throws InvalidParameterError unless there are 1 to 2^20 people. */
export function layoutOf(people: number): Layout {
  checkWhole(people, 'the number of contributors of a sealed epoch', 1, peopleMax);
  const words = planeWords(people);
  return { people, padded: 32 * words, words };
}

/** One component of all rows in pairs of words: column after column, each padded. */
function columnsOf(
  rows: readonly RowShare[], side: 'own' | 'next', { count }: ShareForm, { padded }: Layout,
): Uint32Array {
  const numbers = new Uint32Array(2 * count * padded);
  rows.forEach((row, i) => {
    const values = row[side];
    assert(values.length === count, 'a row has the values of its form');
    for (let j = 0; j < count; j++) numbers[2 * (j * padded + i)] = values[j]!;
  });
  return numbers;
}

/**
 * The components of all rows as numbers: column after column, each padded. Components of `numbers`
 * add up to the values modulo 2^bits, not yet modulo p.
 */
export function numbersOfRows(
  rows: readonly Sealed<RowShare>[], form: ShareForm, layout: Layout,
): Numbers {
  return Sealed.all<readonly RowShare[]>(rows).map((shares) => ({
    kind: 'numbers',
    own: columnsOf(shares, 'own', form, layout), next: columnsOf(shares, 'next', form, layout),
  }));
}

/** The planes of rows that are bins, lowest bit first. */
export function planesOfBins(
  rows: readonly Sealed<RowShare>[], form: ShareForm, layout: Layout,
): readonly Bits[] {
  const planes = numbersOfRows(rows, form, layout).map(({ own, next }) => ({
    kind: 'bits' as const,
    own: planesOfNumbers(own, form.bits), next: planesOfNumbers(next, form.bits),
  }));
  return parts(planes, layout.words, form.bits);
}
