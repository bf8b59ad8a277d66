import type { Describe } from '../../../base/number-info.js';
import { askedColumn, askedSide } from '../../contract/describe.js';

/** The fraction of the contributors on one side of a threshold. */
export const describeShare: Describe = (values, columns) => {
  const column = askedColumn(values, columns);
  return [{
    kind: 'share', column: column.name, side: askedSide(values, column), least: 0, most: 1,
  }];
};
