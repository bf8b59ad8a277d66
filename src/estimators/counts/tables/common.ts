import { InvalidParameterError } from '../../../base/errors.js';
import { limits } from '../../../base/limits.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { ExpectedError, ParameterSpec, ParameterValues } from '../../contract/estimator.js';
import { optionalNumberOf } from '../../contract/values.js';

/** Which column a query is about. */
export const columnParameter: ParameterSpec = {
  name: 'column', type: 'integer', optional: true, minimum: 0, maximum: limits.columns - 1, unit: 'index from 0',
  description: 'the column that is asked about; may be left out when there is one only',
};

/**
 * The index of the column that a query is about.
 * @throws InvalidParameterError when rows have no such column, or several and none was named.
 */
export function columnOf(values: ParameterValues, dimension: number): number {
  const column = optionalNumberOf(values, 'column');
  if (column === undefined && dimension === 1) return 0;
  if (column !== undefined && column < dimension) return column;
  const why = column === undefined ? 'is missing' : `is ${column}`;
  throw new InvalidParameterError(
    `parameters.column ${why}: rows have ${dimension} columns, give the index of one, from 0 to ${dimension - 1}`,
    { path: 'parameters.column', dimension },
  );
}

/** The name of that column, for labels. */
export function columnNameOf(values: ParameterValues, columns: readonly string[]): string {
  return columns[optionalNumberOf(values, 'column') ?? 0] ?? 'value';
}

/** Expected error from its parts; past `corruptionMax` nothing is promised. */
export function errorOf(
  parts: { readonly sampling: number; readonly noise: number; readonly bias: number },
  corruption: number,
  corruptionMax: number,
): ExpectedError {
  const { sampling, noise } = parts;
  const isPromised = corruption >= 0 && corruption <= corruptionMax;
  const bias = isPromised ? parts.bias : Infinity;
  return { total: isPromised ? Math.hypot(sampling, noise, bias) : Infinity, sampling, noise, bias };
}

/** The interval that covers the noise of each number. */
export function noiseInterval(
  estimate: readonly number[],
  deviation: readonly number[],
): { readonly low: readonly number[]; readonly high: readonly number[] } {
  return {
    low: estimate.map((value, i) => value - deviations95 * deviation[i]!),
    high: estimate.map((value, i) => value + deviations95 * deviation[i]!),
  };
}
