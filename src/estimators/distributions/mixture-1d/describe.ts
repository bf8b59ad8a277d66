import type { Describe, NumberInfo } from '../../../base/number-info.js';
import { about, askedColumn, countedBy } from '../../contract/describe.js';

/** Weight, mean and deviation of each component in turn. */
export const describeMixture1d: Describe = (values, columns) => {
  const { unit, ...rest } = about(askedColumn(values, columns));
  const of = { column: rest.column, ...(unit !== undefined && { unit }) };
  return countedBy(values, 'components').flatMap((component): readonly NumberInfo[] => [
    { kind: 'weight', component, least: 0, most: 1 },
    { kind: 'mean', ...of, component },
    { kind: 'deviation', ...of, component, least: 0 },
  ]);
};
