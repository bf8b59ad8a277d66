import type { PointSet } from '../numerics/points.js';
import { geometricMedian } from './geometric-median.js';
import { hardSpectralPass, type SpectralPassOptions } from './spectral-pass.js';

/**
 * The geometric median, then one hard spectral pass around it: close to the mean in efficiency on
 * clean rows, bounded under any minority of hostile ones. No row gives the zero vector. Total and
 * deterministic; not private: estimators use it inside a group, where privacy never depends on it.
 * @throws InvalidParameterError when an option is out of its range.
 */
export function robustMean(points: PointSet, options: SpectralPassOptions = {}): Float64Array {
  return hardSpectralPass(points, geometricMedian(points), options).mean;
}
