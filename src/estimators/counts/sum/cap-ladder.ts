import { pow } from '../../../base/elementary.js';
import type { AddWhole } from '../tables/whole-sums.js';
import { boundsOf, stepsOf, stepsPerUnit, type Bounds } from './bounds.js';
import type { ClippedSums } from './totals.js';

/** How many caps are tried. The smallest is the largest / 2^31.5. */
export const capsTried = 64;
/** Per column: rows in each cell, rows above all caps, negative rows, then sums of rows by cap. */
const aboveAt = capsTried;
const negativeAt = capsTried + 1;
const sumsAt = capsTried + 2;
/** How many whole numbers are added up for one column. */
export const ladderEntries = sumsAt + capsTried;

/** The caps of one column, smallest first: capMax / 2^(i/2). Public. */
export type CapLadder = readonly Bounds[];

export function capLadder(capMax: number): CapLadder {
  return Array.from({ length: capsTried }, (_, i) =>
    boundsOf(0, capMax * pow(2, (i + 1 - capsTried) / 2)));
}

/**
 * Adds a row to the sums of every cap. A row is in exactly one cell: the one of the lowest cap that
 * it does not exceed, or above all caps. To the sum of a lower cap it adds the whole cap, as
 * `stepsOf` says; `sumsUnder` adds that from the numbers of rows. Cost: O(columns * caps).
 */
export function ladderAdder(ladders: readonly CapLadder[]): AddWhole {
  return (row, all) => {
    for (let j = 0; j < ladders.length; j++) {
      const ladder = ladders[j]!;
      const from = j * ladderEntries;
      const value = row[j]!;
      let cell = aboveAt;
      while (cell > 0 && value <= ladder[cell - 1]!.high) cell -= 1;
      all[from + cell]! += 1;
      if (value < 0) all[from + negativeAt]! += 1;
      if (value <= 0) continue;
      for (let i = cell; i < capsTried; i++) {
        all[from + sumsAt + i]! += stepsOf(value, ladder[i]!);
      }
    }
  };
}

/** The entries of one column. */
export function columnEntries(all: Float64Array, column: number): Float64Array {
  return all.subarray(column * ladderEntries, (column + 1) * ladderEntries);
}

/** The aim of the choice of a cap: public whole numbers of rows. */
export interface CapAim {
  /** About this many rows exceed the cap. */
  readonly rank: number;
  /** A step to a higher cap must leave this many fewer rows above it. */
  readonly lean: number;
}

/**
 * The score of every cap. Let A(i) be the number of rows above cap i, and A(-1) that of all rows.
 * Cap i scores -max(0, rank - A(i - 1), A(i) - rank) - lean i. The first term is 0 where the row of
 * this rank from the top is in the cell of cap i.
 *
 * Claim: a score moves by at most 1 when one row is replaced by anything, or goes, or comes.
 * Why: each A(i) moves by at most 1, so each term of the maximum does, and so does the maximum.
 * The last term is public. All are whole numbers, so they are exact.
 */
export function capScores(entries: Float64Array, { rank, lean }: CapAim): Float64Array {
  const scores = new Float64Array(capsTried);
  let above = entries[aboveAt]!;
  for (let i = capsTried - 1; i >= 0; i--) {
    const aboveLower = above + entries[i]!;
    scores[i] = 0 - Math.max(0, rank - aboveLower, above - rank) - lean * i;
    above = aboveLower;
  }
  return scores;
}

/** The exact total under each column's cap, and how many rows are below 0 and above the cap. */
export function sumsUnder(all: Float64Array, caps: readonly number[]): ClippedSums {
  const columns = caps.map((cap, j) => {
    const entries = columnEntries(all, j);
    let above = 0;
    for (let i = cap + 1; i <= aboveAt; i++) above += entries[i]!;
    return {
      sum: entries[sumsAt + cap]! + above * stepsPerUnit,
      outside: [entries[negativeAt]!, above],
    };
  });
  return {
    sums: Float64Array.from(columns, ({ sum }) => sum),
    outside: Float64Array.from(columns.flatMap(({ outside }) => outside)),
  };
}
