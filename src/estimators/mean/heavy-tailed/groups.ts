import { pureEpsilonOf } from '../../../privacy/accounting/target.js';
import type {
  Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { errorUpTo, infeasible, makePlan } from '../../contract/planning.js';
import { numberOf, optionalNumberOf, spreadOf } from '../../contract/values.js';
import { assumptions } from '../../pooled/plan.js';
import { rowsSummary } from '../../summaries/rows.js';
import {
  designGroupMeans, releaseGroupMeans, type Budget, type GroupMeans,
} from '../heavy-tails/group-means.js';
import { placeNotFound, valueOf } from '../heavy-tails/outcomes.js';
import { corruptionLimit, subsamplesOf, isSplit, momentOf } from '../heavy-tails/parameters.js';
import type { Units } from '../heavy-tails/rows.js';

/** The kind of privacy budget that a group spends. */
export type GroupPrivacy = Budget['privacy'];

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
export function planGroups(
  values: ParameterValues, facts: StudyFacts, privacy: GroupPrivacy,
): Plan | Infeasible {
  if (facts.dimension !== 1) {
    return infeasible(
      `there are ${facts.dimension} columns, and groups have a mean of one`,
      'ask about one column, or leave variant out',
    );
  }
  const [spread] = spreadOf(values, 1) as unknown as [number];
  const budget = budgetOf(values, facts, privacy, spread);
  if (budget.kind === 'infeasible') return budget;
  const moment = momentOf(values);
  const means = designGroupMeans({
    cohort: facts.cohort, share: 1, dimension: 1, moment,
    corruption: numberOf(values, 'corruption'),
    split: isSplit(values), rangePart: numberOf(values, 'range-part'), budget: budget.budget,
    groups: subsamplesOf(values),
    radius: optionalNumberOf(values, 'clip-radius'),
  });
  if (means.kind === 'design') {
    const units = { columns: [0], spread: Float64Array.of(spread) };
    const radius = privacy === 'approx' ? undefined : optionalNumberOf(values, 'radius');
    return planFor({ facts, means, units, privacy, radius, bound: moment.bound });
  }
  const { reason, cohortNeeded } = means;
  return infeasible(
    `with ${facts.cohort} contributors and rho ${facts.target.rho.toPrecision(3)} ${reason}`,
    cohortNeeded === undefined
      ? 'a smaller radius, a larger spread, or no radius and a positive delta'
      : `a cohort of ${cohortNeeded}, fewer subsamples, a larger range-part, a lower corruption or a `
        + 'larger epsilon',
    cohortNeeded,
  );
}

function budgetOf(
  values: ParameterValues, { target }: StudyFacts, privacy: GroupPrivacy, spread: number,
): { readonly kind: 'budget'; readonly budget: Budget } | Infeasible {
  const { rho, delta } = target;
  if (!(rho > 0)) return infeasible('a mean needs a positive rho', 'ask for a positive epsilon');
  if (privacy === 'approx') {
    return delta > 0 ? { kind: 'budget', budget: { privacy, rho, delta } } : withoutRadius;
  }
  const given = optionalNumberOf(values, 'radius');
  if (given === undefined) return withoutRadius;
  const radius = given / spread;
  return {
    kind: 'budget', budget: privacy === 'pure'
      ? { privacy, epsilon: pureEpsilonOf(target), radius } : { privacy, rho, radius },
  };
}

/** Why there is no plan with neither a delta nor a radius. */
export const withoutRadius = infeasible(
  'without a delta nothing finds rows that may be anywhere',
  'give radius, a public bound on the absolute value of the mean, or ask for (epsilon, delta) with '
  + 'delta > 0',
);

interface Design {
  readonly facts: StudyFacts;
  readonly means: GroupMeans;
  readonly units: Units;
  readonly privacy: GroupPrivacy;
  /** Public bound on the mean, in data units. */
  readonly radius: number | undefined;
  readonly bound: number;
}

function planFor(design: Design): Plan {
  const { facts, means, units, privacy } = design;
  const [spread] = units.spread as unknown as [number];
  return makePlan({
    arms: means.arms,
    events: means.events,
    guarantee: {
      theorem: 'Kamath, Singhal and Ullman (2020), Algorithms 1 and 2, constants in '
        + 'src/estimators/mean/heavy-tails',
      assumptions: [
        assumptions.nobodyHostile,
        'for accuracy: the k-th moment of an honest row around its mean is at most '
        + '(spread moment-bound)^k',
        ...(privacy === 'approx' ? [] : ['for accuracy: the mean is at most radius away from 0']),
      ],
      corruptionMax: 0,
    },
    outputShape: [1],
    noise: privacy === 'pure' ? [] : [spread * means.noise],
    facts: {
      variant: 'groups',
      privacy,
      spread,
      groups: means.groups.length,
      groupSize: means.groupSize,
      clipRadiusInSpreads: means.radius,
      truncationBiasAtMostInSpreads: means.bias,
      noiseInSpreads: means.noise,
      movedByCorruptionInSpreads: means.radius,
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
        }, units.spread);
      }),
  });
}
