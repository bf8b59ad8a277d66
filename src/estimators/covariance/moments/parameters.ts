import type { ParameterSpec } from '../../contract/estimator.js';

/** The difference of variances that the map must even out between directions. */
export const conditionParameter: ParameterSpec = {
  name: 'condition', type: 'number', default: 1000, minimum: 1, maximum: 1e12,
  description: 'public bound on how many times wider honest rows may vary in one direction than in '
    + 'another, in spreads squared',
};
