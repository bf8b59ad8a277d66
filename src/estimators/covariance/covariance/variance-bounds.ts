import { InvalidParameterError } from '../../../base/errors.js';
import type { ParameterSpec, ParameterValues } from '../../contract/estimator.js';
import { numberOf } from '../../contract/values.js';

/** Public bounds on the variance of honest rows in every direction. */
export interface VarianceBounds {
  readonly varianceLow: number;
  readonly varianceHigh: number;
}

export const varianceParameters: readonly ParameterSpec[] = [
  {
    name: 'variance-low', type: 'number', default: 1e-12, minimum: 1e-200, maximum: 1e200,
    unit: 'data units squared',
    description: 'public lower bound on the variance of honest rows in every direction, not only '
      + 'along the columns',
  },
  {
    name: 'variance-high', type: 'number', default: 1e12, minimum: 1e-200, maximum: 1e200,
    unit: 'data units squared',
    description: 'public upper bound on the variance of honest rows in every direction; close '
      + 'bounds save noise',
  },
];

/** @throws InvalidParameterError when the lower bound is above the upper one. */
export function varianceBoundsOf(values: ParameterValues): VarianceBounds {
  const varianceLow = numberOf(values, 'variance-low');
  const varianceHigh = numberOf(values, 'variance-high');
  if (varianceLow <= varianceHigh) return { varianceLow, varianceHigh };
  throw new InvalidParameterError(
    'variance-low must not be above variance-high', { varianceLow, varianceHigh },
  );
}
