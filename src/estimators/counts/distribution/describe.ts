import { assert } from '../../../base/assert.js';
import type { Describe, NumberInfo } from '../../../base/number-info.js';
import { cellEdges } from '../../../base/running-counts.js';
import { about, askedColumn } from '../../contract/describe.js';
import { numbersOf } from '../../contract/values.js';

/** Quantiles of one column, then how many contributors are below each edge, and in all. */
export const describeDistribution: Describe = (values, columns) => {
  const column = about(askedColumn(values, columns));
  const edges = cellEdges(values);
  assert(edges !== null && edges.length > 1, 'there are edges');
  const [least, most] = [edges[0]!, edges.at(-1)!];
  return [
    ...numbersOf(values, 'probabilities').map((probability): NumberInfo =>
      ({ kind: 'quantile', probability, ...column, least, most })),
    ...edges.map((edge): NumberInfo =>
      ({ kind: 'below', column: column.column, edge, least: 0 })),
    { kind: 'below', column: column.column, least: 0 },
  ];
};
