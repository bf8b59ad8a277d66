import type { HonestError } from '../contract/planning.js';

/** The error of a mean of honest rows, in scales. @param sigma - of the noise of the rows' sum. */
export function honestErrorOfMean(dimension: number, rows: number, sigma: number): HonestError {
  return { sampling: Math.sqrt(dimension / rows), noise: (sigma * Math.sqrt(dimension)) / rows };
}
