import type { Describe } from '../../../base/number-info.js';
import { about } from '../../contract/describe.js';

/** The coordinates of the deepest point: a middle in every column. */
export const describeTukeyMedian: Describe = (_, columns) =>
  columns.map((column) => ({ kind: 'median', ...about(column) }));
