import type { HonestError } from '../contract/planning.js';

/** The error of a mean of honest rows, in scales. @param sigma - of the noise of the rows' sum. */
export function honestErrorOfMean(dimension: number, rows: number, sigma: number): HonestError {
  return { sampling: Math.sqrt(dimension / rows), noise: (sigma * Math.sqrt(dimension)) / rows };
}

/** The share of the rows that may be hostile: chance allows a little more than the stated share. */
export function hostileShare(corruption: number): number {
  return Math.min(0.5, 1.1 * corruption);
}

/**
 * How far a share of rows of deviation 1 may move their mean along any direction, whatever their
 * shape is: sqrt(c / (1 - c)), by the inequality of Cauchy and Schwarz.
 */
export function movedByShare(share: number): number {
  return Math.sqrt(share / (1 - share));
}
