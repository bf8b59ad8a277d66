import type { Released, Sensitive } from '../../base/brands.js';
import type { CellPlaces } from '../../numerics/kernels/column-counts.js';
import { columnCellsOfRows, type KernelRunner } from '../../numerics/kernels/shards.js';
import { countGrid, gaussianEvent } from '../accounting/calibration.js';
import type { ExponentialEvent, GaussianEvent } from '../accounting/events.js';
import { shareOf } from '../accounting/target.js';
import type { Mechanisms } from '../mechanisms/contract.js';
import { binSpreads, medianEvent, privateMediansOn, type Centre } from './centre.js';
import type { RowBlock } from './rows.js';

/**
 * A private centre inside public bounds: per column the fullest public cell, then the private
 * median in a window about it (stages/centre).
 *
 * Claim: rho zCDP, no delta, for one row replaced by anything, including nothing, or added.
 * - The cells are public, and all their counts get noise. In each column a row is in one cell at
 *   most, by a function of this row and of public numbers. One row replaced by another lowers one
 *   count and raises one, in each of d columns, so the counts move by at most sqrt(2 d) in L2.
 * - The fullest cell is a function of the noisy counts. Which cells are shown or chosen needs no
 *   threshold, since a cell is there whether it holds rows or not. So there is no delta.
 * - The windows are functions of the cells: the median's claim holds, and the two add up.
 * Source: the range step of Karwa and Vadhan 2018 for known bounds.
 */

/** The cells of public bounds: the same number in each column. In spreads. */
export interface RangeCells {
  /** Where each column begins. */
  readonly lows: Float64Array;
  readonly highs: Float64Array;
  /** Cells of one column. Each is `binSpreads` wide; those past the end of a range stay empty. */
  readonly cells: number;
}

/** Noisy counts at most: more would take seconds to draw. */
const countsMost = 2 ** 17;

/** The most spreads that a range of so many columns may span. */
export function widestRange(dimension: number): number {
  return binSpreads * Math.floor(countsMost / dimension);
}

/** @param range - public bounds in data units. @param spread - public. */
export function rangeCells(
  { low, high }: { readonly low: Float64Array; readonly high: Float64Array }, spread: Float64Array,
): RangeCells {
  const lows = low.map((end, j) => end / spread[j]!);
  const highs = high.map((end, j) => end / spread[j]!);
  const spans = highs.map((end, j) => end - lows[j]!);
  return { lows, highs, cells: Math.max(1, Math.ceil(Math.max(...spans) / binSpreads)) };
}

/** `counts` is null where one cell holds all: the median then gets all of rho. */
export interface RangeCentreEvents {
  readonly counts: GaussianEvent | null;
  readonly median: ExponentialEvent;
}

/** Calibrates the draws of a centre inside bounds. Their cost is within rho. */
export function rangeCentreEvents(options: {
  readonly cohort: string; readonly rho: number; readonly cells: RangeCells;
}): RangeCentreEvents {
  const { cohort, rho, cells: { lows: { length: dimension }, cells } } = options;
  if (cells === 1) return { counts: null, median: medianEvent({ cohort, dimension, rho }) };
  const half = shareOf(rho, 0.5);
  return {
    counts: gaussianEvent({
      name: 'centre/cells', cohort, dimension: dimension * cells, rho: half,
      sensitivity: Math.sqrt(2 * dimension) * (1 + 2 ** -50),
      grid: countGrid(Math.sqrt(dimension / half)),
    }),
    median: medianEvent({ cohort, dimension, rho: half }),
  };
}

/**
 * Draws the centre with the events of `rangeCentreEvents`. O(count * dimension), plus noise for
 * every cell.
 * @param spread - data units in one unit of the cells, per column. The rows are in data units.
 */
export async function privateCentreInRange(
  runner: KernelRunner, mechanisms: Mechanisms, rows: Sensitive<RowBlock>, spread: Float64Array,
  cells: RangeCells, { counts: event }: RangeCentreEvents,
): Promise<Released<Centre>> {
  const chosen = event === null ? spread.map(() => 0)
    : fullestCells(mechanisms.gaussian(event.name, await rows.mapAsync(async (block) =>
      publicCounts(await columnCellsOfRows(runner, block, placesOf(cells, spread)), cells))).value,
    cells.cells);
  const middles = spread.map((unit, j) => unit * middleOf(cells, j, chosen[j]!));
  return privateMediansOn(runner, mechanisms, rows, spread, middles);
}

/** Where the kernel counts. @param spread - data units in one unit of the cells, per column. */
export function placesOf({ lows, cells }: RangeCells, spread: Float64Array): CellPlaces {
  return {
    cells,
    lows: lows.map((low, j) => low * spread[j]!),
    rates: spread.map((unit) => 1 / (binSpreads * unit)),
  };
}

/**
 * Counts of the cells of each column, with the rows beyond either end in the cell at this end.
 * @param all - as the kernel counts them in `placesOf`.
 */
export function publicCounts(all: Float64Array, { lows, cells }: RangeCells): Float64Array {
  const result = new Float64Array(lows.length * cells);
  for (let j = 0; j < lows.length; j++) {
    const own = all.subarray(j * (cells + 2), (j + 1) * (cells + 2));
    result.set(own.subarray(1, cells + 1), j * cells);
    result[j * cells]! += own[0]!;
    result[(j + 1) * cells - 1]! += own[cells + 1]!;
  }
  return result;
}

/**
 * Per column the fuller cell of the two neighbours that hold most: rows that lie across an edge
 * stand out as well as others. A function of released counts.
 */
export function fullestCells(counts: Float64Array, cells: number): Float64Array {
  return Float64Array.from({ length: counts.length / cells }, (_, j) => {
    const own = counts.subarray(j * cells, (j + 1) * cells);
    let best = 0;
    for (let k = 1; k + 1 < cells; k++) {
      if (own[k]! + own[k + 1]! > own[best]! + own[best + 1]!) best = k;
    }
    return own[best + 1]! > own[best]! ? best + 1 : best;
  });
}

/** The middle of a cell, or of the part of it that is inside the range. In spreads. */
function middleOf({ lows, highs }: RangeCells, j: number, cell: number): number {
  const from = lows[j]! + cell * binSpreads;
  return Math.min((from + Math.min(from + binSpreads, highs[j]!)) / 2, highs[j]!);
}
