import { cite } from '../../contract/citations.js';
import { describeCovariance } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { checkColumnsMax } from '../../contract/given.js';
import { betterPlan, infeasible } from '../../contract/planning.js';
import { choiceOf, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import { groupsMax } from '../../mean/populous-mean/stability.js';
import { planPooled } from '../../pooled/estimator.js';
import { planBounded } from './bounded.js';
import { designCentred } from './centred.js';
import { planGroups } from './groups.js';
import { planUnbounded } from './unbounded.js';
import { conditionOf, optionalVarianceParameters, varianceBoundsOf } from './variance-bounds.js';

/** A release of more columns, with its intervals, would not fit a subscriber's buffer. */
const columnsMax = 200;

const parameters: readonly ParameterSpec[] = [
  {
    name: 'preconditioner', type: 'choice', choices: ['bounded', 'unbounded'], default: 'bounded',
    description: 'bounded: from all rows, or from pairs of rows where the release has no delta; '
      + 'unbounded: from groups of rows, and nothing need be known of the variances',
  },
  scaleParameter,
  ...optionalVarianceParameters,
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
    name: 'mask', type: 'choice', choices: ['none', 'wishart', 'affine'], default: 'none',
    description: 'unbounded: none: histograms of the groups find a map, and noise is added after '
      + 'it; wishart or affine: the average of groups that agree is masked, affine as in the '
      + 'paper. This needs more contributors. Its cost is known at one Renyi order, which live '
      + 'needs a budget with rule renyi',
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
 * There are four forms: from all rows (centred.ts), which needs a delta for scale and centre; from
 * pairs of rows (bounded.ts), which needs none; from groups after a map (groups.ts); and from
 * groups under a mask (unbounded.ts). Of the first two the plan takes the one with the smaller
 * expected error; its fact `madeFrom` names it. Claim, neighbours, cost, proof and source of each
 * are in its file.
 *
 * None of the first two resists hostile rows: the guarantee promises accuracy for no share of them.
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
  describe: describeCovariance,
  assumption: 'Nobody sends false rows, and honest rows have no very long tails.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, rho split between scale, centre, the number of rows, the rounds of the map, a '
    + 'histogram of distances and the second moments; from pairs of rows rho-zCDP without delta; '
    + 'from groups (rho, delta), split between a map, their number and their mean; with a mask a '
    + 'divergence at one order.',
  plan: planCovariance,
};

/**
 * @throws InvalidParameterError past 200 columns, or when the lower bound is above the upper one.
 */
function planCovariance(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  checkColumnsMax('covariance', facts.dimension, columnsMax);
  if (choiceOf(values, 'preconditioner') === 'bounded') return planWithin(values, facts);
  const { dimension, cohort, target } = facts;
  const groups = optionalNumberOf(values, 'groups');
  const local = choiceOf(values, 'local') === 'robust' ? 'robust' : 'empirical';
  const common = { dimension, cohort, local, ...(groups !== undefined && { groups }) } as const;
  const corruption = numberOf(values, 'corruption');
  const mask = choiceOf(values, 'mask');
  if (mask === 'none') {
    const { rho, delta } = target;
    const borne = local === 'robust' ? corruption : 0;
    return planGroups(facts, { ...common, rho, delta, corruption: borne });
  }
  return planUnbounded(facts, {
    ...common, target, corruption, kind: mask === 'affine' ? 'affine' : 'wishart',
  });
}

/**
 * From all rows or from pairs of rows, whichever the plan expects the smaller error of. Pairs need
 * bounds, since nothing finds their unit.
 */
function planWithin(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const bounds = varianceBoundsOf(values);
  const pairs = bounds === null ? infeasible(
    'without a delta nothing finds how wide the rows are',
    'give variance-low and variance-high, or ask for (epsilon, delta) with delta > 0',
  ) : planBounded(facts, bounds);
  if (!(facts.target.delta > 0) || facts.target.isPure === true) return pairs;
  const condition = conditionOf(values);
  const all = planPooled({ design: (request) => designCentred(request, condition) }, values, facts);
  return bounds === null ? all : betterPlan(all, pairs);
}
