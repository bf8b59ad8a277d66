import type { Describe } from '../../../base/number-info.js';
import { about } from '../../contract/describe.js';
import { rangeOfColumn } from '../../contract/values.js';

/** The median of each column, within a public range if there is one. */
export const describeMedian: Describe = (values, columns) => columns.map((column, j) => {
  const range = rangeOfColumn(values, j);
  return {
    kind: 'median', ...about(column),
    ...range !== undefined && { least: range[0], most: range[1] },
  };
});
