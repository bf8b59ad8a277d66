import { InvalidParameterError } from '../../../base/errors.js';
import type { ParameterSpec, ParameterValues, StudyFacts } from '../../contract/estimator.js';
import {
  choiceOf, corruptionParameter, numberOf, optionalNumberOf, spreadParameter,
} from '../../contract/values.js';
import type { DesignFacts } from './design.js';
import { meanLocal, robustLocal } from './deviation.js';
import { groupsMax, groupsMin, type Thresholds } from './stability.js';

/** The parameters of `populous-mean`. */
export const populousParameters: readonly ParameterSpec[] = [
  spreadParameter,
  corruptionParameter(
    0.3, 'fraction of false rows for which the groups must still agree; privacy does not depend '
      + 'on it',
  ),
  {
    name: 'local', type: 'choice', choices: ['robust', 'mean'], default: 'robust',
    description: 'how a subsample sums up its rows; mean needs less memory and tolerates almost no '
      + 'hostile row',
  },
  {
    name: 'subsamples', type: 'integer', optional: true, minimum: groupsMin, maximum: groupsMax,
    description: 'number of subsamples; chosen for the least noise when absent',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 1e-6, maximum: 1e6, unit: 'spreads',
    description: 'two subsamples agree when their points are this close; chosen when absent',
  },
  {
    name: 'test-part', type: 'number', optional: true, minimum: 0.02, maximum: 0.95,
    unit: 'part of rho',
    description: 'part of the cost that the agreement test takes; chosen when absent',
  },
  {
    name: 'agreement', type: 'number', optional: true, minimum: 0.55, maximum: 0.99,
    unit: 'share of pairs',
    description: 'mean agreement that the test must find; chosen when absent, together with the '
      + 'two below',
  },
  {
    name: 'weightless', type: 'number', optional: true, minimum: 0.515, maximum: 0.95,
    unit: 'share of subsamples',
    description: 'a subsample that agrees with fewer weighs nothing',
  },
  {
    name: 'full-weight', type: 'number', optional: true, minimum: 0.52, maximum: 0.97,
    unit: 'share of subsamples',
    description: 'a subsample that agrees with more has full weight',
  },
];

/**
 * @throws InvalidParameterError when only some of the three are given, or they do not fit together.
 */
function thresholdsOf(values: ParameterValues): Thresholds | undefined {
  const agreement = optionalNumberOf(values, 'agreement');
  const none = optionalNumberOf(values, 'weightless');
  const full = optionalNumberOf(values, 'full-weight');
  if (agreement === undefined && none === undefined && full === undefined) return undefined;
  if (agreement === undefined || none === undefined || full === undefined
      || !(none < full && none < agreement)) {
    throw new InvalidParameterError(
      'parameters.agreement, weightless and full-weight belong together: give all three or none, '
      + 'with weightless below the other two',
      { path: 'parameters.agreement', agreement, weightless: none, 'full-weight': full },
    );
  }
  return { agreement, none, full };
}

/** Parsed parameters and public facts as the designer wants them. */
export function designFactsOf(values: ParameterValues, facts: StudyFacts): DesignFacts {
  const thresholds = thresholdsOf(values);
  const groups = optionalNumberOf(values, 'subsamples');
  const radius = optionalNumberOf(values, 'radius');
  const testPart = optionalNumberOf(values, 'test-part');
  return {
    cohort: facts.cohort,
    dimension: facts.dimension,
    rho: facts.target.rho,
    delta: facts.target.delta,
    corruption: numberOf(values, 'corruption'),
    local: choiceOf(values, 'local') === 'mean' ? meanLocal : robustLocal,
    ...(thresholds === undefined ? {} : { thresholds }),
    ...(groups === undefined ? {} : { groups }),
    ...(radius === undefined ? {} : { radius }),
    ...(testPart === undefined ? {} : { testPart }),
  };
}
