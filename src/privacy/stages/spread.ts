import type { Released, Sensitive } from '../../base/brands.js';
import { pairBinsOfRows, type KernelRunner } from '../../numerics/kernels/shards.js';
import { gaussianHistogramEvent } from '../accounting/calibration.js';
import type { GaussianHistogramEvent } from '../accounting/events.js';
import { keepingCount } from '../mechanisms/bounds.js';
import type { Mechanisms } from '../mechanisms/contract.js';
import { columnSpreadOf, type ColumnSpread, type PairFacts } from './spread-of-bins.js';
import { pairsOf, type RowsToPair } from './spread-pairs.js';

export type { ColumnSpread } from './spread-of-bins.js';
export { slotOf, type RowsToPair } from './spread-pairs.js';

/**
 * A private spread: per coordinate, about the standard deviation of the rows, from how far apart
 * pairs of rows are. Nothing about the data need be known.
 *
 * Claim: (rho, delta), delta-approximate zCDP, for one row replaced by anything, or by nothing, or
 * added.
 * - Pairs. A row's slot is a function of its tag (a keyed hash of its contributor), and a slot's
 *   pair is its two rows with the smallest tags. So one row more, less or changed changes the pair
 *   of its own slot and of no other. (Pairs along the sorted order of those present would not do:
 *   one absence would shift them all.)
 * - In each coordinate a pair stands in at most one bin: one bin for a difference of exactly 0,
 *   and else floor(log2 |difference|) held within -200 .. 200. So a changed pair leaves one bin
 *   and enters one, be it that of 0 or another: mechanisms/histogram, claim (b), with a pair for a
 *   contributor. The bin of 0 costs nothing more.
 * - What is answered is a function of the kept bins and of public numbers.
 *
 * Accuracy (privacy/stages/spread-of-bins). `spread` is the root of half the mean square
 * difference. With 50,000 rows, 10 columns and epsilon 1 it is 1.25 deviations of normal rows, and
 * .8 to 1.4 deviations of rows that are skewed, in a few values or have heavy tails. `medianSpread`
 * is read off the median difference, as normal rows have it: .96 to 1.02 deviations of normal rows,
 * up to 1.05 and 1.10 where a twentieth and a tenth stand 1.5 deviations to the side in every
 * column; but .72 of it for Student's t with 3 degrees of freedom, and .50 for tails of index 3 on
 * one side. `pairsInFullestBin` says with how many rows one bin at least is kept. A corruption h
 * spoils a share 1 - (1 - h)^2 of the pairs. Those far apart from the others are left out. Nearer
 * ones move the median to at most the honest quantile .5 / (1 - h)^2: 1.13 times as far at h = .05,
 * 1.29 at .1, and to anywhere only from h = .29 on. `spread` is at most four times as large.
 * A column in which no pair that differs was seen has no spread here: privacy/stages/atoms goes on.
 * Source: after Karwa and Vadhan 2018, who pair rows by their place, not by a key.
 */

/** Where the noise of a spread is charged. */
export interface SpreadOptions {
  readonly cohort: string;
  readonly dimension: number;
  readonly rho: number;
  readonly delta: number;
  /** The event's name; default "spread". */
  readonly name?: string;
}

/** The event of a private spread. Its cost is within (rho, delta). */
export function spreadEvent(
  { cohort, dimension, rho, delta, name = 'spread' }: SpreadOptions,
): GaussianHistogramEvent {
  return gaussianHistogramEvent({ name, cohort, coordinates: dimension, rho, delta });
}

/** The spread of every column, as the pairs show it. */
export interface FoundSpread {
  /** Null in a column in which no pair that differs was seen. */
  readonly columns: readonly (ColumnSpread | null)[];
}

/**
 * Slots for a public number of contributors: half as many. At full participation about 59 of 100
 * slots then hold a pair.
 */
export function slotsFor(cohort: number): number {
  return Math.ceil(cohort / 2);
}

/**
 * Enough pairs for the median to be known to a hundredth of the rows, and this many times what
 * keeps a bin.
 */
export const slotsEnough = 1 << 15;
const slotsPerKeptCount = 64;

/**
 * Slots of a private spread: those of `slotsFor`, or enough that noise and chance no longer matter:
 * more would cost time alone. A bin that holds a tenth of the pairs is then kept well above its
 * threshold.
 */
export function slotsForSpread(cohort: number, event: GaussianHistogramEvent): number {
  return Math.min(
    slotsFor(cohort), Math.max(slotsEnough, Math.ceil(slotsPerKeptCount * keepingCount(event))),
  );
}

/**
 * Pairs per contributor that a Gaussian column's fullest bin holds, at least: half a slot each,
 * 0.59 of the slots with a pair, 0.3 of the pairs in one bin. Fewer where `slotsForSpread` caps the
 * slots, and then still enough.
 */
export const pairsInFullestBin = 0.5 * 0.59 * 0.3;

/** Public numbers that pairs are made and read with. */
export interface Pairing extends PairFacts {
  readonly slots: number;
}

/** @param corruption - planned share of hostile rows. */
export function pairingFor(
  cohort: number, event: GaussianHistogramEvent, corruption: number,
): Pairing {
  const slots = slotsForSpread(cohort, event);
  return { slots, pairs: pairsInSlots(slots, cohort), threshold: keepingCount(event), corruption };
}

/** A slot has a pair when two or more rows are in it; their number is about Poisson. */
export function pairsInSlots(slots: number, rows: number): number {
  const rowsPerSlot = rows / slots;
  return slots * (1 - (1 + rowsPerSlot) * Math.exp(-rowsPerSlot));
}

/**
 * Draws the spread with the event of `spreadEvent`. The pass over the pairs is shared among
 * threads.
 * @param pairing - from the public cohort, never from the rows present.
 * Complexity: O(count + slots) to pair, 24 bytes for each slot, and O(pairs * dimension).
 */
export async function privateSpreadOn(
  runner: KernelRunner,
  mechanisms: Mechanisms,
  rows: Sensitive<RowsToPair>,
  pairing: Pairing,
  name = 'spread',
): Promise<Released<FoundSpread>> {
  const counts =
    await rows.mapAsync((block) => pairBinsOfRows(runner, block, pairsOf(block, pairing.slots)));
  return mechanisms.histogram(name, counts)
    .map((kept) => ({ columns: kept.map((bins) => columnSpreadOf(bins, pairing)) }));
}
