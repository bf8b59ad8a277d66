import { assert } from '../../../base/assert.js';
import type { Describe, NumberInfo } from '../../../base/number-info.js';
import { optionalNumbersOf } from '../../contract/values.js';

/** A total for each column, of values within bounds that are given, or up to a bound found. */
export const describeSum: Describe = (values, columns) => {
  const range = optionalNumbersOf(values, 'range');
  const isFound = values['cap'] === 'auto';
  const ends = range
    ?? optionalNumbersOf(values, isFound ? 'cap-max' : 'cap')?.flatMap((cap) => [0, cap]);
  assert(
    ends === undefined || ends.length === 2 * columns.length,
    'there are two bounds for each column',
  );
  return columns.map(({ name: column, unit }, j): NumberInfo => {
    const total = { kind: 'total', column, ...(unit !== undefined && { unit }) } as const;
    // Not yet: a command asks what a total is before it reads its bounds.
    if (ends === undefined) return total;
    const [low, high] = [ends[2 * j]!, ends[2 * j + 1]!];
    return {
      ...total, each: [low, high], ...(isFound && { isFound }),
      // People may stay away, so a total of values that all have one sign may also be 0.
      ...(low >= 0 && { least: 0 }), ...(high <= 0 && { most: 0 }),
    };
  });
};
