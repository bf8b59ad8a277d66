import { cite } from '../../contract/citations.js';
import { describeCovariance } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { checkColumnsMax } from '../../contract/given.js';
import { choiceOf, numberOf, optionalNumberOf } from '../../contract/values.js';
import { groupsMax } from '../../mean/populous-mean/stability.js';
import { columnsMax } from '../moments/outcomes.js';
import { planGroups } from './groups.js';
import { planMasked } from './masked.js';

const parameters: readonly ParameterSpec[] = [
  {
    name: 'subsamples', type: 'integer', optional: true, minimum: 40, maximum: groupsMax,
    description: 'number of subsamples; chosen when absent',
  },
  {
    name: 'local', type: 'choice', choices: ['empirical', 'robust'], default: 'empirical',
    description: 'how a subsample takes its covariance; robust bears the stated corruption in '
      + 'every one',
  },
  {
    name: 'corruption', type: 'number', default: 0.02, minimum: 0, maximum: 0.05,
    unit: 'share of contributors',
    description: 'local=robust: share of false rows with which subsamples must still agree; '
      + 'privacy does not depend on it',
  },
  {
    name: 'mask', type: 'choice', choices: ['none', 'wishart', 'affine'], default: 'none',
    description: 'none: histograms of the subsamples find a map, and noise is added after it; '
      + 'wishart or affine: the average of subsamples that agree is masked, affine as in the '
      + 'paper. This needs more contributors. Its cost is known at one Renyi order, which live '
      + 'needs a budget with rule renyi',
  },
];

/**
 * The covariance of rows, from the covariances of random subsamples of the contributors. Nothing
 * need be known of the variances.
 *
 * There are two forms: after a map that the subsamples agree on (groups.ts), and under a mask
 * (masked.ts). Claim, neighbours, cost, proof and source of each are in its file. With
 * `local: robust` both resist a share `corruption` of false rows.
 */
export const subsampleCovariance: Estimator = {
  name: 'subsample-covariance',
  title: 'Covariance from subsamples that agree, with nothing known of the variances',
  citations: [
    cite('AL22', 'section 5; with a mask Algorithms 1, 3 and 4'),
    cite('KLSU19', 'section 3, for the rows after a mask'),
  ],
  parameters,
  maturity: 'research',
  describe: describeCovariance,
  assumption: 'Honest rows are about normal, and no column is a mixture of the others.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, rho split between a map, the number of subsamples and their mean; with a mask a '
    + 'divergence at one order.',
  plan: planSubsamples,
};

/** @throws InvalidParameterError past 200 columns. */
function planSubsamples(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { dimension, cohort, target } = facts;
  checkColumnsMax('subsample-covariance', dimension, columnsMax);
  const groups = optionalNumberOf(values, 'subsamples');
  const local = choiceOf(values, 'local') === 'robust' ? 'robust' : 'empirical';
  const common = { dimension, cohort, local, ...(groups !== undefined && { groups }) } as const;
  const corruption = numberOf(values, 'corruption');
  const mask = choiceOf(values, 'mask');
  if (mask === 'none') {
    const { rho, delta } = target;
    const borne = local === 'robust' ? corruption : 0;
    return planGroups(facts, { ...common, rho, delta, corruption: borne });
  }
  return planMasked(facts, {
    ...common, target, corruption, kind: mask === 'affine' ? 'affine' : 'wishart',
  });
}
