import type { Describe } from '../../../base/number-info.js';
import { about, askedColumn } from '../../contract/describe.js';

/** The mean of one column. */
export const describeHeavyTailed1d: Describe = (values, columns) =>
  [{ kind: 'mean', ...about(askedColumn(values, columns)) }];
