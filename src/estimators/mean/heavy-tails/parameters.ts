import { InvalidParameterError } from '../../../base/errors.js';
import type { ParameterSpec, ParameterValues } from '../../contract/estimator.js';
import {
  choiceOf, corruptionParameter, numberOf, optionalNumberOf, valueBounds,
} from '../../contract/values.js';
import type { Moment } from './truncation.js';

/** Past this corruption the hostile rows alone may decide the centre. */
export const corruptionLimit = 0.3;

/** Moments are around the mean, as in the paper. Their unit is the spread. */
export const momentParameters: readonly ParameterSpec[] = [
  {
    name: 'spread', type: 'positive', minimum: 1e-150, maximum: 1e150, unit: 'data units',
    description: 'public guess of the standard deviation of an honest row, one number or one per '
      + 'column, not taken from the data '
      + 'that it is used on',
  },
  {
    name: 'moment', type: 'number', default: 2, minimum: 2, maximum: 32, unit: 'order',
    description: 'order k of the moment that is bounded; a higher one promises lighter tails and '
      + 'is clipped closer',
  },
  {
    name: 'moment-bound', type: 'number', default: 1, minimum: 0.01, maximum: 1e6, unit: 'spreads',
    description: 'bound on the k-th root of the k-th moment of an honest row around its mean, in '
      + 'every column',
  },
  corruptionParameter(
    corruptionLimit,
    'fraction of false rows with which the centre must still be found; the mean itself is moved '
    + 'by that fraction of the clip radius',
  ),
  {
    name: 'clip-radius', type: 'number', optional: true, minimum: 0.1, maximum: 1e6,
    unit: 'spreads',
    description: 'rows farther than this from the centre are cut off; where noise and bias '
      + 'balance when absent',
  },
];

export const subsamplesParameter: ParameterSpec = {
  name: 'subsamples', type: 'integer', optional: true, minimum: 1, maximum: 99,
  description: 'odd number of subsamples whose median is the answer: more make a far-off answer '
    + 'rarer (about exp(-subsamples / 8)) and the noise larger; when absent the number up to 9 '
    + 'with the least planned error, which is 1',
};

export const armsParameter: ParameterSpec = {
  name: 'arms', type: 'choice', choices: ['split', 'one'], default: 'split',
  description: 'split: some contributors tell where the rows are, the others the mean, each at '
    + 'the full privacy cost; '
    + 'one: everybody does both, and the cost is divided',
};

export const radiusParameter: ParameterSpec = {
  name: 'radius', type: 'number', optional: true, minimum: 1e-150,
  maximum: valueBounds.maximum, unit: 'data units',
  description: 'public bound on the absolute value of the mean',
};

/** The assumption about rows: a bound on one moment. */
export function momentOf(values: ParameterValues): Moment {
  return { order: numberOf(values, 'moment'), bound: numberOf(values, 'moment-bound') };
}

/** True if the contributors are divided between finding the place and taking the mean. */
export function isSplit(values: ParameterValues): boolean {
  return choiceOf(values, 'arms') === 'split';
}

/** @throws InvalidParameterError when it is even. */
export function subsamplesOf(values: ParameterValues): number | undefined {
  const groups = optionalNumberOf(values, 'subsamples');
  if (groups !== undefined && groups % 2 === 0) {
    throw new InvalidParameterError(
      `parameters.subsamples is ${groups}: give an odd number, so that there is a median one`,
      { path: 'parameters.subsamples', value: groups },
    );
  }
  return groups;
}
