import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { checkColumnsMax } from '../../contract/given.js';
import { choiceOf, numberOf, optionalNumberOf } from '../../contract/values.js';
import { groupsMax } from '../../mean/populous-mean/stability.js';
import { planBounded } from './bounded.js';
import { planUnbounded } from './unbounded.js';
import { varianceBoundsOf, varianceParameters } from './variance-bounds.js';

/** A release of more columns, with its intervals, would not fit a subscriber's buffer. */
const columnsMax = 200;

const parameters: readonly ParameterSpec[] = [
  {
    name: 'preconditioner', type: 'choice', choices: ['bounded', 'unbounded'], default: 'bounded',
    description: 'bounded: variances lie between variance-low and variance-high; unbounded: '
      + 'nothing is known of them, at '
      + 'the price of a cost at one Renyi order, which live needs a budget with rule renyi',
  },
  ...varianceParameters,
  {
    name: 'local', type: 'choice', choices: ['empirical', 'robust'], default: 'empirical',
    description: 'unbounded: how a group takes its covariance; robust bears the hostile share '
      + 'corruption in every group',
  },
  {
    name: 'corruption', type: 'number', default: 0.02, minimum: 0, maximum: 0.05,
    unit: 'share of contributors',
    description: 'local=robust: hostile share for which groups must still agree; privacy does not '
      + 'depend on it',
  },
  {
    name: 'mask', type: 'choice', choices: ['wishart', 'affine'], default: 'wishart',
    description: 'unbounded: how the average of the groups is masked; affine is the form of the '
      + 'paper',
  },
  {
    name: 'groups', type: 'integer', optional: true, minimum: 40, maximum: groupsMax,
    description: 'unbounded: number of groups; chosen when absent',
  },
];

/**
 * The covariance of rows, private and accurate in every direction relative to the variance there:
 * an invertible linear map of the data within the bounds leaves the answer as good as before.
 *
 * There are two forms: with public bounds on the variance (bounded), and without (unbounded).
 * Claim, neighbours, cost, proof and source of each are in its file.
 */
export const covariance: Estimator = {
  name: 'covariance',
  title: 'Covariance, accurate relative to every direction’s own variance',
  citations: [
    cite('AL22', 'section 5, with the preconditioner of KLSU19 in place of Algorithm 3'),
    cite('KLSU19', 'section 3'),
  ],
  parameters,
  shelf: 'recommended',
  assumption: 'Nobody sends false rows, and tails are like those of a normal distribution or '
    + 'lighter.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP without delta, '
    + 'rho split between '
    + 'the number of pairs, the rounds of the map and the second moments after it; without bounds '
    + 'a divergence at one order.',
  plan: planCovariance,
  outputLabels: (_, columns) => columns.flatMap(
    (row) => columns.map((column) => `${row}, ${column}`),
  ),
};

/**
 * @throws InvalidParameterError past 200 columns, or when the lower bound is above the upper one.
 */
function planCovariance(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  checkColumnsMax('covariance', facts.dimension, columnsMax);
  const bounds = varianceBoundsOf(values);
  if (choiceOf(values, 'preconditioner') === 'bounded') return planBounded(facts, bounds);
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
