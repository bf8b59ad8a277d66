import { describeMeans } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { lkko21 } from '../../contract/papers.js';
import { makePlan, withoutDelta } from '../../contract/planning.js';
import {
  choiceOf, corruptionParameter, numberOf, optionalNumberOf, spreadOf,
} from '../../contract/values.js';
import { finalPartParameter, roundsParameter } from '../../pooled/parameters.js';
import { assumptions, noiseHides, spreadText } from '../../pooled/plan.js';
import { rowsSummary } from '../../summaries/rows.js';
import { subsamplesOf, momentParameters } from '../heavy-tails/parameters.js';
import { variantParameter } from '../prime/plan.js';
import {
  boundedAssumption, clippingBias, heavyDesign, heavyErrorOf, type HeavyDesign,
} from './design.js';
import { planHeavyReference } from './reference.js';
import { releaseHeavy } from './release.js';

/** Largest corruption that can be promised. */
const corruptionLimit = 0.2;

const spreadParameter = momentParameters.find(({ name }) => name === 'spread')!;

const parameters: readonly ParameterSpec[] = [
  {
    ...spreadParameter,
    description: 'public bound on the standard deviation of an honest row, one number or one per '
      + 'column, not taken from the data that it is used on; one digit is enough; rows far out '
      + 'that make the whole wider are taken for hostile, up to the stated share',
  },
  corruptionParameter(corruptionLimit, 'fraction of false rows that the error is promised for'),
  {
    name: 'subsamples', type: 'integer', optional: true, minimum: 1, maximum: 99,
    description: 'odd number of subsamples that each find a centre, of which the median counts: '
      + 'more make a centre far off rarer; when absent 11, or 5 or 1 where the cohort is too small',
  },
  {
    name: 'centre-part', type: 'number', optional: true, minimum: 0.02, maximum: 0.8,
    unit: 'share of contributors',
    description: 'how many of the contributors find the centre, and have no part in the mean; as '
      + 'many as are needed when absent, a twentieth to a third',
  },
  roundsParameter(2, 30),
  finalPartParameter(0.6, 0.95),
  {
    name: 'moment', type: 'number', default: 3, minimum: 2, maximum: 32, unit: 'order',
    description: 'order of the moment of which the k-th root is about one spread: the outer radius '
      + 'balances noise against what clipping may then move',
  },
  {
    name: 'near-radius', type: 'number', optional: true, minimum: 0.1, maximum: 1e5,
    unit: 'spreads',
    description: 'filter rounds treat rows as if none were farther out than this; '
      + '1.35 sqrt(columns) + 3 when absent',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 0.1, maximum: 1e6, unit: 'spreads',
    description: 'rows farther than this from the centre are pulled in; where noise and clipping '
      + 'balance when absent',
  },
  {
    ...variantParameter,
    description: 'reference: the queries as the paper has them, in a box of its kind, which '
      + 'near-radius and radius do not change, each charged by itself and with noise that keeps '
      + 'the claim; to compare with',
  },
];

/**
 * PRIME-HT: a private mean of rows of which only the covariance is bounded, and that a share of
 * hostile rows cannot move far, in whatever direction. Some contributors, in groups, find where the
 * rows are. The rows of the others are filtered inside a near ball: where they are wider than the
 * spread in some direction, directions are weighed by matrix multiplicative weights, and a noisy
 * histogram of how far out rows are along them tells which ones are removed. What is left is
 * averaged in two parts: near the centre, with little noise, and what is beyond, up to an outer
 * radius, with more. Of the second part only what clearly exceeds its noise counts.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. `design` has the arms, what of them overlaps, and the sensitivities; pooled/all-rows has
 * the mean of all rows.
 * Why. A contributor is in one cohort by a keyed hash of its identity: in one of the groups that
 * find a centre, at (rho, delta), or among the rows, at rho. Among the rows, whether one is left at
 * any time is a function of this row and of released numbers: its clipped entries and, for every
 * round, the mean, the directions and the interval of scores that is removed. Neighbours see the
 * same released numbers when their rounds are compared, so their rows differ at any time in the one
 * row at most. Directions, intervals, stopping and how much of the far part counts are functions of
 * released numbers.
 * Assumption. Honest rows are at most one spread wide in every direction; they may be skewed, with
 * heavy tails. Rows that make the whole wider than spread in some direction are detected, and are
 * removed if they are not more than may be hostile. Those that stay move the mean by at most about
 * the root of their share. Where honest rows are wider than spread, a finding says so. interval95
 * also holds the mean of all rows.
 * Source. X. Liu, W. Kong, S. Kakade, S. Oh, Robust and differentially private mean estimation
 * (2021), Algorithms 3 and 14 to 16. The paper draws its groups from the rows that it averages, and
 * charges each; here they are disjoint, so the centre costs the mean nothing. There is one fused
 * release per round, noise for symmetric matrices, and a threshold at 1 + noise, not at a constant.
 * Removing an interval of scores that stands out, where there is one, and a mean in two parts are
 * this project's own: a threshold takes honest rows of one side, which moves the mean of lopsided
 * ones.
 */
export const primeHeavy: Estimator = {
  name: 'prime-heavy',
  title: 'Private robust mean of heavy-tailed columns',
  citations: [lkko21('Algorithms 3 and 14 to 16')],
  parameters,
  maturity: 'recommended',
  describe: describeMeans,
  assumption: 'Honest rows are at most one spread wide in every direction; they may be skewed, '
    + 'with heavy tails.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, whole for each group that finds the centre and for those '
    + 'whose rows are filtered and averaged.',
  plan: planHeavy,
};

function planHeavy(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { target, dimension } = facts;
  const refused = withoutDelta(target, 'finding the centre');
  if (refused !== null) return refused;
  if (choiceOf(values, 'variant') === 'reference') return planHeavyReference(values, facts);
  const corruption = numberOf(values, 'corruption');
  const design = heavyDesign({
    facts, corruption,
    groups: subsamplesOf(values), centrePart: optionalNumberOf(values, 'centre-part'),
    rounds: numberOf(values, 'rounds'), finalPart: numberOf(values, 'final-part'),
    moment: { order: numberOf(values, 'moment'), bound: 1 },
    nearRadius: optionalNumberOf(values, 'near-radius'), radius: optionalNumberOf(values, 'radius'),
  });
  if ('kind' in design) {
    return noiseHides(
      facts, 'where the rows are', design.cohortNeeded,
      'fewer columns, fewer subsamples, a larger epsilon or a larger centre-part',
    );
  }
  return planFor(design, spreadOf(values, dimension) as Float64Array, corruption);
}

function planFor(design: HeavyDesign, spread: Float64Array, corruption: number): Plan {
  const { facts, arms, events, sum, rest, near, rows } = design;
  const noise = sum.sigma / rows;
  return makePlan({
    arms,
    events,
    guarantee: {
      theorem: 'filtering by released second moments, about a centre found by others; '
        + 'proofs in src/estimators/mean/prime-heavy',
      assumptions: [boundedAssumption, assumptions.corruption, design.all.assumption],
      corruptionMax: corruption,
    },
    outputShape: [facts.dimension],
    noise: Array.from(spread, (unit) => unit * noise),
    facts: {
      spread: spreadText(spread),
      groups: design.groups,
      contributorsOfTheMean: rows,
      nearRadiusInSpreads: near.radius,
      clipRadiusInSpreads: near.radius + (rest?.ball.radius ?? 0),
      clippingMovesAtMostInSpreads: clippingBias(design),
      noisePerCoordinateInSpreads: noise,
      noiseOfTheFarPartInSpreads: (rest?.event.sigma ?? 0) / rows,
      rounds: design.rounds.length,
      varianceDetectedAbove: 1 + design.excessMax,
      rowsCountedAtMost: design.rowsMax,
    },
    expectedError: heavyErrorOf(design, corruption),
    summary: () => rowsSummary(facts.dimension),
    release: (summaries, mechanisms, compute) =>
      releaseHeavy({ design, spread, mechanisms, compute }, summaries),
  });
}
