import { assert } from '../../../base/assert.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { normalUpperQuantile } from '../../../numerics/normal.js';
import { centreEvents, privateCentre } from '../../../privacy/stages/centre.js';
import { clippedMeanEvents, privateClippedMean, type ClippedMeanEvents } from '../../../privacy/stages/clipped-mean.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { GaussianHistogramEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { privateScale, slotsForScale } from '../../../privacy/stages/scale.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type {
  Estimator, ExpectedError, Finished, FinishedSummaries, Infeasible, ParameterSpec, ParameterValues, Plan, PooledRows,
  StudyFacts,
} from '../../contract/estimator.js';
import { answerOf, centreNotFound, participationBelowPlan } from '../../pooled/centred-mean.js';
import { chooseScale, scaleNotFound, type ScaleChoice } from '../../pooled/scale-choice.js';
import { truncationBias } from '../heavy-tails/truncation.js';
import { rowsSummary } from '../../summaries/rows.js';
import { corruptionParameter, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import { centreNeedsDelta, neighbours } from '../../contract/planning.js';

const cohortName = 'rows';
/** Hostile share past which the centre itself may be theirs. */
const corruptionLimit = 0.3;
/** Share of honest rows that the fullest bin, four scales wide, holds in the worst position of the bins. */
const fullestBin = 0.38;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(
    corruptionLimit,
    'hostile share with which the centre must still be found; the mean itself is not robust',
  ),
  {
    name: 'centre-share', type: 'number', default: 0.2, minimum: 0.02, maximum: 0.8, unit: 'share of rho',
    description: 'part of the cost that finding the centre takes',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 0.1, maximum: 1e6, unit: 'scales',
    description: 'rows farther than this from the centre are pulled in; 1.35 sqrt(columns) + 3 when absent',
  },
];

/**
 * The private mean that robust estimators are compared with: a private centre, rows clipped to a ball around it, and
 * the noisy sum over the noisy count.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added. Cost: (rho, delta),
 * delta-approximate zCDP: the centre's (privacy/centre) and the clipped mean's (privacy/clipped-mean), which
 * compose because the second is calibrated for every centre that the first may answer. Dividing rows by a public
 * scale before, and multiplying after, changes neither; a scale that was found privately (privacy/scale) is an answer
 * that was paid for, and composes in the same way.
 *
 * Not robust: a share of the contributors that all stand at the edge of the ball in one direction moves the answer by
 * that share times the radius.
 *
 * Source: the clipped mean of Karwa and Vadhan (2018) and Kamath, Singhal and Ullman (2020), with the exact
 * centre of privacy/centre.
 */
export const mean: Estimator = {
  name: 'mean',
  title: 'Private mean, which false rows can move',
  citations: [{
    key: 'KSU20',
    text: 'G. Kamath, V. Singhal, J. Ullman. Private mean estimation of heavy-tailed distributions. COLT 2020.',
    place: 'the clipped mean that its section 1 starts from',
  }],
  parameters,
  shelf: 'recommended',
  assumption: 'Nobody sends false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, '
    + 'rho split between the centre and the mean.',
  plan: planMean,
};

/** Of a private centre, in scales per column. */
const centreOff = 0.1;

interface Design {
  /** Of the study as a whole. */
  readonly facts: StudyFacts;
  readonly choice: ScaleChoice;
  readonly corruption: number;
  readonly events: readonly MechanismEvent[];
  readonly clipped: ClippedMeanEvents;
}

function planMean(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const choice = chooseScale(values, facts, cohortName);
  if (choice.kind === 'infeasible') return choice;
  const { dimension, target } = choice.facts;
  if (!(target.rho > 0 && target.delta > 0)) return centreNeedsDelta;
  const centreShare = numberOf(values, 'centre-share');
  const radius = optionalNumberOf(values, 'radius') ?? 1.35 * Math.sqrt(dimension) + 3;
  const [bins, median] = centreEvents({
    cohort: cohortName, dimension, rho: shareOf(target.rho, centreShare), delta: target.delta,
  });
  const clipped = clippedMeanEvents({
    cohort: cohortName, dimension, radius, rho: shareOf(target.rho, 1 - centreShare),
  });
  const corruption = numberOf(values, 'corruption');
  const needed = cohortForCentre(bins, dimension, corruption);
  if (facts.cohort < needed) {
    return {
      kind: 'infeasible',
      reason: `with ${facts.cohort} contributors, ${dimension} columns and rho ${target.rho.toPrecision(3)} `
        + 'the noise hides where the rows are',
      remedy: `a cohort of ${needed}, fewer columns, a larger epsilon or a larger centre-share`,
      cohortNeeded: needed,
    };
  }
  const scaling = choice.kind === 'auto' ? [choice.event] : [];
  const events = [...scaling, bins, median, clipped.sum, clipped.count];
  return planFor({ facts, choice, corruption, events, clipped });
}

/** Rows with which every column's fullest bin clears the threshold, noise included, 99 times in 100. */
function cohortForCentre(bins: GaussianHistogramEvent, dimension: number, corruption: number): number {
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(0.01 / dimension);
  return Math.ceil(wanted / (fullestBin * (1 - corruption)));
}

function planFor(design: Design): Plan {
  const { facts, choice, events, clipped } = design;
  const { dimension, cohort } = facts;
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'noisy clipped mean around a private centre; proofs in src/privacy/stages/centre and src/privacy/stages/clipped-mean',
      assumptions: [
        'for accuracy: scale is at least the standard deviation of a row in every column, and not far above it',
        'for accuracy: nearly all rows lie within the radius of the centre',
      ],
      corruptionMax: 0,
    },
    outputShape: [dimension],
    noise: choice.kind === 'auto' ? [] : Array.from(choice.scale, (unit) => (unit * clipped.sum.sigma) / cohort),
    facts: {
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      clipRadiusInScales: clipped.ball.radius,
      noisePerCoordinateInScales: clipped.sum.sigma / cohort,
      noiseOfCount: clipped.count.sigma,
      movedByHostileShareInScales: clipped.ball.radius,
      // Of rows with second moments of a scale and tails as heavy as that allows: not in the expected error.
      clippingCostsAtMostInScales: truncationBias({ order: 2, bound: 1 }, dimension, centreOff, clipped.ball.radius),
    },
    expectedError: (corruption) => errorOf(design, corruption),
    summary: () => rowsSummary(dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

function errorOf({ facts, clipped }: Design, corruption: number): ExpectedError {
  const { dimension, cohort } = facts;
  const sampling = Math.sqrt(dimension / cohort);
  const noise = (clipped.sum.sigma * Math.sqrt(dimension)) / cohort;
  if (!(corruption >= 0 && corruption <= corruptionLimit)) return { total: Infinity, sampling, noise, bias: Infinity };
  const bias = corruption * clipped.ball.radius;
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}

function release(design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms): Released<Outcome> {
  const { facts, choice } = design;
  const finished = summaries.get(cohortName);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  const pool = finished.map(onlyPool);
  if (choice.kind === 'given') return releaseInScale(design, pool, choice.scale, mechanisms);
  const found = privateScale(mechanisms, pool, facts.dimension, slotsForScale(facts.cohort, choice.event));
  const scale = found.value;
  if (scale.kind === 'failed') return found.map<Outcome>(() => scaleNotFound(facts, scale.coordinates));
  return releaseInScale(design, pool, scale.scale, mechanisms);
}

/** @param scale - public, or released. */
function releaseInScale(
  design: Design, pool: Sensitive<PooledRows>, scale: Float64Array, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, clipped } = design;
  const rows = pool.map((whole) => rowsInScale(whole, scale));
  const found = privateCentre(mechanisms, rows, facts.dimension, 1);
  const centre = found.value;
  if (centre.kind === 'failed') return found.map<Outcome>(() => centreNotFound(facts, centre.coordinates));
  const options = { centre: centre.centre, ball: clipped.ball, cohort: facts.cohort };
  return privateClippedMean(mechanisms, rows, options).map((answer): Outcome => {
    if (answer.kind === 'participation-below-plan') return participationBelowPlan(facts);
    return answerOf(clipped, {
      centre: centre.centre.map((entry, j) => entry * scale[j]!),
      scale,
      moved: answer.mean.map((entry, j) => entry - centre.centre[j]!),
      present: answer.present,
    });
  });
}

function onlyPool(finished: readonly Finished[]): PooledRows {
  const [only] = finished;
  assert(only?.kind === 'pooled' && finished.length === 1, 'the rows come in one pool');
  return only.rows;
}

/** Dividing by a scale keeps one contributor one row; an entry that leaves the doubles makes it the null row. */
function rowsInScale({ count, dimension, values }: PooledRows, scale: Float64Array): RowBlock {
  const scaled = new Float64Array(count * dimension);
  for (let i = 0; i < scaled.length; i++) scaled[i] = values[i]! / scale[i % dimension]!;
  return { count, dimension, values: scaled };
}
