import type { Released, Sensitive } from '../../base/brands.js';
import { doublingOf, doublings, zeroBin } from '../../numerics/kernels/column-counts.js';
import { countGrid, gaussianEvent, gaussianHistogramEvent } from '../accounting/calibration.js';
import type { GaussianEvent, GaussianHistogramEvent } from '../accounting/events.js';
import type { KeptBin, Mechanisms } from '../mechanisms/contract.js';
import type { RowBlock } from './rows.js';
import { spreadAbout } from './spread-of-bins.js';
import { binsThatStandOut } from './stretches.js';

/**
 * Spreads of columns in which nearly all rows have one value, so that pairs do not tell them: the
 * commonest value, then how far from it the other rows are.
 *
 * Claim: (rho, delta), delta-approximate zCDP, for one row replaced by anything, or by nothing, or
 * added. The columns that are asked about are public or released.
 * - `<name>/value` is a stable histogram of exact values. In each column a row is in one bin at
 *   most, that of its own entry. A changed row leaves one bin and enters one: mechanisms/histogram,
 *   claim (b), which holds for any set of bins. Columns that are not asked about have no bins.
 * - `<name>/octaves` counts, in each column asked about, the rows by the doubling of their distance
 *   from the released value. The bins are fixed before: `doublings` for each column. A row adds the
 *   same weight w to one bin of each column in which it differs, and nothing elsewhere. With k such
 *   columns of f, k w^2 <= M for M = min(d, 2): w is sqrt(M / max(k, min(f, M))), rounded down to
 *   the grid. So what a row adds is a vector of norm at most sqrt(M), and without a negative entry.
 *   Two of these differ by at most sqrt(2 M), since their product is not negative: the sensitivity,
 *   whatever f is. f is a function of released numbers. Sums of weights are on the grid. Every bin
 *   gets noise, also an empty one, so no delta is needed.
 * - The value is released when the distances are counted, so the two compose adaptively. Both are
 *   charged, drawn or not. What is answered is a function of released numbers.
 *
 * Accuracy. A value is kept when `keepingCount` of its event have it, which is far below the third
 * of the rows that a column must have at one value for its pairs to show nothing else. A doubling,
 * or up to eight together, are kept when they hold more than the noise reaches in any of
 * f * doublings bins. For one doubling at epsilon 1, delta 1e-6 and the shares of
 * pooled/spread-choice that is 152 rows, 107 when one column is asked about, whatever the number of
 * rows and columns is. With k > 2 a row counts less, by sqrt(2 / k). That is rare where columns are
 * independent. Where the same rows differ in k columns, 152 sqrt(k / 2) of them are seen, and the
 * spread is too small by the factor (2 / k)^(1/4): .84 for four columns, .67 for ten.
 * Source: the stable histogram of Karwa and Vadhan 2018, here for values.
 */

/** Where the noise is charged. */
export interface AtomOptions {
  readonly cohort: string;
  readonly dimension: number;
  /** zCDP of the value, and of the octaves. */
  readonly rho: { readonly value: number; readonly octaves: number };
  /** Delta of the value. */
  readonly delta: number;
  /** Prefix of the events' names; default "spread". */
  readonly name?: string;
}

export interface AtomEvents {
  readonly value: GaussianHistogramEvent;
  readonly octaves: GaussianEvent;
}

/**
 * A row that differs in this many columns has full weight in each. With more there would be more
 * noise. With one, rows that differ in two would count less.
 */
const fullColumns = 2;
/** Weights are whole multiples of this. */
const weightStep = 2 ** -10;

/** The largest squared norm of what a row adds to the octaves. */
const squareMaxOf = (dimension: number): number => Math.min(dimension, fullColumns);

/**
 * The weight that a row adds in each column in which it differs, by the number of these columns.
 * Squares add up to at most `squareMaxOf(dimension)`.
 */
function weightsOf(dimension: number, asked: number): Float64Array {
  const most = squareMaxOf(dimension);
  return Float64Array.from({ length: asked + 1 }, (_, columns) => {
    const weight = Math.sqrt(most / Math.max(columns, Math.min(asked, most)));
    return Math.floor(weight / weightStep) * weightStep;
  });
}

/** The two events; their cost is within the sum of `rho`, and delta. */
export function atomEvents(options: AtomOptions): AtomEvents {
  const { cohort, dimension, rho, delta, name = 'spread' } = options;
  const squareMax = squareMaxOf(dimension);
  return {
    value: gaussianHistogramEvent({
      name: `${name}/value`, cohort, coordinates: dimension, rho: rho.value, delta,
    }),
    octaves: gaussianEvent({
      name: `${name}/octaves`, cohort, dimension: dimension * doublings,
      // Rounded up.
      sensitivity: Math.sqrt(2 * squareMax) * (1 + 2 ** -50),
      rho: rho.octaves,
      grid: Math.min(weightStep, countGrid(Math.sqrt(squareMax / rho.octaves))),
    }),
  };
}

/**
 * The facts that are found of a column in which nearly all rows have one value.
 * - `spread`: about the standard deviation. Where the end is not seen, rows too few to be seen may
 *   be so far out that they decide the mean.
 * - `one-value`: the other rows are too few to be seen: fewer than about `unseenBelow` of them in
 *   any one doubling of distance.
 * - `unknown`: no value was common enough.
 */
export type Atom =
  | { readonly kind: 'spread'; readonly spread: number; readonly isEndSeen: boolean }
  | { readonly kind: 'one-value'; readonly value: number; readonly unseenBelow: number }
  | { readonly kind: 'unknown' };

/**
 * Noise alone exceeds 5.3 standard deviations with probability 6e-8. The few rows that carry a
 * deviation may be spread over many doublings: up to eight are looked at together.
 */
const standOut = { apart: 5.3, beside: 2.5, widths: [1, 2, 4, 8] } as const;
/** Rows beyond the threshold are seen unless the noise is this many deviations below 0. */
const surelySeen = 2;

/**
 * Draws both events for the columns in `asked`; at least one.
 * @param corruption - planned share of hostile rows.
 * Complexity: O(rows * asked), and noise for every value that some row has and for all octaves.
 */
export function privateAtoms(
  mechanisms: Mechanisms, rows: Sensitive<RowBlock>, dimension: number, asked: readonly number[],
  { value: valueEvent, octaves }: AtomEvents, corruption: number,
): Released<readonly Atom[]> {
  const common = mechanisms.histogram(valueEvent.name, rows.map((block) =>
    countValues(block, dimension, asked)));
  const values = asked.map((column) => common.value[column]![0]);
  const weights = weightsOf(dimension, asked.length);
  const noisy = mechanisms.gaussian(octaves.name, rows.map((block) =>
    countDoublings(block, dimension, asked, values, weights)));
  /** Weight of a row that differs in this column alone. */
  const unit = weights[1]!;
  return noisy.map((counts) => asked.map((column, i): Atom => {
    const atom = values[i];
    if (atom === undefined) return { kind: 'unknown' };
    const own = counts.subarray(column * doublings, (column + 1) * doublings);
    const seen = binsThatStandOut(own, octaves.sigma, standOut);
    const kept = Array.from(own, (count, at): KeptBin =>
      ({ bin: at + zeroBin, noisyCount: count / unit }))
      .filter(({ noisyCount }, at) => seen[at]! && noisyCount > 0);
    if (kept.length > 0) {
      return {
        kind: 'spread', spread: spreadAbout(kept, atom.noisyCount, corruption),
        isEndSeen: isEndSeen(own, octaves.sigma, seen.lastIndexOf(true)),
      };
    }
    const unseenBelow = ((standOut.apart + surelySeen) * octaves.sigma) / unit;
    return { kind: 'one-value', value: atom.bin, unseenBelow };
  }));
}

/** Doublings that show whether a tail has ended, ... */
const pastEnd = 4;
/**
 * ... this many deviations of noise, which are allowed for. Noise hides more in one release of
 * 200. With 1.3 it was one of 10: a column of which .97 is 0 and the rest lognormal then had an
 * interval in one release of 8 (10,000 rows), and was off by up to 20 times its half-width.
 */
const pastNoise = 2.6;
/** ... The share of the last two doublings' rows that they may hold. */
const pastShare = 0.5;

/**
 * True if rows are clearly fewer past the last doubling that stands out. Else rows too few to be
 * seen may carry any part of the mean: each doubling counts for twice the one before.
 */
function isEndSeen(counts: Float64Array, sigma: number, last: number): boolean {
  const rowsIn = (from: number, to: number): number =>
    counts.subarray(from, to).reduce((sum, rows) => sum + rows, 0);
  const past =
    Math.max(0, rowsIn(last + 1, last + 1 + pastEnd)) + pastNoise * sigma * Math.sqrt(pastEnd);
  return past < pastShare * rowsIn(last - 1, last + 1);
}

/** Rows by exact value, one map per column; empty for columns that are not asked about. */
function countValues(
  { values, count }: RowBlock, dimension: number, asked: readonly number[],
): readonly Map<number, number>[] {
  const counts = Array.from({ length: dimension }, () => new Map<number, number>());
  for (const column of asked) {
    const own = counts[column]!;
    for (let i = 0; i < count; i++) {
      const entry = values[i * dimension + column]!;
      // A map treats -0 and 0 as one key.
      if (Number.isFinite(entry)) own.set(entry, (own.get(entry) ?? 0) + 1);
    }
  }
  return counts;
}

/**
 * Rows by the doubling of their distance from the column's value, each with the weight of the
 * number of columns in which it differs.
 */
function countDoublings(
  { values, count }: RowBlock, dimension: number, asked: readonly number[],
  atoms: readonly (KeptBin | undefined)[], weights: Float64Array,
): Float64Array {
  const counts = new Float64Array(dimension * doublings);
  const known = asked.flatMap((column, k) => {
    const atom = atoms[k];
    return atom === undefined ? [] : [{ column, value: atom.bin }];
  });
  const places = new Uint32Array(known.length);
  for (let i = 0; i < count; i++) {
    let differing = 0;
    for (const { column, value } of known) {
      const bin = doublingOf(values[i * dimension + column]! - value);
      if (bin === undefined || bin === zeroBin) continue;
      places[differing++] = column * doublings + bin - zeroBin;
    }
    const weight = weights[differing]!;
    for (let k = 0; k < differing; k++) counts[places[k]!]! += weight;
  }
  return counts;
}
