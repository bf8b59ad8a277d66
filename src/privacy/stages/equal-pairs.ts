import type { Released, Sensitive } from '../../base/brands.js';
import { zeroBin } from '../../numerics/kernels/column-counts.js';
import { pairBinsOfRows, type KernelRunner } from '../../numerics/kernels/shards.js';
import { countGrid, gaussianEvent } from '../accounting/calibration.js';
import type { GaussianEvent } from '../accounting/events.js';
import type { Mechanisms } from '../mechanisms/contract.js';
import { discreteShare } from './spread-of-bins.js';
import { pairsInSlots, slotsEnough, slotsFor } from './spread.js';
import { pairsOf, type RowsToPair } from './spread-pairs.js';

/**
 * Which columns are discrete: in how many pairs of rows both rows have the same value there.
 *
 * Claim: rho zCDP, no delta, for one row replaced by anything, or by nothing, or added.
 * - The pairs are those of the private spread (stages/spread): one row more, less or changed
 *   changes the pair of its own slot and of no other.
 * - In each column a pair adds 1 or 0. A pair that changes, comes or goes moves each of the d
 *   counts by at most 1, so all of them by at most sqrt(d) in L2. Every count gets noise.
 * - What is answered is a function of the noisy counts and of public or released numbers.
 *
 * Accuracy. A column is called discrete when its count is above a tenth of the pairs by three
 * standard deviations of the noise. A corruption c at one point makes c^2 of the pairs equal, so
 * less than a third of the rows never make a column discrete.
 */

/** Standard deviations of noise by which a count must be above the limit. */
const doubt = 3;
/** Noise that hides a column with fewer equal pairs than this share says too little. */
const seenShare = 0.6;

/** The event, within rho. @param gridMost - its grid is at most this. */
export function equalPairsEvent(options: {
  readonly name: string; readonly cohort: string; readonly dimension: number;
  readonly rho: number; readonly gridMost: number;
}): GaussianEvent {
  const { name, cohort, dimension, rho, gridMost } = options;
  return gaussianEvent({
    name, cohort, dimension, rho,
    // sqrt(d), rounded up.
    sensitivity: Math.sqrt(dimension) * (1 + 2 ** -50),
    grid: Math.min(gridMost, countGrid(Math.sqrt(dimension / (2 * rho)))),
  });
}

const slotsOf = (contributors: number): number => Math.min(slotsFor(contributors), slotsEnough);

/** Equal pairs that make a column discrete. @param rows - public or released. */
function leastEqual({ sigma }: GaussianEvent, slots: number, rows: number): number {
  return discreteShare * pairsInSlots(slots, rows) + doubt * sigma;
}

/** True if noise leaves a column to be seen of which six pairs in ten are equal. Public numbers. */
export function showsEqualPairs(event: GaussianEvent, contributors: number): boolean {
  const slots = slotsOf(contributors);
  return leastEqual(event, slots, contributors) < seenShare * pairsInSlots(slots, contributors);
}

/**
 * Draws the event: whether each column is discrete. O(rows + slots), and O(pairs * dimension).
 * @param contributors - of the plan. @param present - released number of rows.
 */
export async function privateDiscreteColumns(
  runner: KernelRunner, mechanisms: Mechanisms, rows: Sensitive<RowsToPair>, event: GaussianEvent,
  { contributors, present }: { readonly contributors: number; readonly present: number },
): Promise<Released<readonly boolean[]>> {
  const slots = slotsOf(contributors);
  const counts = await rows.mapAsync(async (block) =>
    Float64Array.from(
      await pairBinsOfRows(runner, block, pairsOf(block, slots)),
      (bins) => bins.get(zeroBin) ?? 0,
    ));
  const least = leastEqual(event, slots, present);
  return mechanisms.gaussian(event.name, counts).map((noisy) =>
    Array.from(noisy, (count) => count > least));
}
