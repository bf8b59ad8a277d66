import { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { cholesky } from '../../../numerics/cholesky.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type {
  Finished, FinishedSummaries, Infeasible, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { finishedOf } from '../../contract/finished.js';
import { errorUpTo, makePlan, needsCohort, withoutDelta } from '../../contract/planning.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import {
  groupBias, groupsCut, privateGroupMoments, type GroupFactor,
} from '../moments/group-moments.js';
import {
  covarianceOutcome, covarianceOutput, errorsOfCovariance, relativeBound,
} from '../moments/outcomes.js';
import { noiseNorm, type BoundedMoments } from '../moments/preconditioner.js';
import { privateGroupMap } from './group-map.js';
import {
  groupsCohortNeeded, groupsDesign, rowsBehind, rowsLeast, rowsPerGroup, type GroupsDesign,
  type GroupsFacts,
} from './groups-design.js';
import { groupSummary } from './masked.js';
import { groupsCohort } from './masked-design.js';

/**
 * A group is left out when a squared pivot of its matrix, scaled to a unit diagonal, is below this:
 * smaller ones are not known from doubles.
 */
const pivotLeast = 1e-12;

/** The share of the groups that is cut for normal rows, and for each share of hostile rows. */
const cutOfNormal = 0.05;
const cutPerHostile = 3;
/** The largest share of groups that may be cut. */
const cutMost = 1 / 3;
/** Noise hides so many of its deviations. */
const cutDeviations = 3;

/**
 * The plan of a covariance about whose size and shape nothing is known beforehand. Contributors are
 * hashed into groups, and each group takes its own covariance. Histograms of what the groups agree
 * on find a map after which rows vary about alike in every direction (group-map). The mean of the
 * group matrices after the map, each cut at a ball, gets Gaussian noise, and the map is undone.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost:
 * (rho, delta), delta-approximate zCDP; delta is for the map alone.
 * Why:
 * - A contributor's group is a function of a keyed hash of its identity alone, and a group's matrix
 *   of the rows of the group. So a neighbour changes the factor of one group at most: it is
 *   replaced, gone or new.
 * - The map costs what group-map says.
 * - For every map, the number of groups and the number of those that are cut change by at most 1
 *   each, and the sum of their matrices by at most sqrt 2 times the radius of the ball
 *   (moments/group-moments). So the three events cost what they say, given the released map.
 * - The costs add up. All else is computed from what they released: refusals, the floor under
 *   eigenvalues, the covariance and its intervals.
 *
 * Robust groups withstand a corruption in each group. Privacy does not depend on what a group
 * computes.
 *
 * Source: subsample and aggregate, as in Ashtiani and Liaw (2022). In place of their test, average
 * and mask there are histograms and Gaussian noise; no theorem of theirs is claimed.
 */
export function planGroups(facts: StudyFacts, options: GroupsFacts): Plan | Infeasible {
  const refusal = withoutDelta(
    facts.target, 'a map from subsamples', 'use covariance, with bounds on the variance',
  );
  if (refusal !== null) return refusal;
  const design = groupsDesign(options);
  return design === null ? tooFewFor(facts, options) : planFor(facts, design);
}

function tooFewFor({ target: { epsilon } }: StudyFacts, options: GroupsFacts): Infeasible {
  const { dimension, cohort, local, corruption } = options;
  const reason = `with ${cohort} contributors, ${dimension} columns and epsilon ${epsilon} no `
    + 'number of groups shows how wide the rows are in every direction';
  const others =
    'covariance with public variance bounds, fewer columns or a larger epsilon'
    + (local === 'robust' && corruption > 0 ? ', or a lower corruption' : '');
  return needsCohort(reason, groupsCohortNeeded(options), others);
}

function planFor(study: StudyFacts, design: GroupsDesign): Plan {
  const { dimension } = study;
  const { facts: { local, corruption }, groups, groupSize, map, moments, sampling, noise } = design;
  const { pivotWidth, coefficientWidth } = map;
  return makePlan({
    arms: [{ name: groupsCohort, share: 1, unit: 'row', mode: 'disjoint', groups }],
    events: design.events,
    guarantee: {
      theorem: 'the mean of group covariances after a map from histograms of the groups; '
        + 'proofs in src/estimators/covariance/subsample-covariance and '
        + 'src/estimators/covariance/moments',
      assumptions: [
        'for accuracy: rows are about Gaussian, and no column is a mixture of the others but for a '
        + 'millionth',
      ],
      corruptionMax: corruption,
    },
    ...covarianceOutput(dimension),
    facts: {
      errorsAreIn: errorsOfCovariance,
      madeFrom: 'groups of rows',
      local,
      groups,
      groupSize,
      groupsInABin: Math.ceil(design.groupsInABin),
      binWidthOfLogVariances: pivotWidth,
      binWidthOfCoefficients: coefficientWidth,
      groupsNeeded: moments.groupsNeeded,
      clipRadiusAfterTheMap: moments.radius,
    },
    expectedError: errorUpTo(corruption, { sampling, noise }, (share) =>
      groupBias(share, dimension).covariance),
    summary: () => groupSummary(local, dimension),
    release: (summaries, mechanisms) => release(study, design, summaries, mechanisms),
  });
}

/** The factors of the groups with rows enough that have one: functions of each group alone. */
function factorsOf(
  finished: readonly Finished[], { facts: { dimension }, groupSize }: GroupsDesign,
): readonly GroupFactor[] {
  const found: GroupFactor[] = [];
  for (const item of finished) {
    const factor = item.kind === 'group' && item.statistic.count >= rowsLeast(groupSize)
      ? cholesky(item.statistic.values, dimension, pivotLeast) : null;
    if (factor !== null) found.push({ factor });
  }
  return found;
}

async function release(
  study: StudyFacts, design: GroupsDesign, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Promise<Released<Outcome>> {
  const { dimension } = study;
  const groups = finishedOf(summaries, groupsCohort, design.groups)
    .map((finished) => factorsOf(finished, design));
  const map = privateGroupMap(mechanisms, groups, design.map);
  const start = map.value;
  if (start === null) return map.map(() => disagreement(study, design));
  const cut = mechanisms.gaussian(design.cut.name, groups.map((list) =>
    Float64Array.of(groupsCut(list, start.matrix, dimension, design.moments.radius))));
  const found = await privateGroupMoments(
    mechanisms, groups, dimension, { ...design.moments, varianceHigh: 1, start },
  );
  return Released.all<readonly [BoundedMoments, Float64Array]>([found, cut])
    .map(([answer, [number]]) => (answer.kind === 'too-few-pairs'
      ? participationBelowPlan(study) : outcomeOf(study, design, answer, number!)));
}

/**
 * Tails decide the variance of groups that are cut. Where more are cut than of normal rows, there
 * is no interval; where most are, the map is that of the few others, and there is no answer.
 * @param cut - the noisy number of them.
 */
function outcomeOf(
  study: StudyFacts, design: GroupsDesign,
  { moments, inverse, pairs: groups }: Extract<BoundedMoments, { kind: 'moments' }>, cut: number,
): Outcome {
  const { facts, groups: planned, groupSize, moments: { final, count } } = design;
  const { dimension, corruption } = facts;
  const hidden = cutDeviations * design.cut.sigma;
  if (cut - hidden > cutMost * groups) return disagreement(study, design);
  const diagonal = Array.from({ length: dimension }, (_, i) => moments[i * (dimension + 1)]!);
  const noise = Math.hypot(final.sigma, Math.max(...diagonal) * count.sigma) / groups;
  const isLong = cut - hidden > (cutOfNormal + cutPerHostile * corruption) * groups;
  const outcome = covarianceOutcome({
    dimension, moments, inverse, noise,
    relative: relativeBound(moments, dimension, noiseNorm(dimension) * noise),
    pairs: rowsBehind(facts, groups, rowsPerGroup(groupSize, planned, {
      counted: groups, sigma: count.sigma,
    })),
    ...(isLong && { tails: { lost: Infinity, fourth: 0 } }),
  });
  if (!isLong || outcome.kind === 'refused') return outcome;
  return { ...outcome, findings: [{ reason: 'long-tails', columns: [], amounts: [] }] };
}

function disagreement({ cohort }: StudyFacts, { groups, groupsInABin }: GroupsDesign): Outcome {
  return {
    kind: 'refused',
    reason: 'subsamples-disagree',
    text: `fewer than about ${Math.ceil(groupsInABin)} of the ${groups} groups agreed on how wide `
      + `the rows are in some direction. Planned for ${cohort} contributors, about Gaussian rows, `
      + 'and columns none of which is a mixture of the others: check each, then use '
      + 'covariance with bounds, use local=robust, or lower cohort.',
  };
}
