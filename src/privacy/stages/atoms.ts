import type { Released, Sensitive } from '../../base/brands.js';
import { doublingOf, doublings, zeroBin } from '../../numerics/kernels/column-counts.js';
import { countGrid, gaussianEvent, gaussianHistogramEvent } from '../accounting/calibration.js';
import type { GaussianEvent, GaussianHistogramEvent } from '../accounting/events.js';
import type { KeptBin, Mechanisms } from '../mechanisms/contract.js';
import type { RowBlock } from './rows.js';
import { scaleAbout } from './scale-of-bins.js';
import { binsThatStandOut } from './stretches.js';

/**
 * Scales of columns in which nearly all rows have one value, so that pairs do not tell them: the
 * commonest value, then how far from it the other rows are.
 *
 * Claim: (rho, delta), delta-approximate zCDP, for one row replaced by anything, or by nothing, or
 * added. The columns that are asked about are public or released.
 * - `<name>/value` is a stable histogram of exact values. In each column a row is in one bin at
 *   most, that of its own entry. A changed row leaves one bin and enters one: mechanisms/histogram,
 *   claim (b), which holds for any set of bins. Columns that are not asked about have no bins.
 * - `<name>/octaves` counts, in each column asked about, the rows by the doubling of their distance
 *   from the released value. The bins are fixed before: `doublings` for each column. A changed row
 *   leaves one bin and enters one, so with f columns the counts change by at most sqrt(2 f) in L2.
 *   They are multiplied by k = floor(sqrt(d / f)) first, which is a function of released numbers:
 *   k sqrt(2 f) <= sqrt(2 d), the sensitivity that the event was calibrated for. Every bin gets
 *   noise, also an empty one, so no delta is needed.
 * - The value is released when the distances are counted, so the two compose adaptively. Both are
 *   charged, drawn or not. What is answered is a function of released numbers.
 *
 * Accuracy. A value is kept when `keepingCount` of its event have it, which is far below the third
 * of the rows that a column must have at one value for its pairs to show nothing else. A doubling,
 * or up to eight together, are kept when they hold more than the noise reaches in any of
 * f * doublings bins. For one doubling of 50,000 rows, 10 columns, epsilon 1 and the shares of
 * pooled/scale-choice that is 340 rows when all columns are asked about, 115 when one is.
 * Source: the stable histogram of Karwa and Vadhan 2018, here for values.
 */

/** Where the noise is charged. */
export interface AtomOptions {
  readonly cohort: string;
  readonly dimension: number;
  /** zCDP of the value, and of the octaves. */
  readonly rho: { readonly value: number; readonly octaves: number };
  /** Of the value. */
  readonly delta: number;
  /** Prefix of the events' names; default "scale". */
  readonly name?: string;
}

export interface AtomEvents {
  readonly value: GaussianHistogramEvent;
  readonly octaves: GaussianEvent;
}

/** The two events; their cost is within the sum of `rho`, and delta. */
export function atomEvents(options: AtomOptions): AtomEvents {
  const { cohort, dimension, rho, delta, name = 'scale' } = options;
  return {
    value: gaussianHistogramEvent({
      name: `${name}/value`, cohort, coordinates: dimension, rho: rho.value, delta,
    }),
    octaves: gaussianEvent({
      name: `${name}/octaves`, cohort, dimension: dimension * doublings,
      // sqrt(2 d), rounded up.
      sensitivity: Math.sqrt(2 * dimension) * (1 + 2 ** -50),
      rho: rho.octaves, grid: countGrid(Math.sqrt(dimension / rho.octaves)),
    }),
  };
}

/**
 * What is known of a column in which nearly all rows have one value.
 * - `scale`: about the standard deviation. Where the end is not seen, rows too few to be seen may
 *   be so far out that they decide the mean.
 * - `one-value`: the other rows are too few to be seen: fewer than about `unseenBelow` of them in
 *   any one doubling of distance.
 * - `unknown`: no value was common enough.
 */
export type Atom =
  | { readonly kind: 'scale'; readonly scale: number; readonly isEndSeen: boolean }
  | { readonly kind: 'one-value'; readonly value: number; readonly unseenBelow: number }
  | { readonly kind: 'unknown' };

/**
 * Noise alone exceeds 5.3 standard deviations with probability 6e-8. The few rows that carry a
 * deviation may be spread over many doublings: up to eight are looked at together.
 */
const standOut = { apart: 5.3, beside: 2.5, widths: [1, 2, 4, 8] } as const;
/** Rows beyond the threshold are seen unless the noise is so many deviations below 0. */
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
  const multiple = Math.max(1, Math.floor(Math.sqrt(dimension / asked.length)));
  const noisy = mechanisms.gaussian(octaves.name, rows.map((block) =>
    countDoublings(block, dimension, asked, values, multiple)));
  const sigma = octaves.sigma / multiple;
  return noisy.map((counts) => asked.map((column, i): Atom => {
    const atom = values[i];
    if (atom === undefined) return { kind: 'unknown' };
    const own = counts.subarray(column * doublings, (column + 1) * doublings);
    const seen = binsThatStandOut(own, octaves.sigma, standOut);
    const kept = Array.from(own, (count, at): KeptBin =>
      ({ bin: at + zeroBin, noisyCount: count / multiple }))
      .filter(({ noisyCount }, at) => seen[at]! && noisyCount > 0);
    if (kept.length > 0) {
      return {
        kind: 'scale', scale: scaleAbout(kept, atom.noisyCount, corruption),
        isEndSeen: isEndSeen(own, octaves.sigma, seen.lastIndexOf(true)),
      };
    }
    const unseenBelow = (standOut.apart + surelySeen) * sigma;
    return { kind: 'one-value', value: atom.bin, unseenBelow };
  }));
}

/** Doublings that tell whether a tail has ended, ... */
const pastEnd = 4;
/** ... so many deviations of their noise, which are allowed for, ... */
const pastNoise = 1.3;
/** ... and the share of the last two doublings' rows that they may hold. */
const pastShare = 0.5;

/**
 * Whether rows are clearly fewer past the last doubling that stands out. Else rows too few to be
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
      // A map takes -0 and 0 for one key.
      if (Number.isFinite(entry)) own.set(entry, (own.get(entry) ?? 0) + 1);
    }
  }
  return counts;
}

/** Rows by the doubling of their distance from the column's value, times `multiple`. */
function countDoublings(
  { values, count }: RowBlock, dimension: number, asked: readonly number[],
  atoms: readonly (KeptBin | undefined)[], multiple: number,
): Float64Array {
  const counts = new Float64Array(dimension * doublings);
  asked.forEach((column, k) => {
    const atom = atoms[k];
    if (atom === undefined) return;
    for (let i = 0; i < count; i++) {
      const bin = doublingOf(values[i * dimension + column]! - atom.bin);
      if (bin === undefined || bin === zeroBin) continue;
      counts[column * doublings + bin - zeroBin]! += multiple;
    }
  });
  return counts;
}
