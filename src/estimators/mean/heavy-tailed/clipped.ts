import { pow } from '../../../base/elementary.js';
import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { centreEvents, privateCentre } from '../../../privacy/stages/centre.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type {
  FinishedSummaries, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import {
  errorUpTo, infeasible, makePlan, pooledArm, withoutDelta,
} from '../../contract/planning.js';
import { choiceOf, numberOf, optionalNumberOf, spreadOf } from '../../contract/values.js';
import { countToBeSeen, fullestBinShare, nominalSizeFor } from '../../pooled/fullest-bin.js';
import { assumptions } from '../../pooled/plan.js';
import { rowsSummary } from '../../summaries/rows.js';
import { comparison } from './comparison.js';
import {
  countedSum, outsideDeviation, releaseCountedSum, type Beyond, type CountedSum,
} from '../heavy-tails/counted-sum.js';
import {
  designGroupMeans, releaseGroupMeans, type GroupMeans,
} from '../heavy-tails/group-means.js';
import { explainedOutside, placeNotFound, valueOf } from '../heavy-tails/outcomes.js';
import { corruptionLimit, subsamplesOf, isSplit, momentOf } from '../heavy-tails/parameters.js';
import { allColumns, cohortRows, type Units } from '../heavy-tails/rows.js';
import {
  balancedRadius, medianOffset, shareBeyond, truncationBias, type Moment,
} from '../heavy-tails/truncation.js';

const meanCohort = 'mean';
const centreCohort = 'centre';

/**
 * The mean of several columns whose rows may be far out: a private centre, and the noisy mean of
 * the rows clipped to a ball around it. The ball's radius balances the noise against the bias of
 * clipping.
 *
 * Claim. Neighbours: one row replaced by anything, or by nothing, or added. Cost: (rho, delta)-
 * approximate zCDP.
 * Why: with `arms: split` some contributors find the centre, at (rho, delta)
 * (privacy/stages/centre, or group-means with these budgets), and the others the mean, at rho
 * (counted-sum, which holds for every centre). A keyed hash of the identity puts a contributor into
 * one of the two, so together they cost the larger. With `one` everybody does both, at shares of
 * rho that add up to it. Division of the rows by public spreads changes neither.
 *
 * A twentieth of the mean's cost pays for the number of rows beyond the radius (counted-sum). Where
 * they are more than the bound on the moment explains, the answer says so and has no interval.
 *
 * Source: Kamath, Singhal and Ullman (2020), Algorithm 3. The radius is for the cohort at hand, in
 * place of the paper's asymptotic one. `beyond: drop` is the paper's rule for far rows.
 */
export function planClipped(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { target, dimension, cohort } = facts;
  const spread = spreadOf(values, dimension) as Float64Array;
  const refusal = withoutDelta(target, 'finding the centre', 'leave variant out, and give radius');
  if (refusal !== null) return refusal;
  const found = designCentre(values, facts);
  if (found.kind === 'infeasible') return found;
  const moment = momentOf(values);
  const split = isSplit(values);
  const meanRows = split ? cohort * (1 - found.share) : cohort;
  const rho = split ? target.rho : shareOf(target.rho, 1 - found.share);
  const noiseUnit = (2 * Math.sqrt(dimension)) / Math.sqrt(2 * rho) / meanRows;
  const radius = optionalNumberOf(values, 'clip-radius') ?? balancedRadius(
    moment, dimension, found.offset, noiseUnit,
  );
  const sum = countedSum({
    name: 'mean/sum', cohort: meanCohort, dimension, radius, shape: 'ball', cost: { rho },
  });
  const beyond = choiceOf(values, 'beyond') === 'drop' ? 'drop' : 'clip';
  return planFor({
    facts, units: allColumns(spread), moment, centre: found.centre, sum, beyond, meanRows,
    corruption: numberOf(values, 'corruption'),
    arms: split ? [...found.arms, pooledArm(meanCohort, 1 - found.share)] : [pooledArm(
      meanCohort, 1,
    )],
    events: [...found.events, sum.event, sum.outside],
    shareBeyond: shareBeyond(moment, dimension, found.offset, radius),
    // A dropped row loses all of |z|, a clipped one |z| - R: at most |z|^k / R^(k-1), without the
    // factor of clipping.
    bias: truncationBias(moment, dimension, found.offset, radius)
      * (beyond === 'drop' ? dropFactor(moment.order) : 1),
  });
}

/** How the centre is found. */
type CentreDesign =
  | { readonly kind: 'median'; readonly cohort: string }
  | { readonly kind: 'subsample-means'; readonly means: GroupMeans };

interface Design extends Pick<CentreFound, 'centre' | 'arms' | 'events'> {
  readonly facts: StudyFacts;
  readonly units: Units;
  readonly moment: Moment;
  readonly sum: CountedSum;
  readonly beyond: Beyond;
  /** Corruption that is planned for. */
  readonly corruption: number;
  /** Nominal rows behind the mean. */
  readonly meanRows: number;
  /** Bound on what clipping moves the mean, in units of spread. */
  readonly bias: number;
  /** Largest share of rows that the bound on the moment lets beyond the radius. */
  readonly shareBeyond: number;
}

interface CentreFound extends Pick<Plan, 'arms' | 'events'> {
  readonly kind: 'centre-design';
  readonly centre: CentreDesign;
  /** Expected distance from the mean per column, in units of spread. */
  readonly offset: number;
  /** Share of the contributors (split), or of rho. */
  readonly share: number;
}

/** Bias of dropping rows, relative to clipping them. */
function dropFactor(order: number): number {
  return pow(order, order) / pow(order - 1, order - 1);
}

/**
 * The part that finding the centre takes where nothing is given: at least a tenth of the
 * contributors, or a fifth of rho. Contributors who find the centre are missing for the mean, so
 * never more than half.
 */
const centreParts = { split: 0.1, one: 0.2, splitMost: 0.5 } as const;

function designCentre(values: ParameterValues, facts: StudyFacts): CentreFound | Infeasible {
  const split = isSplit(values);
  const wanted = optionalNumberOf(values, 'centre-part');
  const { splitMost } = centreParts;
  const share = wanted ?? (split ? centreParts.split : centreParts.one);
  const attempt = choiceOf(values, 'centre') === 'median' ? designMedian : designGroups;
  const first = attempt(values, facts, share);
  if (wanted !== undefined || !split) return withRemedy(facts, first);
  if (first.kind === 'centre-design') return first;
  // Twice what is needed, or all that there is to give.
  const needed = first.cohortNeeded === undefined
    ? splitMost
    : (2 * first.cohortNeeded * share) / facts.cohort;
  return withRemedy(facts, attempt(values, facts, Math.min(splitMost, Math.max(share, needed))));
}

interface CentreInfeasible {
  readonly kind: 'infeasible';
  readonly reason: string;
  /** Present when more contributors would not help. */
  readonly remedy?: string;
  readonly cohortNeeded?: number;
}

function withRemedy(
  facts: StudyFacts, found: CentreFound | CentreInfeasible,
): CentreFound | Infeasible {
  if (found.kind === 'centre-design') return found;
  const { reason, cohortNeeded } = found;
  return infeasible(
    `with ${facts.cohort} contributors, ${facts.dimension} columns and rho `
    + `${facts.target.rho.toPrecision(3)} ${reason}`,
    found.remedy ?? `a cohort of ${cohortNeeded ?? 'more'}, fewer columns, a larger epsilon, a `
      + 'lower corruption or a larger centre-part',
    cohortNeeded,
  );
}

/** Private medians of the columns: the least error, for any moment. */
function designMedian(
  values: ParameterValues, facts: StudyFacts, share: number,
): CentreFound | CentreInfeasible {
  const { dimension, target, cohort } = facts;
  const split = isSplit(values);
  const name = split ? centreCohort : meanCohort;
  const events = centreEvents({
    cohort: name, dimension, rho: split ? target.rho : shareOf(target.rho, share),
    delta: target.delta,
  });
  const [bins] = events;
  const honest = 1 - numberOf(values, 'corruption');
  const rows = countToBeSeen(bins, dimension) / (fullestBinShare.boundedVarianceOfGroup * honest);
  const cohortNeeded = Math.ceil(nominalSizeFor(rows) / (split ? share : 1));
  if (cohort < cohortNeeded) {
    return { kind: 'infeasible', reason: 'the noise hides where the rows are', cohortNeeded };
  }
  return {
    kind: 'centre-design', centre: { kind: 'median', cohort: name }, events, share,
    arms: split ? [pooledArm(name, share)] : [],
    offset: medianOffset * numberOf(values, 'moment-bound'),
  };
}

/** The paper's centre: medians of group means, per column, of contributors of their own. */
function designGroups(
  values: ParameterValues, facts: StudyFacts, share: number,
): CentreFound | CentreInfeasible {
  const { dimension, target, cohort } = facts;
  if (!isSplit(values)) {
    const reason = 'group means have no contributors of their own in one cohort';
    return { kind: 'infeasible', reason, remedy: 'arms: split, or centre: median' };
  }
  const means = designGroupMeans({
    cohort, share, dimension, moment: momentOf(values), corruption: numberOf(values, 'corruption'),
    split: true,
    rangePart: 0.5, budget: { privacy: 'approx', rho: target.rho, delta: target.delta },
    groups: subsamplesOf(values),
    prefix: 'centre-',
  });
  if (means.kind === 'infeasible') return means;
  return {
    kind: 'centre-design', centre: { kind: 'subsample-means', means }, events: means.events,
    arms: means.arms, share,
    offset: Math.hypot(means.noise, means.sampling, means.bias),
  };
}

function planFor(design: Design): Plan {
  const { facts, units, sum, meanRows, events, arms, bias, corruption } = design;
  const noise = sum.standardDeviation / meanRows;
  const radius = sum.ball.radius;
  const expectedError = errorOf(design);
  return makePlan({
    arms,
    events,
    guarantee: {
      theorem: 'Kamath, Singhal and Ullman (2020), Algorithm 3, constants in '
        + 'src/estimators/mean/heavy-tails',
      assumptions: [
        assumptions.nobodyHostile,
        'for accuracy: in every column the k-th moment of an honest row around its mean is at most '
        + '(spread moment-bound)^k',
      ],
      corruptionMax: 0,
    },
    outputShape: [facts.dimension],
    noise: Array.from(units.spread, (unit) => unit * noise),
    facts: {
      variant: 'clipped',
      spread: Array.from(units.spread).join(', '),
      centre: design.centre.kind,
      beyond: design.beyond,
      clipRadiusInSpreads: radius,
      truncationBiasAtMostInSpreads: bias,
      noisePerCoordinateInSpreads: noise,
      noiseOfCount: sum.countStandardDeviation,
      contributorsOfTheMean: meanRows,
      movedByCorruptionInSpreads: radius,
      ...comparison(facts, {
        spread: units.spread, corruption, radius, error: expectedError(0).total,
      }),
    },
    expectedError,
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/**
 * Hostile rows at the edge of the ball, all in one direction, move the mean by their share of its
 * radius.
 */
function errorOf(
  { facts, moment, sum, meanRows, bias }: Design,
): Plan['expectedError'] {
  const sampling = moment.bound * Math.sqrt(facts.dimension / meanRows);
  const noise = (sum.standardDeviation / meanRows) * Math.sqrt(facts.dimension);
  return errorUpTo(corruptionLimit, { sampling, noise }, (share) => bias + share * sum.ball.radius);
}

function release(
  design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts } = design;
  const found = releaseCentre(design, summaries, mechanisms);
  const answer = found.value;
  if (answer.kind === 'no-range') return found.map(() => placeNotFound(facts, answer.coordinates));
  if (answer.kind === 'few-rows') return found.map(() => participationBelowPlan(facts));
  const { centre } = answer;
  const rows = cohortRows(summaries, meanCohort, design.units);
  return releaseCountedSum(mechanisms, design.sum, rows, centre, design.beyond)
    .map(({ sum, present, outside }): Outcome => {
      if (!(present >= design.meanRows / 4)) return participationBelowPlan(facts);
      const { standardDeviation, countStandardDeviation } = design.sum;
      return valueOf({
        means: sum.map((entry, j) => centre[j]! + entry / present),
        noise: sum.map((entry) =>
          Math.hypot(standardDeviation, (entry / present) * countStandardDeviation) / present),
        sampling: sum.map(() => design.moment.bound / Math.sqrt(present)),
        bias: design.bias, isGaussian: true,
        outside: {
          number: outside,
          explained: explainedOutside(
            present * design.shareBeyond, outsideDeviation(design.sum),
          ),
        },
      }, design.units.spread);
    });
}

type CentreAnswer =
  | { readonly kind: 'centre'; readonly centre: Float64Array }
  | { readonly kind: 'no-range'; readonly coordinates: readonly number[] }
  | { readonly kind: 'few-rows' };

function releaseCentre(
  { centre, units, facts, moment }: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<CentreAnswer> {
  if (centre.kind === 'median') {
    const rows = cohortRows(summaries, centre.cohort, units);
    return privateCentre(mechanisms, rows, facts.dimension, moment.bound).map((found) =>
      (found.kind === 'failed' ? { kind: 'no-range', coordinates: found.coordinates } : found));
  }
  return releaseGroupMeans(mechanisms, centre.means, units, summaries, moment.bound)
    .map((found) => (found.kind === 'means' ? { kind: 'centre', centre: found.means } : found));
}
