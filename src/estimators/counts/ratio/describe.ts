import type { Describe } from '../../../base/number-info.js';

/** Both totals are of values from 0 to a cap. */
export const describeRatio: Describe = (_, columns) => {
  const [column, per] = [columns[0]?.name ?? 'first', columns[1]?.name ?? 'second'];
  return [{ kind: 'ratio', column, per, least: 0 }];
};
