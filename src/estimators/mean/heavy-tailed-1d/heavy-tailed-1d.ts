import { InvalidParameterError } from '../../../base/errors.js';
import { pureForRho } from '../../../privacy/accounting/conversion.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { errorUpTo, infeasible, makePlan } from '../../contract/planning.js';
import { columnOf, columnParameter } from '../../counts/tables/common.js';
import { choiceOf, numberOf, optionalNumberOf, optionalNumbersOf } from '../../contract/values.js';
import { assumptions } from '../../pooled/plan.js';
import { rowsSummary } from '../../summaries/rows.js';
import {
  designGroupMeans, releaseGroupMeans, type Budget, type GroupMeans,
} from '../heavy-tails/group-means.js';
import { placeNotFound, valueOf } from '../heavy-tails/outcomes.js';
import {
  cohortsParameter, corruptionLimit, groupsOf, groupsParameter, isSplit, momentOf, momentParameters,
  radiusParameter,
} from '../heavy-tails/parameters.js';
import type { Units } from '../heavy-tails/rows.js';
import { describeHeavyTailed1d } from './describe.js';

/**
 * The mean of one column whose rows may be far out. All that is assumed of them is a bound on one
 * moment.
 *
 * Claim, neighbours, cost and proof: group-means. The three kinds of privacy differ in how a group
 * finds its range and in the noise of its mean.
 * - pure: exponential mechanism over public bins, Laplace noise. Its epsilon is the one whose zCDP
 *   the target allows.
 * - zcdp: exponential mechanism over public bins, Gaussian noise; no delta.
 * - approx: stable histogram over bins everywhere, Gaussian noise; no public range is needed.
 *
 * Source: Kamath, Singhal and Ullman (2020), Algorithms 1 and 2.
 */
export const heavyTailed1d: Estimator = {
  name: 'heavy-tailed-1d',
  title: 'Mean of one heavy-tailed column',
  citations: [cite('KSU20', 'Algorithms 1 and 2')],
  parameters: [
    columnParameter,
    {
      name: 'privacy', type: 'choice', choices: ['pure', 'zcdp', 'approx'], default: 'approx',
      description: 'pure: epsilon alone; zcdp: no delta; approx: no public range. The first two '
        + 'need radius',
    },
    radiusParameter, ...momentParameters, groupsParameter, cohortsParameter,
    {
      name: 'range-share', type: 'number', default: 0.25, minimum: 0.02, maximum: 0.8,
      unit: 'share of contributors, or of the cost with one cohort',
      description: 'part that finding the place of the rows takes',
    },
  ],
  shelf: 'research',
  describe: describeHeavyTailed1d,
  assumption: 'You know a bound on a moment of the column, and nobody sends false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: pure epsilon, rho-zCDP, '
    + 'or '
    + '(rho, delta)-approximate zCDP, whole for disjoint cohorts.',
  plan: planOneColumn,
};

interface Design {
  readonly facts: StudyFacts;
  readonly means: GroupMeans;
  readonly units: Units;
  readonly privacy: string;
  /** Public bound on the mean, in data units. */
  readonly radius: number | undefined;
  readonly bound: number;
}

function planOneColumn(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const column = columnOf(values, facts.dimension);
  const scale = optionalNumbersOf(values, 'scale')![column]!;
  const budget = budgetOf(values, facts, scale);
  if (budget === null) {
    const privacy = choiceOf(values, 'privacy');
    return infeasible(
      `privacy: ${privacy} needs a positive rho`
      + (privacy === 'approx' ? ' and a positive delta' : ''),
      'ask for (epsilon, delta) with delta > 0, or set privacy to pure and give radius',
    );
  }
  const moment = momentOf(values);
  const means = designGroupMeans({
    cohort: facts.cohort, share: 1, dimension: 1, moment,
    corruption: numberOf(values, 'corruption'),
    split: isSplit(values), rangeShare: numberOf(values, 'range-share'), budget,
    groups: groupsOf(values),
    radius: optionalNumberOf(values, 'clip-radius'),
  });
  if (means.kind === 'design') {
    const units = { columns: [column], scale: Float64Array.of(scale) };
    const radius = budget.privacy === 'approx' ? undefined : optionalNumberOf(values, 'radius');
    return planFor({ facts, means, units, privacy: budget.privacy, radius, bound: moment.bound });
  }
  const { reason, cohortNeeded } = means;
  return infeasible(
    `with ${facts.cohort} contributors and rho ${facts.target.rho.toPrecision(3)} ${reason}`,
    cohortNeeded === undefined
      ? 'a smaller radius, a larger scale, or privacy: approx, which needs no radius'
      : `a cohort of ${cohortNeeded}, fewer groups, a larger range-share, a lower corruption or a `
        + 'larger epsilon',
    cohortNeeded,
  );
}

/**
 * Null when the target leaves nothing to spend.
 * @throws InvalidParameterError without the radius that is needed.
 */
function budgetOf(values: ParameterValues, { target }: StudyFacts, scale: number): Budget | null {
  const privacy = choiceOf(values, 'privacy');
  if (privacy === 'approx') {
    const { rho, delta } = target;
    return rho > 0 && delta > 0 ? { privacy, rho, delta } : null;
  }
  const radius = optionalNumberOf(values, 'radius');
  if (radius === undefined) {
    throw new InvalidParameterError(
      `parameters.radius is missing: privacy: ${privacy} needs a public bound on the absolute `
      + 'value of the mean; '
      + 'give one, however wide, or set privacy to approx', { path: 'parameters.radius' },
    );
  }
  if (!(target.rho > 0)) return null;
  const inScales = radius / scale;
  return privacy === 'pure'
    ? { privacy, epsilon: pureForRho(target.rho), radius: inScales }
    : { privacy: 'zcdp', rho: target.rho, radius: inScales };
}

function planFor(design: Design): Plan {
  const { facts, means, units, privacy } = design;
  const [scale] = units.scale as unknown as [number];
  return makePlan({
    cohorts: means.cohorts,
    events: means.events,
    guarantee: {
      theorem: 'Kamath, Singhal and Ullman (2020), Algorithms 1 and 2, constants in '
        + 'src/estimators/mean/heavy-tails',
      assumptions: [
        assumptions.nobodyHostile,
        'for accuracy: the k-th moment of an honest row around its mean is at most '
        + '(scale moment-bound)^k',
        ...(privacy === 'approx' ? [] : ['for accuracy: the mean is at most radius away from 0']),
      ],
      corruptionMax: 0,
    },
    outputShape: [1],
    noise: privacy === 'pure' ? [] : [scale * means.noise],
    facts: {
      privacy,
      scale,
      groups: means.groups.length,
      groupSize: means.groupSize,
      clipRadiusInScales: means.radius,
      truncationBiasAtMostInScales: means.bias,
      noiseInScales: means.noise,
      movedByHostileShareInScales: means.radius,
    },
    expectedError: errorUpTo(
      corruptionLimit, means, (share) => means.bias + share * means.radius,
    ),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) =>
      releaseGroupMeans(mechanisms, means, units, summaries, design.bound).map((found) => {
        if (found.kind === 'no-range') return placeNotFound(facts, units.columns);
        if (found.kind === 'few-rows') return participationBelowPlan(facts);
        return valueOf({
          ...found, bias: means.bias, isGaussian: privacy !== 'pure', radius: design.radius,
        }, units.scale);
      }),
  });
}
