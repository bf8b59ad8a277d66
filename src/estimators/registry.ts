import { InvalidParameterError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { Estimator } from './contract/estimator.js';
import { mean } from './mean/mean/mean.js';
import { covariance } from './covariance/covariance/covariance.js';
import { count } from './counts/count/count.js';
import { histogram } from './counts/histogram/histogram.js';
import { quantile } from './counts/quantile/quantile.js';
import { gaussian } from './distributions/gaussian/gaussian.js';
import { guarded } from './contract/given.js';
import { heavyTailed } from './mean/heavy-tailed/heavy-tailed.js';
import { heavyTailed1d } from './mean/heavy-tailed-1d/heavy-tailed-1d.js';
import { heavyTailedPure } from './mean/heavy-tailed-pure/heavy-tailed-pure.js';
import { mixtureLine } from './distributions/mixture-1d/mixture-1d.js';
import { mixture } from './distributions/mixture/mixture.js';
import { select } from './distributions/select/select.js';
import { primeHeavy } from './mean/prime-heavy/prime-heavy.js';
import { prime } from './mean/prime/prime.js';
import { spectralFilter } from './mean/spectral-filter/spectral-filter.js';
import { populousMean } from './mean/populous-mean/populous-mean.js';
import { stableCovariance } from './covariance/stable-covariance/stable-covariance.js';
import { stableMoments } from './covariance/stable-moments/stable-moments.js';
import { robustMean } from './mean/robust-mean/robust-mean.js';
import { resilience } from './mean/resilience/resilience.js';
import { tukeyMedian } from './mean/tukey-median/tukey-median.js';
import { stableMean } from './mean/stable-mean/stable-mean.js';
import { stableMeanDual } from './mean/stable-mean-dual/stable-mean-dual.js';
import { subspace } from './covariance/subspace/subspace.js';

/**
 * Every estimator, in the order in which commands and pages list them: the recommended ones first. Names are stable:
 * study files and logs hold them.
 */
export const estimators: readonly Estimator[] = Object.freeze([
  mean, robustMean, primeHeavy, count, histogram, quantile, stableCovariance, covariance,
  gaussian, prime, spectralFilter, stableMean, stableMeanDual, populousMean, resilience, tukeyMedian,
  heavyTailed, heavyTailed1d, heavyTailedPure, stableMoments, subspace, select, mixtureLine, mixture,
].map(guarded));

/** @throws InvalidParameterError listing the names when there is no such estimator. */
export function findEstimator(name: string): Estimator {
  const found = estimators.find((estimator) => estimator.name === name);
  if (found === undefined) {
    const known = estimators.map((estimator) => estimator.name);
    const near = typeof name === 'string' ? didYouMean(name, known) : '';
    const remedy = near === '' ? `: choose one of ${known.join(', ')}` : near;
    throw new InvalidParameterError(
      `there is no estimator ${JSON.stringify(name)}${remedy}`,
      { path: 'estimator', known },
    );
  }
  return found;
}
