import type { Describe } from '../../../base/number-info.js';
import { askedColumn, askedSide } from '../../contract/describe.js';
import { optionalNumberOf } from '../../contract/values.js';

/** How many contributors, or on one side of a threshold, or how many groups they have. */
export const describeCount: Describe = (values, columns) => {
  if (values['of'] === 'groups') return [{ kind: 'groups', least: 0 }];
  if (optionalNumberOf(values, 'threshold') === undefined) return [{ kind: 'count', least: 0 }];
  const column = askedColumn(values, columns);
  return [{ kind: 'count', column: column.name, side: askedSide(values, column), least: 0 }];
};
