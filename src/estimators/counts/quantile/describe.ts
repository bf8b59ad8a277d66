import { assert } from '../../../base/assert.js';
import type { Describe } from '../../../base/number-info.js';
import { about, askedColumn } from '../../contract/describe.js';
import { numbersOf, optionalNumberOf, rangeOfColumn } from '../../contract/values.js';

/** Quantiles of one column, chosen within a public range. */
export const describeQuantile: Describe = (values, columns) => {
  const column = about(askedColumn(values, columns));
  const range = rangeOfColumn(values, optionalNumberOf(values, 'column') ?? 0);
  assert(range !== undefined, 'there is a range');
  const [least, most] = range;
  return numbersOf(values, 'probabilities').map((probability) =>
    ({ kind: 'quantile', probability, ...column, least, most }));
};
