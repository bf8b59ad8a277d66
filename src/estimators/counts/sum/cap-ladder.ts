import { pow } from '../../../base/elementary.js';
import type { AddWhole } from '../tables/whole-sums.js';
import { boundsOf, stepsOf, stepsPerUnit, type Bounds } from './bounds.js';

/** How many caps are tried. The smallest is the largest / 2^31.5. */
export const capsTried = 64;
/** Per column: rows in each cell, rows above all caps, negative rows, then sums of rows by cap. */
export const aboveAt = capsTried;
export const negativeAt = capsTried + 1;
/** Cells of a column. Each row is in one. */
export const ladderCells = capsTried + 2;
const sumsAt = ladderCells;
/** How many whole numbers are added up for one column. */
export const ladderEntries = sumsAt + capsTried;

/** The caps of one column, smallest first: capMax / 2^(i/2). Public. */
export type CapLadder = readonly Bounds[];

export function capLadder(capMax: number): CapLadder {
  return Array.from({ length: capsTried }, (_, i) =>
    boundsOf(0, capMax * pow(2, (i + 1 - capsTried) / 2)));
}

/**
 * Adds a row to the sums of every cap. A row is in exactly one cell: that of negative rows, the one
 * of the lowest cap that it does not exceed, or the one above all caps. To the sum of a lower cap
 * it adds the whole cap, as `stepsOf` says; `sumsUnder` adds that from the numbers of rows. Cost:
 * O(columns * caps).
 */
export function ladderAdder(ladders: readonly CapLadder[]): AddWhole {
  return (row, all) => {
    for (let j = 0; j < ladders.length; j++) {
      const ladder = ladders[j]!;
      const from = j * ladderEntries;
      const value = row[j]!;
      let cell = value < 0 ? negativeAt : aboveAt;
      if (value >= 0) while (cell > 0 && value <= ladder[cell - 1]!.high) cell -= 1;
      all[from + cell]! += 1;
      if (value <= 0) continue;
      for (let i = cell; i < capsTried; i++) {
        all[from + sumsAt + i]! += stepsOf(value, ladder[i]!);
      }
    }
  };
}

/** The numbers of rows in the cells of every column, in turn. */
export function cellsOf(all: Float64Array): Float64Array {
  const columns = all.length / ladderEntries;
  const cells = new Float64Array(columns * ladderCells);
  for (let j = 0; j < columns; j++) {
    cells.set(all.subarray(j * ladderEntries, j * ladderEntries + ladderCells), j * ladderCells);
  }
  return cells;
}

/** The exact total under each column's cap, in steps of the cap. */
export function sumsUnder(all: Float64Array, caps: readonly number[]): Float64Array {
  return Float64Array.from(caps, (cap, j) => {
    const entries = all.subarray(j * ladderEntries, (j + 1) * ladderEntries);
    let above = 0;
    for (let i = cap + 1; i <= aboveAt; i++) above += entries[i]!;
    return entries[sumsAt + cap]! + above * stepsPerUnit;
  });
}
