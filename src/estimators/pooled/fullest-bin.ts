import { normalUpperQuantile } from '../../numerics/normal.js';
import type { GaussianEvent, GaussianHistogramEvent } from '../../privacy/accounting/events.js';
import { keepingCount } from '../../privacy/mechanisms/bounds.js';

/**
 * Share of honest rows in the fullest bin of a column's histogram, at least, by what is known of
 * honest rows. Bins are four spreads wide and may lie anywhere, so a column may straddle two bins.
 * Plans follow from these numbers: a changed one changes which cohorts are refused.
 */
export const fullestBinShare = {
  /**
   * Rows with light tails. Normal rows reach it up to 3.4 times as wide as the spread says:
   * the share of such rows between their mean and 4 spreads beyond it is .38.
   */
  lightTails: 0.38,
  /**
   * Rows with one spread of standard deviation and any tails. By Chebyshev three quarters of them
   * are within two spreads of the mean, and at most two bins cover that interval.
   */
  boundedVariance: 0.375,
  /**
   * Rows of hashed groups, with one spread of standard deviation and any tails: as for
   * `boundedVariance`, with a margin. The margin only raises the smallest cohort of a plan.
   */
  boundedVarianceOfGroup: 0.36,
  /** Normal rows of nearly one spread, half of them in either bin; a tenth is kept in reserve. */
  normal: 0.45,
} as const;

/**
 * Share of honest rows in the fullest two neighbours of bins that are four spreads wide, at least:
 * of normal rows up to 3.4 times as wide as the spread says, in the middle of a bin.
 */
export const twoBinsShare = 0.68;

/** Planned probability that noise hides the fullest bin of some column. */
const failure = 0.01;

/**
 * Rows that the fullest bin of each column must hold, so that the noisy counts of all columns
 * clear the threshold 99 times in 100.
 */
export function countToBeSeen(event: GaussianHistogramEvent, dimension: number): number {
  return keepingCount(event) + event.sigma * normalUpperQuantile(failure / dimension);
}

/** Nominal size of a hashed group in which so many rows nearly surely are: 3 deviations of room. */
export function nominalSizeFor(rows: number): number {
  return rows + 3 * Math.sqrt(rows);
}

/**
 * Rows that two neighbours among public bins must hold, so that their noisy sum is above that of
 * any other two, in all columns 99 times in 100. Each sum has the noise of two counts.
 * @param event - of the counts of all bins in all columns.
 */
export function pairToBeSeen({ sigma, dimension: counts }: GaussianEvent): number {
  return 2 * sigma * normalUpperQuantile(failure / counts);
}
