import type { ExpectedError } from '../contract/estimator.js';

/** The parts of an error that hostile rows do not change. */
export type HonestError = Pick<ExpectedError, 'sampling' | 'noise'>;

/**
 * The error by hostile share, infinite past the promise.
 * @param promise - the largest share that `bias` holds for.
 * @param bias - what a share of hostile rows adds.
 */
export function errorUpTo(
  promise: number, { sampling, noise }: HonestError, bias: (share: number) => number,
): (share: number) => ExpectedError {
  return (share) => {
    if (!(share >= 0 && share <= promise)) {
      return { total: Infinity, sampling, noise, bias: Infinity };
    }
    const moved = bias(share);
    return { total: Math.hypot(sampling, noise, moved), sampling, noise, bias: moved };
  };
}

/** The error of a mean of honest rows, in scales. @param sigma - of the noise of the rows' sum. */
export function honestErrorOfMean(dimension: number, rows: number, sigma: number): HonestError {
  return { sampling: Math.sqrt(dimension / rows), noise: (sigma * Math.sqrt(dimension)) / rows };
}
