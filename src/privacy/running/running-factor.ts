import { InvalidParameterError } from '../../base/errors.js';
import { checkObject } from '../../base/given.js';
import { factorStep, rootColumn, runningLimits } from '../../base/root-factor.js';
import { gaussianEvent } from '../accounting/calibration.js';
import type { GaussianEvent } from '../accounting/events.js';

/** How the releases of a running total mix the values of epochs. */
export interface RunningFactor {
  /** A value is in the releases of so many epochs: its own and the next band - 1. */
  readonly band: number;
  /** c_0 ... c_(band-1) in steps: whole numbers. */
  readonly column: Float64Array;
  /**
   * At least the L2 distance by which one participation moves all releases together, if it moves
   * the value of its epoch by 1 in L2.
   */
  readonly norm: number;
  /** C x is exact for whole values x of at most this size in every entry. */
  readonly valueMax: number;
}

/** The longest band: ten years of days. */
export const bandMaximum = runningLimits.separation;

/**
 * Totals over epochs with noise that grows slowly.
 *
 * Let x_p be the exact value of position p: a vector of whole numbers that are sums over
 * contributors. Its release is y_p = c_0 x_p + c_1 x_(p-1) + ... + c_(b-1) x_(p-b+1) + z_p. Here b
 * is the band, c_k is binom(2k, k) / 4^k rounded to 2^-20, and z_p is fresh discrete Gaussian noise
 * of deviation sigma in each entry. Write y = C x + z. Everybody can compute L C^-1 y, where L
 * makes running sums: these are the totals, plus L C^-1 z.
 *
 * Claim. Neighbours: a contributor whose values in the positions that it is in are replaced by
 * others or by nothing, which moves x_p by at most D in L2 in each of them. If any two of these
 * positions are at least b apart, all releases together cost it |c|^2 D^2 / (2 sigma^2) zCDP for
 * each position that it is in.
 * Proof. Let it be in positions p_1 < p_2 < ... and move x there by d_1, d_2 ... Column p of C is
 * zero outside rows p ... p + b - 1. Those of p_1, p_2 ... have no row in common, since they are b
 * apart. So C x moves by the orthogonal sum of the C e_(p_i) d_i, and its squared length is the sum
 * of |C e_(p_i)|^2 |d_i|^2, which is at most |c|^2 D^2 for each position. A column that is cut off
 * where the releases end is only shorter. C x and C x' are on the noise's grid, so a row of y that
 * moves by r costs r^2 / (2 sigma^2) (Canonne, Kamath and Steinke 2020, theorem 14). x_p may depend
 * on earlier releases: row p of C x needs no later x, and given the earlier rows it moves by its
 * part of the sum. The sum is within the bound whatever was released, so the costs of the rows
 * compose (Denisov et al. 2022; Feldman and Zrnic 2021 for parts that are chosen adaptively).
 *
 * The claim is false if two of its positions are nearer than b: their columns overlap, and where
 * both d have one sign, their product adds to the distance.
 *
 * Source: Fichtenberger, Henzinger and Upadhyay (2023) for c; Choquette-Choo et al. (2023),
 * (Amplified) banded matrix factorization, for bands and participations that are b apart.
 * @throws InvalidParameterError when the band is not a whole number from 1 to `bandMaximum`.
 */
export function runningFactor(band: number): RunningFactor {
  if (!Number.isInteger(band) || band < 1 || band > bandMaximum) {
    throw new InvalidParameterError(
      `the band of a running total is ${band}: give a whole number from 1 to ${bandMaximum}`,
      { band },
    );
  }
  const column = rootColumn(band);
  // Sums of whole numbers below 2^53: exact.
  const squares = column.reduce((sum, entry) => sum + entry * entry, 0);
  const total = column.reduce((sum, entry) => sum + entry, 0);
  return {
    band, column, norm: Math.sqrt(squares) * factorStep * (1 + 2 ** -49),
    valueMax: Math.floor(Number.MAX_SAFE_INTEGER / total),
  };
}

/**
 * Checks how rarely contributors take part, and returns it: the band of the factor.
 *
 * An epoch without a release ends its series, so the positions of a series are successive epochs.
 * Contributors who are in at most one of any `separation` successive epochs are therefore in
 * positions that are at least `separation` apart, as the claim of `runningFactor` asks.
 * @throws InvalidParameterError when the separation is not a whole number from 2 to `bandMaximum`.
 *   With separation 1 the band would gain nothing.
 */
export function bandFor(separation: number): number {
  if (!Number.isInteger(separation) || separation < 2 || separation > bandMaximum) {
    throw new InvalidParameterError(
      `the separation of a running total is ${separation} epochs: give a whole number from 2 to `
      + `${bandMaximum}`,
      { separation },
    );
  }
  return separation;
}

/**
 * The noise of each release of a running total. Its cost, `rho`, is what a contributor is charged
 * for each epoch that it is in; proof in `runningFactor` and `RunningInputs`.
 * @param options `entries`: numbers in the value of an epoch. `sensitivity`: the most by which one
 *   contributor moves the value of one epoch, in L2. `rho`: the zCDP cost for each epoch.
 */
export function runningEvent(options: {
  readonly name: string; readonly cohort: string; readonly separation: number;
  readonly entries: number; readonly sensitivity: number; readonly rho: number;
}): GaussianEvent {
  checkObject(
    options, 'a running event is { name, cohort, separation, entries, sensitivity, rho }',
  );
  const { name, cohort, separation, entries, sensitivity, rho } = options;
  const { norm } = runningFactor(bandFor(separation));
  return gaussianEvent({
    name, cohort, dimension: entries, rho, grid: factorStep,
    // Rounding of this product is far below the margin in `norm`.
    sensitivity: norm * sensitivity,
  });
}
