import { chiSquareAt } from '../../numerics/chi-square.js';
import { deviations95 } from '../../numerics/normal.js';
import type { HonestError } from '../contract/planning.js';

/** The error of a mean of honest rows, in spreads. @param sigma - of the noise of the rows' sum. */
export function honestErrorOfMean(dimension: number, rows: number, sigma: number): HonestError {
  return { sampling: Math.sqrt(dimension / rows), noise: (sigma * Math.sqrt(dimension)) / rows };
}

/** The corruption that chance may bring about: a little more than the stated one. */
export function corruptionAtMost(corruption: number): number {
  return Math.min(0.5, 1.1 * corruption);
}

/**
 * How far a share of rows of deviation 1 may move their mean along any direction, whatever their
 * shape is: sqrt(c / (1 - c)), by the inequality of Cauchy and Schwarz.
 */
export function movedByShare(share: number): number {
  return Math.sqrt(share / (1 - share));
}

/**
 * The corruption of so many rows, with 2 standard deviations of chance: each is hostile by
 * itself with the stated probability.
 */
export function likelyShare(corruption: number, rows: number): number {
  return Math.min(0.5, corruption + 2 * Math.sqrt((corruption * (1 - corruption)) / rows));
}

/**
 * The length that a bias of length `bias` and independent normal noise have together, 95 times in
 * 100 at most. Along the bias the noise adds more than 1.96 deviations once in 40 times. Across it
 * the noise is longer than the quantile of chi-square once in 40 times.
 * @param deviation - of the noise of each of `dimension` entries.
 */
export function reachOf(bias: number, deviation: number, dimension: number): number {
  const across = dimension === 1 ? 0 : Math.sqrt(chiSquareAt(deviations95, dimension - 1));
  return Math.hypot(bias + deviations95 * deviation, across * deviation);
}
