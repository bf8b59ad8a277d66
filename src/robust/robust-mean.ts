import type { PointSet } from '../numerics/points.js';
import { geometricMedian } from './geometric-median.js';
import { hardSpectralPass, type SpectralPassOptions } from './spectral-pass.js';

/**
 * The geometric median, then one hard spectral pass around it. On clean rows its error is close to
 * that of the mean. Under any minority of hostile rows its error is bounded. No rows give the zero
 * vector. Deterministic. Not private: estimators use it inside a group, where privacy never depends
 * on it.
 * @throws InvalidParameterError when an option is out of its range.
 */
export function robustMeanWithoutPrivacy(
  points: PointSet, options: SpectralPassOptions = {},
): Float64Array {
  return hardSpectralPass(points, geometricMedian(points), options).mean;
}
