import { ln, pow } from '../../../base/elementary.js';
import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import { pureEpsilonOf } from '../../../privacy/accounting/target.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type {
  ExpectedError, FinishedSummaries, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { errorUpTo, infeasible, makePlan, pooledArm } from '../../contract/planning.js';
import { rowsSummary } from '../../summaries/rows.js';
import { numberOf, optionalNumberOf, spreadOf } from '../../contract/values.js';
import { assumptions } from '../../pooled/plan.js';
import {
  designGroupMeans, releaseGroupMeans, type GroupMeans,
} from '../heavy-tails/group-means.js';
import { placeNotFound, valueOf } from '../heavy-tails/outcomes.js';
import { corruptionLimit, subsamplesOf, momentOf } from '../heavy-tails/parameters.js';
import { allColumns } from '../heavy-tails/rows.js';
import { tournamentScores } from './tournament.js';
import {
  balancedRadius, medianFactor, truncationBias, type Moment,
} from '../heavy-tails/truncation.js';

const voteCohort = 'vote';
/** Columns that candidates may have. */
export const columnsMaximum = 3;
/** Part of the contributors that gives the centre, where none is given. */
const usualCentrePart = 0.5;

/**
 * The mean of up to three heavy-tailed columns under pure differential privacy.
 *
 * Claim. Neighbours: one row replaced by anything, or by nothing, or added. Cost: the epsilon whose
 * zCDP the target allows.
 * Why: some contributors give a centre, by group-means with that epsilon. The others choose between
 * the candidates of a grid around it, by the exponential mechanism with that epsilon on scores of
 * sensitivity 1 (tournament). The grid is a function of the centre, which was released. Nobody does
 * both, so together they cost epsilon once.
 *
 * Source: Kamath, Singhal and Ullman (2020), Algorithm 4, which states 2 epsilon.
 */
export function planCandidates(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { dimension, cohort, target } = facts;
  const spread = spreadOf(values, dimension) as Float64Array;
  const radius = optionalNumberOf(values, 'radius');
  if (radius === undefined) {
    return infeasible(
      'nothing says where candidates for the mean could be',
      'give radius, a public bound on the absolute value of the mean in every column',
    );
  }
  if (dimension > columnsMaximum) {
    return infeasible(
      `there are ${dimension} columns, and candidates have at most ${columnsMaximum}`,
      'fewer columns, or (epsilon, delta) with delta > 0',
    );
  }
  if (!(target.rho > 0)) {
    return infeasible('pure privacy needs a positive rho', 'ask for a positive epsilon');
  }
  const epsilon = pureEpsilonOf(target);
  const share = optionalNumberOf(values, 'centre-part') ?? usualCentrePart;
  const moment = momentOf(values);
  const means = designGroupMeans({
    cohort, share, dimension, moment, corruption: numberOf(values, 'corruption'), split: true,
    rangePart: 0.25,
    budget: { privacy: 'pure', epsilon, radius: radius / Math.min(...spread) },
    groups: subsamplesOf(values),
    radius: optionalNumberOf(values, 'clip-radius'), prefix: 'centre-',
  });
  if (means.kind === 'infeasible') {
    const { reason, cohortNeeded } = means;
    return infeasible(
      `with ${cohort} contributors and a pure epsilon of ${epsilon.toPrecision(3)} ${reason}`,
      cohortNeeded === undefined ? 'a smaller radius or a larger spread'
        : `a cohort of ${cohortNeeded}, fewer subsamples, fewer columns or a larger epsilon`,
      cohortNeeded,
    );
  }
  const candidates = pow(perColumn[dimension - 1]!, dimension);
  const choice = exponentialEvent({
    name: 'choice', cohort: voteCohort, candidates, sensitivity: 1, epsilon,
  });
  const voters = cohort * (1 - share);
  const centreError = Math.hypot(means.noise, means.sampling, means.bias);
  // A choice may be off by about this many rows, each of which moves a mean of places by twice the
  // clip.
  const clip = optionalNumberOf(values, 'clip-radius')
    ?? balancedRadius(moment, 1, centreError, (2 * rowsLost(choice)) / voters);
  // Wide enough for the centre's error, and for scores that stand out of the choice's noise.
  const reach = Math.max(reachInErrors * centreError, (8 * clip * rowsLost(choice)) / voters);
  return planFor({
    facts, spread, moment, radius, means, choice, reach, clip, groups: means.groups.length, voters,
  });
}

interface Design {
  readonly facts: StudyFacts;
  readonly spread: Float64Array;
  readonly moment: Moment;
  /** Public bound on the mean, in data units. */
  readonly radius: number;
  readonly means: GroupMeans;
  readonly choice: ExponentialEvent;
  /** Half the width of the candidates' grid, in units of spread. */
  readonly reach: number;
  readonly clip: number;
  readonly groups: number;
  readonly voters: number;
}

/**
 * Candidates per column, by the number of columns: odd, and few enough for every pair to be
 * compared.
 */
const perColumn = [21, 9, 5] as const;
/** Half the grid's width, in planned errors of the centre. */
const reachInErrors = 3;

/** By how many rows a choice typically misses the best candidate. */
function rowsLost({ candidates, epsilon }: ExponentialEvent): number {
  return (2 / epsilon) * ln(candidates);
}

function planFor(design: Design): Plan {
  const { facts, means, choice, voters, clip } = design;
  const parts = partsOf(design);
  return makePlan({
    arms: [...means.arms, pooledArm(voteCohort, voters / facts.cohort)],
    events: [...means.events, choice],
    guarantee: {
      theorem: 'Kamath, Singhal and Ullman (2020), Algorithm 4, with opponents all around; '
        + 'proof in src/estimators/mean/heavy-tails',
      assumptions: [
        assumptions.nobodyHostile,
        'for accuracy: the k-th moment of an honest row around its mean is at most '
        + '(spread moment-bound)^k in every column',
        'for accuracy: the mean is at most radius away from 0 in every column',
      ],
      corruptionMax: 0,
    },
    outputShape: [facts.dimension],
    facts: {
      variant: 'candidates',
      spread: Array.from(design.spread).join(', '),
      groups: design.groups,
      candidates: choice.candidates,
      candidateSpacingInSpreads: spacingOf(design),
      clipRadiusInSpreads: clip,
      movedByCorruptionInSpreads: clip,
    },
    expectedError: errorUpTo(
      corruptionLimit, parts, (share) => parts.bias + share * Math.max(clip, means.radius),
    ),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/** Distance of neighbouring candidates. */
function spacingOf({ reach, facts }: Design): number {
  return (2 * reach) / (perColumn[facts.dimension - 1]! - 1);
}

/** The rows that are replaced first to make a candidate lose: honest ones so many bounds behind. */
const behind = 2;

/**
 * Noise: how coarse the candidates are, and how far a choice may be off. A row that goes from
 * behind a candidate to the clip moves a mean by both, and a majority of the groups must be moved,
 * the cheapest ones. Odds of a choice fall by e^(epsilon / 2) per row, so distances are about Gamma
 * distributed with as many parts as columns. Bias: what clipping moves.
 */
function partsOf(design: Design): Omit<ExpectedError, 'total'> {
  const { facts: { dimension }, moment, choice, clip, groups, voters, reach } = design;
  const majority = (Math.floor(groups / 2) + 1) / groups;
  const perPart = (2 / choice.epsilon) * ((clip + behind * moment.bound) / (majority * voters));
  const choiceError = Math.sqrt(dimension * (dimension + 1)) * perPart;
  const noise = Math.hypot(Math.sqrt(dimension / 12) * spacingOf(design), choiceError);
  const sampling =
    (Math.sqrt(dimension) * medianFactor(groups) * Math.sqrt(groups) * moment.bound)
    / Math.sqrt(voters);
  const bias = Math.sqrt(dimension) * truncationBias(moment, 1, reach, clip);
  return { noise, sampling, bias };
}

function release(
  design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, spread, means, moment, choice, voters } = design;
  const found = releaseGroupMeans(mechanisms, means, allColumns(spread), summaries, moment.bound);
  const answer = found.value;
  if (answer.kind === 'no-range') return found.map(() => placeNotFound(facts, answer.coordinates));
  if (answer.kind === 'few-rows') return found.map(() => participationBelowPlan(facts));
  const candidates = gridAround(answer.means, spacingOf(design));
  const { dimension } = facts;
  const tournament = {
    candidates, dimension, clip: design.clip, apart: design.reach,
    groups: design.groups,
    cap: Math.ceil(voters),
  };
  const scores = poolOf(summaries, voteCohort).map((rows) =>
    tournamentScores(rows, spread, tournament));
  const { noise, sampling, bias } = partsOf(design);
  const root = Math.sqrt(dimension);
  const each = (value: number): Float64Array => new Float64Array(dimension).fill(value / root);
  return mechanisms.exponential(choice.name, scores).map((index) => valueOf({
    means: candidates.slice(index * dimension, (index + 1) * dimension),
    noise: each(noise), sampling: each(sampling), bias: bias / root, isGaussian: false,
    outside: answer.outside, radius: design.radius,
  }, spread));
}

/** The cube of points around the centre, row-major. */
function gridAround(centre: Float64Array, spacing: number): Float64Array {
  const { length: dimension } = centre;
  const side = perColumn[dimension - 1]!;
  return Float64Array.from({ length: pow(side, dimension) * dimension }, (_, position) => {
    const j = position % dimension;
    const digit = Math.floor(Math.floor(position / dimension) / pow(side, j)) % side;
    return centre[j]! + (digit - (side - 1) / 2) * spacing;
  });
}
