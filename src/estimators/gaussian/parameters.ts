import { InvalidParameterError } from '../../base/errors.js';
import type { ParameterSpec, ParameterValues } from '../contract.js';
import { choiceOf, numberOf } from '../values.js';

/** A release of more columns, with its intervals, is longer than a subscriber's buffer. */
export const columnsMax = 100;

export const parameters: readonly ParameterSpec[] = [
  {
    name: 'variance-low', type: 'number', default: 1e-12, minimum: 1e-200, maximum: 1e200, unit: 'data units squared',
    description: 'public lower bound on the variance of honest rows in every direction, not only along the columns',
  },
  {
    name: 'variance-high', type: 'number', default: 1e12, minimum: 1e-200, maximum: 1e200, unit: 'data units squared',
    description: 'public upper bound on the variance of honest rows in every direction; close bounds save noise',
  },
  {
    name: 'accuracy', type: 'number', default: 0.25, minimum: 0.01, maximum: 1, unit: 'total variation',
    description: 'the expected distance between the answer and the truth that a plan must promise',
  },
  {
    name: 'cohorts', type: 'choice', choices: ['shared', 'split'], default: 'shared',
    description: 'shared: every contributor serves covariance and mean, which share the cost; split: one of them each, '
      + 'at the whole cost',
  },
];

/** What a study asks for. */
export interface GaussianChoice {
  readonly varianceLow: number;
  readonly varianceHigh: number;
  /** Total variation. */
  readonly accuracy: number;
  readonly isShared: boolean;
}

/** @throws InvalidParameterError when the variance bounds are the wrong way round. */
export function choiceFrom(values: ParameterValues): GaussianChoice {
  const [varianceLow, varianceHigh] = [numberOf(values, 'variance-low'), numberOf(values, 'variance-high')];
  if (!(varianceLow <= varianceHigh)) {
    throw new InvalidParameterError('variance-low must not be above variance-high', { varianceLow, varianceHigh });
  }
  return {
    varianceLow, varianceHigh, accuracy: numberOf(values, 'accuracy'), isShared: choiceOf(values, 'cohorts') === 'shared',
  };
}
