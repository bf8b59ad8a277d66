import { InvalidParameterError } from '../../../base/errors.js';
import type { Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { choiceOf, numberOf, optionalNumberOf } from '../../contract/values.js';
import { groupsMax } from '../../mean/populous-mean/stability.js';
import { planBounded } from './bounded.js';
import { planUnbounded } from './unbounded.js';

/** A release of more columns, with its intervals, is longer than a subscriber's buffer. */
const columnsMax = 200;

const parameters: readonly ParameterSpec[] = [
  {
    name: 'preconditioner', type: 'choice', choices: ['bounded', 'unbounded'], default: 'bounded',
    description: 'bounded: variances lie between variance-low and variance-high; unbounded: nothing is known of them, at '
      + 'the price of a cost at one Renyi order, which live needs a budget with rule renyi',
  },
  {
    name: 'variance-low', type: 'number', default: 1e-12, minimum: 1e-200, maximum: 1e200, unit: 'data units squared',
    description: 'public lower bound on the variance of honest rows in every direction, not only along the columns',
  },
  {
    name: 'variance-high', type: 'number', default: 1e12, minimum: 1e-200, maximum: 1e200, unit: 'data units squared',
    description: 'public upper bound on the variance of honest rows in every direction; close bounds save noise',
  },
  {
    name: 'local', type: 'choice', choices: ['empirical', 'robust'], default: 'empirical',
    description: 'unbounded: how a group takes its covariance; robust bears the hostile share corruption in every group',
  },
  {
    name: 'corruption', type: 'number', default: 0.02, minimum: 0, maximum: 0.05, unit: 'share of contributors',
    description: 'local=robust: hostile share for which groups must still agree; privacy does not depend on it',
  },
  {
    name: 'mask', type: 'choice', choices: ['wishart', 'affine'], default: 'wishart',
    description: 'unbounded: how the average of the groups is masked; affine is the form of the paper',
  },
  {
    name: 'groups', type: 'integer', optional: true, minimum: 40, maximum: groupsMax,
    description: 'unbounded: number of groups; chosen when absent',
  },
];

/**
 * The covariance of rows, private and accurate in every direction relative to the variance there: after any invertible
 * linear map of the data within the bounds the answer is as good as before it.
 */
export const covariance: Estimator = {
  name: 'covariance',
  title: 'Covariance, accurate relative to every direction’s own variance',
  citations: [{
    key: 'AL22',
    text: 'H. Ashtiani, C. Liaw. Private and polynomial time algorithms for learning Gaussians and beyond. COLT 2022.',
    place: 'section 5, with the preconditioner of KLSU19 in place of Algorithm 3',
  }, {
    key: 'KLSU19',
    text: 'G. Kamath, J. Li, V. Singhal, J. Ullman. Privately learning high-dimensional distributions. COLT 2019.',
    place: 'section 3',
  }],
  parameters,
  shelf: 'recommended',
  assumption: 'Nobody sends false rows, and tails are like those of a normal distribution or lighter.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP without delta, rho split between '
    + 'the number of pairs, the rounds of the map and the second moments after it; without bounds a divergence at one order.',
  plan: planCovariance,
  outputLabels: (_, columns) => columns.flatMap((row) => columns.map((column) => `${row}, ${column}`)),
};

/** @throws InvalidParameterError past 200 columns, or when the bounds are the wrong way round. */
function planCovariance(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  if (facts.dimension > columnsMax) {
    throw new InvalidParameterError(
      `estimator covariance takes at most ${columnsMax} columns: leave out columns, or plan several studies`,
      { path: 'columns', dimension: facts.dimension, columnsMax },
    );
  }
  const [varianceLow, varianceHigh] = [numberOf(values, 'variance-low'), numberOf(values, 'variance-high')];
  if (!(varianceLow <= varianceHigh)) {
    throw new InvalidParameterError('variance-low must not be above variance-high', { varianceLow, varianceHigh });
  }
  if (choiceOf(values, 'preconditioner') === 'bounded') return planBounded(facts, { varianceLow, varianceHigh });
  const groups = optionalNumberOf(values, 'groups');
  return planUnbounded(facts, {
    dimension: facts.dimension,
    cohort: facts.cohort,
    target: facts.target,
    local: choiceOf(values, 'local') === 'robust' ? 'robust' : 'empirical',
    kind: choiceOf(values, 'mask') === 'affine' ? 'affine' : 'wishart',
    corruption: numberOf(values, 'corruption'),
    ...(groups !== undefined && { groups }),
  });
}
