import type { Describe } from '../../../base/number-info.js';
import { about, askedColumn } from '../../contract/describe.js';
import { numberOf, numbersOf } from '../../contract/values.js';

/** Quantiles of one column, chosen within a public range. */
export const describeQuantile: Describe = (values, columns) => {
  const column = about(askedColumn(values, columns));
  const [least, most] = [numberOf(values, 'low'), numberOf(values, 'high')];
  return numbersOf(values, 'probabilities').map((probability) =>
    ({ kind: 'quantile', probability, ...column, least, most }));
};
