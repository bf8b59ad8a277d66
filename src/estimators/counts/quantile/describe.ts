import type { Describe } from '../../../base/number-info.js';
import { about, askedColumn } from '../../contract/describe.js';
import { numbersOf, optionalNumberOf, rangeOfColumn } from '../../contract/values.js';

/** Quantiles of one column, within a public range if there is one. */
export const describeQuantile: Describe = (values, columns) => {
  const column = about(askedColumn(values, columns));
  const range = rangeOfColumn(values, optionalNumberOf(values, 'column') ?? 0);
  const ends = range === undefined ? {} : { least: range[0], most: range[1] };
  return numbersOf(values, 'probabilities').map((probability) =>
    ({ kind: 'quantile', probability, ...column, ...ends }));
};
