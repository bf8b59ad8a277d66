import type { Describe } from '../../../base/number-info.js';
import { covariancesOf, describeMeans } from '../../contract/describe.js';

/** The means, then the covariance row by row. */
export const describeGaussian: Describe = (values, columns) =>
  [...describeMeans(values, columns), ...covariancesOf(columns)];
