import { InvalidParameterError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { Estimator } from './contract.js';
import { mean } from './baseline/mean.js';
import { covariance } from './covariance/covariance.js';
import { count } from './everyday/count.js';
import { histogram } from './everyday/histogram.js';
import { quantile } from './everyday/quantile.js';
import { gaussian } from './gaussian/gaussian.js';
import { guarded } from './given.js';
import { heavyTailed } from './heavy/columns.js';
import { heavyTailed1d } from './heavy/one-column.js';
import { heavyTailedPure } from './heavy/pure-columns.js';
import { mixtureLine } from './mixtures/mixture-line.js';
import { mixture } from './mixtures/joint/mixture.js';
import { select } from './mixtures/select.js';
import { primeHeavy } from './filters/heavy/prime-heavy.js';
import { prime } from './filters/prime.js';
import { spectralFilter } from './filters/spectral-filter.js';
import { populousMean } from './populous/mean.js';
import { stableCovariance } from './moments/stable-covariance.js';
import { stableMoments } from './moments/stable-moments.js';
import { robustMean } from './robust/robust-mean.js';
import { resilience } from './rank/resilience.js';
import { tukeyMedian } from './rank/tukey-median.js';
import { stableMean } from './stable/mean.js';
import { stableMeanDual } from './stable/mean-dual.js';
import { subspace } from './subspace/subspace.js';

/** Every estimator, in the order in which commands list them. Names are stable: study files and logs hold them. */
export const estimators: readonly Estimator[] = Object.freeze([
  mean, robustMean, prime, primeHeavy, spectralFilter, stableMean, stableMeanDual, populousMean, count, histogram, quantile, subspace,
  covariance, stableCovariance, stableMoments, gaussian, heavyTailed, heavyTailed1d, heavyTailedPure,
  select, mixtureLine, mixture, resilience, tukeyMedian,
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
