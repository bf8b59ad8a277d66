import type { Describe } from '../../../base/number-info.js';
import { listOf } from '../../contract/values.js';

/** The place of the distribution that fits best. */
export const describeSelect: Describe = (values) => {
  const among = listOf(values, 'hypotheses');
  return [{ kind: 'choice', among, least: 0, most: among.length - 1 }];
};
