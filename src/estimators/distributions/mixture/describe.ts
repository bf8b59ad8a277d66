import type { Describe, NumberInfo } from '../../../base/number-info.js';
import { countedBy, covariancesOf } from '../../contract/describe.js';

/** The weights of all components, then their means, then their covariances. */
export const describeMixture: Describe = (values, columns) => {
  const components = countedBy(values, 'components');
  return [
    ...components.map((component): NumberInfo =>
      ({ kind: 'weight', component, least: 0, most: 1 })),
    ...components.flatMap((component) => columns.map(({ name: column, unit }): NumberInfo =>
      ({ kind: 'mean', column, component, ...(unit !== undefined && { unit }) }))),
    ...components.flatMap((component) => covariancesOf(columns, component)),
  ];
};
