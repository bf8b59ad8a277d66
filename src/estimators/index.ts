/**
 * The private estimators. Each is an export of its own, so that a bundle holds only those that it
 * uses.
 *
 * @module keelson/estimators
 */
import { guarded } from './contract/given.js';
import { mean as meanUnchecked } from './mean/mean/mean.js';
import { robustMean as robustMeanUnchecked } from './mean/robust-mean/robust-mean.js';
import { primeHeavy as primeHeavyUnchecked } from './mean/prime-heavy/prime-heavy.js';
import { count as countUnchecked } from './counts/count/count.js';
import { sum as sumUnchecked } from './counts/sum/sum.js';
import { share as shareUnchecked } from './counts/share/share.js';
import { ratio as ratioUnchecked } from './counts/ratio/ratio.js';
import { distribution as distributionUnchecked } from './counts/distribution/distribution.js';
import { histogram as histogramUnchecked } from './counts/histogram/histogram.js';
import { quantile as quantileUnchecked } from './counts/quantile/quantile.js';
import {
  stableCovariance as stableCovarianceUnchecked,
} from './covariance/stable-covariance/stable-covariance.js';
import { covariance as covarianceUnchecked } from './covariance/covariance/covariance.js';
import { gaussian as gaussianUnchecked } from './distributions/gaussian/gaussian.js';
import { prime as primeUnchecked } from './mean/prime/prime.js';
import { stableMean as stableMeanUnchecked } from './mean/stable-mean/stable-mean.js';
import { populousMean as populousMeanUnchecked } from './mean/populous-mean/populous-mean.js';
import { resilience as resilienceUnchecked } from './mean/resilience/resilience.js';
import { tukeyMedian as tukeyMedianUnchecked } from './mean/tukey-median/tukey-median.js';
import { heavyTailed as heavyTailedUnchecked } from './mean/heavy-tailed/heavy-tailed.js';
import {
  stableMoments as stableMomentsUnchecked,
} from './covariance/stable-moments/stable-moments.js';
import { subspace as subspaceUnchecked } from './covariance/subspace/subspace.js';
import { select as selectUnchecked } from './distributions/select/select.js';
import { mixtureLine as mixtureLineUnchecked } from './distributions/mixture-1d/mixture-1d.js';
import { mixture as mixtureUnchecked } from './distributions/mixture/mixture.js';

export const mean = /* @__PURE__ */ guarded<'mean'>(meanUnchecked);
export const robustMean = /* @__PURE__ */ guarded<'robust-mean'>(robustMeanUnchecked);
export const primeHeavy = /* @__PURE__ */ guarded<'prime-heavy'>(primeHeavyUnchecked);
export const count = /* @__PURE__ */ guarded<'count'>(countUnchecked);
export const sum = /* @__PURE__ */ guarded<'sum'>(sumUnchecked);
export const share = /* @__PURE__ */ guarded<'share'>(shareUnchecked);
export const ratio = /* @__PURE__ */ guarded<'ratio'>(ratioUnchecked);
export const distribution = /* @__PURE__ */ guarded<'distribution'>(distributionUnchecked);
export const histogram = /* @__PURE__ */ guarded<'histogram'>(histogramUnchecked);
export const quantile = /* @__PURE__ */ guarded<'quantile'>(quantileUnchecked);
export const stableCovariance =
  /* @__PURE__ */ guarded<'stable-covariance'>(stableCovarianceUnchecked);
export const covariance = /* @__PURE__ */ guarded<'covariance'>(covarianceUnchecked);
export const gaussian = /* @__PURE__ */ guarded<'gaussian'>(gaussianUnchecked);
export const prime = /* @__PURE__ */ guarded<'prime'>(primeUnchecked);
export const stableMean = /* @__PURE__ */ guarded<'stable-mean'>(stableMeanUnchecked);
export const populousMean = /* @__PURE__ */ guarded<'populous-mean'>(populousMeanUnchecked);
export const resilience = /* @__PURE__ */ guarded<'resilience'>(resilienceUnchecked);
export const tukeyMedian = /* @__PURE__ */ guarded<'tukey-median'>(tukeyMedianUnchecked);
export const heavyTailed = /* @__PURE__ */ guarded<'heavy-tailed'>(heavyTailedUnchecked);
export const stableMoments = /* @__PURE__ */ guarded<'stable-moments'>(stableMomentsUnchecked);
export const subspace = /* @__PURE__ */ guarded<'subspace'>(subspaceUnchecked);
export const select = /* @__PURE__ */ guarded<'select'>(selectUnchecked);
export const mixture1d = /* @__PURE__ */ guarded<'mixture-1d'>(mixtureLineUnchecked);
export const mixture = /* @__PURE__ */ guarded<'mixture'>(mixtureUnchecked);
