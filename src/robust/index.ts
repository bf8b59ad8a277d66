/**
 * Robust estimators without noise, for those who hold the rows and publish nothing. Nothing here is
 * private.
 *
 * @module keelson/non-private
 */
export { pointSet, type PointSet } from '../numerics/points.js';
export { filteredMean } from './filtered-mean.js';
export type { Filtered, FilterOptions } from './filtering.js';
export { geometricMedian } from './geometric-median.js';
export { multiplicativeFilter } from './multiplicative-filter.js';
export { robustMeanWithoutPrivacy } from './robust-mean.js';
export { robustScatter } from './robust-scatter.js';
export type { SpectralPassOptions } from './spectral-pass.js';
export { trimmedMean } from './trimmed-mean.js';
