import { InvalidParameterError } from '../../../base/errors.js';
import type { ParameterSpec, ParameterValues } from '../../contract/estimator.js';
import { optionalNumberOf } from '../../contract/values.js';

/** Public bounds on the variance of honest rows in every direction. */
export interface VarianceBounds {
  readonly varianceLow: number;
  readonly varianceHigh: number;
}

/** The ratio of the bounds where one is given. Rounds grow with its logarithm. */
const ratioMost = 1e24;
/**
 * How many times wider directions are planned for when no bound is given. A plan is for the worst
 * noise, so it suits rows of condition 1e4 as well: from 5,000 rows of 5 columns and 8,000 of 10 on
 * its errors were within a tenth of those of a plan for 1e4. Planned for 1e4, rows of condition 1
 * and 31 had errors up to a quarter larger there. At condition 1e6 releases say `direction-unseen`,
 * unless there are rows enough.
 */
const usualCondition = 300;

const low: ParameterSpec = {
  name: 'variance-low', type: 'number', minimum: 1e-200, maximum: 1e200,
  unit: 'data units squared',
  description: 'public lower bound on the variance of honest rows in every direction, not only '
    + 'along the columns',
};
const high: ParameterSpec = {
  name: 'variance-high', type: 'number', minimum: 1e-200, maximum: 1e200,
  unit: 'data units squared',
  description: 'public upper bound on the variance of honest rows in every direction; close '
    + 'bounds save noise',
};

/**
 * Nothing need be said: with neither bound, a plan from all rows is made for directions that vary
 * up to 300 times more than others. Where one is left out, it is 1e24 times away from the other.
 */
export const optionalVarianceParameters: readonly ParameterSpec[] =
  [{ ...low, optional: true }, { ...high, optional: true }];

/**
 * Null where neither is given.
 * @throws InvalidParameterError when the lower bound is above the upper one.
 */
export function varianceBoundsOf(values: ParameterValues): VarianceBounds | null {
  const low = optionalNumberOf(values, 'variance-low');
  const high = optionalNumberOf(values, 'variance-high');
  if (low === undefined && high === undefined) return null;
  const varianceLow = low ?? high! / ratioMost;
  const varianceHigh = high ?? low! * ratioMost;
  if (varianceLow <= varianceHigh) return { varianceLow, varianceHigh };
  throw new InvalidParameterError(
    'variance-low must not be above variance-high', { varianceLow, varianceHigh },
  );
}

/** A plan's assumption about `conditionOf`. */
export function assumedCondition(condition: number): string {
  return `for accuracy: rows vary at most ${condition} times more in one direction than in `
    + 'another, in spreads';
}

/**
 * How many times more honest rows may vary in one direction than in another. Columns divided by
 * their deviations have no smaller least variance than variance-low over variance-high.
 */
export function conditionOf(values: ParameterValues): number {
  const bounds = varianceBoundsOf(values);
  return bounds === null ? usualCondition : bounds.varianceHigh / bounds.varianceLow;
}
