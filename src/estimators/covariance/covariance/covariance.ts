import { cite } from '../../contract/citations.js';
import { describeCovariance } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { checkColumnsMax } from '../../contract/given.js';
import { betterPlan, infeasible } from '../../contract/planning.js';
import { spreadParameter } from '../../contract/values.js';
import { planPooled, type DesignRequest } from '../../pooled/estimator.js';
import { columnsMax } from '../moments/outcomes.js';
import { planBounded } from './bounded.js';
import { designCentred } from './centred.js';
import { conditionOf, optionalVarianceParameters, varianceBoundsOf } from './variance-bounds.js';

/** The corruption with which the spread is still found. The covariance bears none. */
const borne = 0.02;

const parameters: readonly ParameterSpec[] = [spreadParameter, ...optionalVarianceParameters];

/**
 * The covariance of rows, private and accurate in every direction relative to the variance there:
 * an invertible linear map of the data within the bounds leaves the answer as good as before.
 *
 * There are two forms: from all rows (centred.ts), which needs a delta for spread and centre, and
 * from pairs of rows (bounded.ts), which needs none. The plan takes the one with the smaller
 * expected error; its fact `madeFrom` names it. Claim, neighbours, cost, proof and source of each
 * are in its file.
 *
 * Neither resists hostile rows: the guarantee promises accuracy for no share of them.
 */
export const covariance: Estimator = {
  name: 'covariance',
  title: 'Covariance, accurate relative to every direction’s own variance',
  citations: [cite('KLSU19', 'section 3')],
  parameters,
  maturity: 'recommended',
  describe: describeCovariance,
  assumption: 'Nobody sends false rows, and honest rows have no very long tails.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, rho split between spread, centre, the number of rows, the rounds of the map, a '
    + 'histogram of distances and the second moments; from pairs of rows rho-zCDP without delta.',
  plan: planCovariance,
};

/**
 * From all rows or from pairs of rows, whichever the plan expects the smaller error of. Pairs need
 * bounds, since nothing finds their unit.
 * @throws InvalidParameterError past 200 columns, or when the lower bound is above the upper one.
 */
function planCovariance(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  checkColumnsMax('covariance', facts.dimension, columnsMax);
  const bounds = varianceBoundsOf(values);
  const pairs = bounds === null ? infeasible(
    'without a delta nothing finds how wide the rows are',
    'give variance-low and variance-high, or ask for (epsilon, delta) with delta > 0',
  ) : planBounded(facts, bounds);
  if (!(facts.target.delta > 0) || facts.target.isPure === true) return pairs;
  const condition = conditionOf(values);
  const pooled = { design: (request: DesignRequest) => designCentred(request, condition) };
  const all = planPooled(pooled, { ...values, corruption: borne }, facts);
  return bounds === null ? all : betterPlan(all, pairs);
}
