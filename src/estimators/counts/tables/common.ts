import { InvalidParameterError } from '../../../base/errors.js';
import { protocolLimits } from '../../../base/limits.js';
import type { ParameterSpec, ParameterValues } from '../../contract/estimator.js';
import { choiceOf, optionalNumberOf } from '../../contract/values.js';

/** Which column a query is about. */
export const columnParameter: ParameterSpec = {
  name: 'column', type: 'integer', optional: true, minimum: 0, maximum: protocolLimits.columns - 1,
  unit: 'index from 0',
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
  if (dimension === 0) {
    throw new InvalidParameterError(
      'parameters.column: the question has no columns, give it the one that is asked about',
      { path: 'parameters.column', dimension },
    );
  }
  const why = column === undefined ? 'is missing' : `is ${column}`;
  throw new InvalidParameterError(
    `parameters.column ${why}: rows have ${dimension} columns, give the index of one, from 0 to `
    + `${dimension - 1}`,
    { path: 'parameters.column', dimension },
  );
}

/** Which side of a public threshold is asked about. */
export const sideParameter: ParameterSpec = {
  name: 'side', type: 'choice', choices: ['at-least', 'below'], default: 'at-least',
  description: 'the side of the threshold that is counted',
};

/** True if a value is on the side that is asked about. */
export function sideOf(values: ParameterValues, threshold: number): (value: number) => boolean {
  const isBelow = choiceOf(values, 'side') === 'below';
  return (value) => value < threshold === isBelow;
}
