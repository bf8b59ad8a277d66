import type { Released } from '../../base/brands.js';
import { quantilesOfRunning } from '../../base/running-counts.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import { reportedFromOf, sides } from '../../estimators/contract/outside.js';
import { cohortName } from '../../estimators/counts/tables/counts.js';
import { normalUpperQuantile } from '../../numerics/normal.js';
import { countGrid, gaussianEvent } from '../../privacy/accounting/calibration.js';
import type { GaussianEvent } from '../../privacy/accounting/events.js';
import { published } from '../../privacy/mechanisms/sealed-noise.js';
import { gridRange, valueOfStep, type ColumnGrid } from '../shares/column-grid.js';
import type { ShareForm } from '../shares/form.js';
import { differenceOf, part, type Bits, type Numbers } from '../steps/shares.js';
import {
  coarseCounts, columnBins, everybody, fineCounts, lifted, perColumn, type BinRange, type Lifted,
} from './columns.js';
import type { BeyondGrid, ProgramRun } from './contract.js';
import { numbersOfRows, type Layout } from './rows.js';

/**
 * The centre of rows that no server sees: per column the median of a noisy histogram of 64 bins of
 * a quarter of a spread, about the fullest of 64 bins of the range.
 *
 * Claim. The two events' cost, and no delta.
 * Neighbours. One contributor's row replaced by any other row.
 * Why. A row is in one bin of each of d columns, so one row replaced moves the counts by at most
 * sqrt(2 d) in L2, and one replaced by none by sqrt(d). All bins have noise. The fine bins begin at
 * a function of the coarse noisy counts, and the centre is a function of the fine ones. How many
 * people are beyond the grid is read from the coarse noisy counts: its first and its last bin have
 * nobody else.
 */
export interface CentreEvents {
  readonly coarse: GaussianEvent;
  readonly fine: GaussianEvent;
}

/** @param rho - of both histograms together. */
export function centreEvents(dimension: number, rho: number): CentreEvents {
  // sqrt(2 d), rounded up.
  const sensitivity = Math.sqrt(2 * dimension) * (1 + 2 ** -50);
  const histogram = (name: string): GaussianEvent => gaussianEvent({
    name, cohort: cohortName, dimension: columnBins * dimension, sensitivity, rho: rho / 2,
    grid: countGrid(sensitivity / Math.sqrt(rho)),
  });
  return { coarse: histogram('centre/coarse'), fine: histogram('centre/fine') };
}

/** Rows about a centre. */
export interface CentredRows {
  /**
   * Rows less the centre, in whole steps: column after column, padded. Null where a column has far
   * too few rows for a centre.
   */
  readonly about: Numbers | null;
  /** The people with a row: shared where the question is partial, else everybody. */
  readonly present: Bits;
  /** In data units. */
  readonly centre: Released<Float64Array>;
  /**
   * Noisy numbers of people below and above the grid of each column, as `countOutside` adds them.
   */
  readonly outside: Released<Float64Array>;
  /** Noisy number of people who have a row, wherever it is. */
  readonly people: Released<number>;
}

/** The events, facts and grid with which the centre is found. */
export interface CentreDesign extends CentreEvents {
  readonly facts: StudyFacts;
  readonly grid: ColumnGrid;
  /** The entries that contributors share, with one past the columns where they may have no row. */
  readonly form: ShareForm;
}

/**
 * The rows as numbers, and who has one: the highest bit of the entry past the columns says so. The
 * places past the last contributor hold zeros, so nobody is there.
 */
async function rowsOf(
  { party, rows }: ProgramRun, { facts: { dimension }, form }: CentreDesign, layout: Layout,
): Promise<Lifted & { readonly present: Bits }> {
  const { padded, words } = layout;
  const all = await lifted(
    party, numbersOfRows(rows, form, layout), form.bits, form.count * padded,
  );
  if (form.count === dimension) return { ...all, present: everybody(party, layout) };
  return {
    numbers: part(all.numbers, 0, 2 * dimension * padded),
    topBits: all.topBits.map((plane) => part(plane, 0, dimension * words)),
    present: part(all.topBits.at(-1)!, dimension * words, form.count * words),
  };
}

/** Releases the centre, and moves the rows. */
export async function releaseCentre(
  run: ProgramRun, design: CentreDesign, layout: Layout,
): Promise<CentredRows> {
  const { party, mechanisms } = run;
  const { facts: { dimension, cohort }, grid, ...events } = design;
  const { numbers, topBits, present } = await rowsOf(run, design, layout);
  const counts = await coarseCounts(party, topBits, present, dimension, layout);
  const coarse = await mechanisms.open(events.coarse.name, counts, 1);
  const starts = startsOf(coarse.value, grid);
  const finer = await fineCounts(
    party, differenceOf(numbers, perColumn(party, starts, layout)), present, dimension, layout,
    fineRange(grid),
  );
  const fine = await mechanisms.open(events.fine.name, finer, 1);
  const steps = medians(fine.value, starts, grid, cohort);
  return {
    present,
    about: steps === null ? null : differenceOf(numbers, perColumn(party, steps, layout)),
    centre: fine.map(() => grid.lows.map((_, j) => valueOfStep(steps?.[j] ?? 0, j, grid))),
    outside: coarse.map(outsideOf),
    // Whoever has a row is in one bin of each column.
    people: coarse.map((bins) => bins.reduce((sum, count) => sum + count, 0) / dimension),
  };
}

/** The size of a spread in each column, in data units. */
export function spreadsOf({ steps, spreadBits }: ColumnGrid): Float64Array {
  return steps.map((step) => step * 2 ** spreadBits);
}

/** The fine bins of a column, of a quarter of a spread each. */
export function fineRange({ bits, spreadBits }: ColumnGrid): BinRange {
  return { width: spreadBits - 2, reach: Math.max(bits, spreadBits + 4) + 1 };
}

/**
 * Where the fine bins of each column begin, in steps: 8 spreads before the fullest coarse bin. The
 * people beyond an end of the grid are all in one bin, which counts only if it has most of all.
 */
function startsOf(counts: Float64Array, { bits: width, spreadBits }: ColumnGrid): number[] {
  return binsByColumn(counts).map((column) => {
    const half = column.reduce((sum, count) => sum + count, 0) / 2;
    const fullest = column.reduce((best, count, bin) => {
      const isEnd = bin === 0 || bin === columnBins - 1;
      return count > (isEnd ? Math.max(half, column[best]!) : column[best]!) ? bin : best;
    }, 1);
    return (fullest + 0.5) * 2 ** (width - 6) - 2 ** (spreadBits + 3);
  });
}

/** The noisy counts of the first and the last bin, column by column. */
function outsideOf(counts: Float64Array): Float64Array {
  return Float64Array.from(
    binsByColumn(counts).flatMap((column) => [column[0]!, column[columnBins - 1]!]),
  );
}

/** Where the grid ends, and from which number of people on those beyond it are reported. */
export function beyondGrid({ coarse, grid }: CentreDesign): BeyondGrid {
  const range = gridRange(grid);
  return {
    range,
    reportedFrom: reportedFromOf(sides * range.length, {
      upperQuantile: (probability) => published(coarse).sigma * normalUpperQuantile(probability),
    }),
  };
}

/** Standard deviation of the noisy number of people that the coarse bins add up to. */
export function deviationOfPeople({ coarse, facts: { dimension } }: CentreDesign): number {
  return published(coarse).sigma * Math.sqrt(columnBins / dimension);
}

function binsByColumn(counts: Float64Array): Float64Array[] {
  return Array.from({ length: counts.length / columnBins }, (_, j) =>
    counts.subarray(j * columnBins, (j + 1) * columnBins));
}

/** The noisy medians, in whole steps; null where a column has too few rows for one. */
function medians(
  counts: Float64Array, starts: readonly number[], { spreadBits }: ColumnGrid, cohort: number,
): number[] | null {
  const edges = Array.from({ length: columnBins + 1 }, (_, i) => i * 2 ** (spreadBits - 2));
  const centre: number[] = [];
  for (const [j, column] of binsByColumn(counts).entries()) {
    const below = [0];
    for (const count of column) below.push(below.at(-1)! + count);
    if (below.at(-1)! < cohort / 4) return null;
    const [median] = quantilesOfRunning([...below, below.at(-1)!], edges, [0.5]);
    centre.push(starts[j]! + Math.round(median!));
  }
  return centre;
}
