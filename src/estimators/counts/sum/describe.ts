import { assert } from '../../../base/assert.js';
import type { Describe, NumberInfo } from '../../../base/number-info.js';
import { numbersOf, optionalNumbersOf } from '../../contract/values.js';

/** A total for each column, of values within bounds that are given, or up to a bound found. */
export const describeSum: Describe = (values, columns) => {
  const range = optionalNumbersOf(values, 'range');
  const isFound = values['cap'] === 'auto';
  const ends = range
    ?? numbersOf(values, isFound ? 'cap-max' : 'cap').flatMap((cap) => [0, cap]);
  assert(ends.length === 2 * columns.length, 'there are two bounds for each column');
  return columns.map(({ name: column, unit }, j): NumberInfo => {
    const [low, high] = [ends[2 * j]!, ends[2 * j + 1]!];
    return {
      kind: 'total', column, each: [low, high], ...(isFound && { isFound }),
      ...(unit !== undefined && { unit }),
      // People may stay away, so a total of values that all have one sign may also be 0.
      ...(low >= 0 && { least: 0 }), ...(high <= 0 && { most: 0 }),
    };
  });
};
