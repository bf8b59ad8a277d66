import type { Describe } from '../base/number-info.js';
import { describeCovariance, describeMeans } from './contract/describe.js';
import { describeCount } from './counts/count/describe.js';
import { describeDistribution } from './counts/distribution/describe.js';
import { describeHistogram } from './counts/histogram/describe.js';
import { describeQuantile } from './counts/quantile/describe.js';
import { describeRatio } from './counts/ratio/describe.js';
import { describeShare } from './counts/share/describe.js';
import { describeSum } from './counts/sum/describe.js';
import { describeStableMoments } from './covariance/stable-moments/describe.js';
import { describeSubspace } from './covariance/subspace/describe.js';
import { describeGaussian } from './distributions/gaussian/describe.js';
import { describeMixtureLine } from './distributions/mixture-1d/describe.js';
import { describeMixture } from './distributions/mixture/describe.js';
import { describeSelect } from './distributions/select/describe.js';
import { describeTukeyMedian } from './mean/tukey-median/describe.js';

/**
 * How the numbers of each estimator's answers are described, apart from how they are worked out:
 * pages and clients load this table, and no estimator. Estimators have the same as `describe`.
 */
export const descriptions: Readonly<Record<string, Describe>> = Object.freeze({
  mean: describeMeans,
  'robust-mean': describeMeans,
  'prime-heavy': describeMeans,
  count: describeCount,
  sum: describeSum,
  share: describeShare,
  ratio: describeRatio,
  histogram: describeHistogram,
  quantile: describeQuantile,
  distribution: describeDistribution,
  'stable-covariance': describeCovariance,
  covariance: describeCovariance,
  gaussian: describeGaussian,
  prime: describeMeans,
  'stable-mean': describeMeans,
  'populous-mean': describeMeans,
  resilience: describeMeans,
  'tukey-median': describeTukeyMedian,
  'heavy-tailed': describeMeans,
  'stable-moments': describeStableMoments,
  subspace: describeSubspace,
  select: describeSelect,
  'mixture-1d': describeMixtureLine,
  mixture: describeMixture,
});
