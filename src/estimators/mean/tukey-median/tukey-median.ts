import type { Released, Sensitive } from '../../../base/brands.js';
import { InvalidParameterError } from '../../../base/errors.js';
import type { Outcome } from '../../../base/outcome.js';
import { normalQuantile } from '../../../numerics/normal.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import { pureForRho } from '../../../privacy/accounting/conversion.js';
import type { ExponentialEvent, GaussianEvent, LaplaceEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { privateScale, slotsForScale } from '../../../privacy/stages/scale.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type {
  Estimator, ExpectedError, FinishedSummaries, Infeasible, ParameterSpec, ParameterValues, Plan, PooledRows, StudyFacts,
} from '../../contract/estimator.js';
import { chooseScale, scaleNotFound, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { corruptionParameter, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import { candidateCount, candidateGrid, candidateOffsets, type CandidateGrid } from './candidates.js';
import {
  chosenPlace, cohortForPresent, onlyPool, placeNotFound, presentEvent, refusalOfFew, rowsInScale, tooManyColumns, wholeCohort,
} from '../depth/common.js';
import { depthScores } from './depth.js';
import { halfSphere } from '../depth/directions.js';
import { startOf, type Start } from '../depth/start.js';
import { neighbours } from '../../contract/planning.js';

const corruptionLimit = 0.25;
/** Parts of rho, or of a pure epsilon. */
const shares = { present: 0.05, start: 0.25, choice: 0.7 } as const;
/** The depth that a choice gives away may be this share of the contributors. */
const depthShareMaximum = 0.1;
/** Farther from the start than this, in scales, a grid of candidates is too coarse to be worth it. */
const reachMaximum = 6;
/** Rows needed by a standard deviation: of the Tukey median of normal rows, over sqrt(columns / rows). Measured. */
const samplingFactors = [1.2533, 1.17, 1.13] as const;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(corruptionLimit, 'hostile share for which the candidates must still surround the honest middle'),
  {
    name: 'radius', type: 'number', optional: true, minimum: 1e-150, maximum: 1e150, unit: 'data units',
    description: 'public bound on the absolute value of the middle in every column; needed where privacy is to be '
      + 'pure; when absent the middle may be anywhere, and finding it takes a delta',
  },
];

/**
 * The private Tukey median of up to three columns: the point that has the most rows on its emptier side, whatever the
 * direction.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added. With a radius: rho zCDP
 * and no delta, or pure epsilon where the budget asks for it. Without: (rho, delta), delta-approximate zCDP.
 * Why: the number present changes by at most 1. The start costs its share (start). Candidates are a public grid around
 * that released start, their depths change by at most 1 (depth), and one of them is chosen by the exponential mechanism
 * with that sensitivity. The three compose. A scale that was found privately was paid for, and composes in the same
 * way.
 *
 * Robust: hostile rows, wherever they stand, move the answer by at most about the 1/2 + eta / (1 - eta) quantile of an
 * honest row's distribution along a direction, for a hostile share eta.
 *
 * Source: Tukey (1975) for depth; the exponential mechanism on depth as in Liu, Kong, Kakade and Oh (2021), section J,
 * whose density is exp(epsilon n depth / 2), not its inverse.
 */
export const tukeyMedian: Estimator = {
  name: 'tukey-median',
  title: 'Tukey median of up to three columns',
  citations: [{
    key: 'LKKO21',
    text: 'X. Liu, W. Kong, S. Kakade, S. Oh. Robust and differentially private mean estimation. NeurIPS 2021.',
    place: 'section J, the exponential mechanism on Tukey depth, here over fixed directions and candidates',
  }],
  parameters,
  shelf: 'research',
  assumption: 'There are at most three columns, and scale is about the standard deviation of each.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP with a radius, pure epsilon under '
    + 'such a budget; (rho, delta)-approximate zCDP without.',
  plan: planTukeyMedian,
};

interface Design {
  readonly facts: StudyFacts;
  readonly choice: ScaleChoice;
  readonly corruption: number;
  readonly present: GaussianEvent | LaplaceEvent;
  readonly start: Start;
  readonly grid: CandidateGrid;
  readonly pick: ExponentialEvent;
}

function planTukeyMedian(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const tooMany = tooManyColumns(facts);
  if (tooMany !== undefined) return tooMany;
  const radius = optionalNumberOf(values, 'radius');
  const withoutDelta = radius !== undefined && values['scale'] !== 'auto';
  if (!withoutDelta && (facts.target.isPure === true || !(facts.target.delta > 0))) {
    return {
      kind: 'infeasible',
      reason: 'finding the scale, or where the rows are, takes a delta, and the budget has none',
      remedy: 'give scale and radius, or a budget with a delta',
    };
  }
  const choice = chooseScale(values, facts, wholeCohort.name);
  return choice.kind === 'infeasible' ? choice : designed(values, facts, choice, radius);
}

function designed(
  values: ParameterValues, facts: StudyFacts, choice: ScaleChoice, radius: number | undefined,
): Plan | Infeasible {
  const { dimension, cohort } = facts;
  const { target } = choice.facts;
  if (radius !== undefined && choice.kind === 'auto') {
    throw new InvalidParameterError(
      'parameters.radius is given and scale is auto: a range is cut into steps of scale beforehand, so give scale too',
      { path: 'parameters.radius' },
    );
  }
  const corruption = numberOf(values, 'corruption');
  const inScales = radius === undefined || choice.kind === 'auto' ? {}
    : { radius: choice.scale.map((unit) => radius / unit) };
  const present = presentEvent(target, shares.present);
  const start = startOf({
    cohort: wholeCohort.name, contributors: cohort, dimension, target, share: shares.start, delta: target.delta,
    corruption, ...inScales,
  });
  const pick = exponentialEvent({
    name: 'choice', cohort: wholeCohort.name, candidates: candidateCount(dimension), sensitivity: 1,
    ...(target.isPure === true
      ? { epsilon: pureForRho(target.rho) * shares.choice } : { rho: shareOf(target.rho, shares.choice) }),
  });
  const cohortNeeded = Math.max(start.cohortNeeded, cohortForPresent(present), cohortForChoice(pick));
  if (cohort < cohortNeeded) return tooFew(facts, cohortNeeded);
  const spread = (samplingOf(facts) + noiseOf(pick, facts)) / Math.sqrt(dimension);
  const reach = start.error + biasOf(corruption) + 3 * spread;
  if (reach > reachMaximum) {
    return {
      kind: 'infeasible',
      reason: `the first look at the range leaves the middle open by ${reach.toPrecision(3)} scales`,
      remedy: 'a smaller radius, a larger scale, or no radius and a budget with a delta',
    };
  }
  return planFor({ facts, choice, corruption, present, start, grid: candidateGrid(dimension, reach), pick });
}

function cohortForChoice(pick: ExponentialEvent): number {
  return Math.ceil(depthLost(pick) / depthShareMaximum);
}

/** What the chosen candidate's depth is below the best one's, 99 times in 100. */
function depthLost({ epsilon, candidates }: ExponentialEvent): number {
  return (2 / epsilon) * (Math.log(candidates) + Math.log(100));
}

function tooFew(facts: StudyFacts, cohortNeeded: number): Infeasible {
  return {
    kind: 'infeasible',
    reason: `with ${facts.cohort} contributors, ${facts.dimension} columns and rho ${facts.target.rho.toPrecision(3)} `
      + 'the noise hides where the rows are, or which candidate is deepest',
    remedy: `a cohort of ${cohortNeeded}, fewer columns or a larger epsilon`,
    cohortNeeded,
  };
}

function samplingOf({ dimension, cohort }: StudyFacts): number {
  return samplingFactors[dimension - 1]! * Math.sqrt(dimension / cohort);
}

/**
 * Away from the middle of normal rows the depth falls by about .4 contributors in a scale and contributor, so that the
 * distance of the choice has the density t^(d-1) exp(-.4 n epsilon t / 2), whose mean square is d (d + 1) rates^-2.
 */
function noiseOf({ epsilon }: ExponentialEvent, { dimension, cohort }: StudyFacts): number {
  return (Math.sqrt(dimension * (dimension + 1)) * 2 * Math.sqrt(2 * Math.PI)) / (epsilon * cohort);
}

/** How far hostile rows may move the deepest point of normal ones. */
function biasOf(corruption: number): number {
  return corruption === 0 ? 0 : normalQuantile(0.5 + corruption / (1 - corruption));
}

function planFor(design: Design): Plan {
  const { facts, choice, corruption, present, start, grid, pick } = design;
  const scaling: readonly MechanismEvent[] = choice.kind === 'auto' ? [choice.event] : [];
  const events = [...scaling, present, ...start.events, pick];
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [wholeCohort],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'exponential mechanism on depths of sensitivity 1; '
        + 'proofs in src/estimators/mean/tukey-median/depth and src/estimators/mean/depth/start',
      assumptions: [
        'for accuracy: scale is about the standard deviation of a row in every column',
        'for expected errors: honest rows are normal',
      ],
      corruptionMax: corruption,
    },
    outputShape: [facts.dimension],
    noise: [],
    facts: {
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      candidates: grid.count,
      reachInScales: grid.reach,
      spacingInScales: grid.spacing,
      directions: halfSphere(facts.dimension).length / facts.dimension,
      epsilonOfChoice: pick.epsilon,
      depthLostShare99: depthLost(pick) / facts.cohort,
    },
    expectedError: (share) => errorOf(design, share),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/** In units of scale. The grid's rounding counts as noise. */
function errorOf({ facts, corruption, grid, pick }: Design, share: number): ExpectedError {
  const sampling = samplingOf(facts);
  const noise = Math.hypot(noiseOf(pick, facts), grid.spacing * Math.sqrt(facts.dimension / 12));
  if (!(share >= 0 && share <= corruption)) return { total: Infinity, sampling, noise, bias: Infinity };
  const bias = biasOf(share);
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}

function release(design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms): Released<Outcome> {
  const { facts, choice } = design;
  const pool = onlyPool(summaries);
  const few = refusalOfFew(mechanisms, pool, design.present, facts);
  const refusal = few.value;
  if (refusal !== undefined) return few.map(() => refusal);
  if (choice.kind === 'given') return releaseInScale(design, pool, choice.scale, mechanisms);
  const found = privateScale(mechanisms, pool, facts.dimension, slotsForScale(facts.cohort, choice.event));
  const scale = found.value;
  if (scale.kind === 'failed') return found.map<Outcome>(() => scaleNotFound(facts, scale.coordinates));
  return releaseInScale(design, pool, scale.scale, mechanisms);
}

/** @param scale - public, or released. */
function releaseInScale(
  { facts, start, grid }: Design, pool: Sensitive<PooledRows>, scale: Float64Array, mechanisms: Mechanisms,
): Released<Outcome> {
  const { dimension } = facts;
  const rows = pool.map((whole) => rowsInScale(whole, scale));
  const started = start.draw(mechanisms, rows);
  const centre = started.value;
  if (centre.kind === 'failed') return started.map<Outcome>(() => placeNotFound(facts, centre.coordinates));
  const candidates = candidateOffsets(grid).map((offset, i) => centre.centre[i % dimension]! + offset);
  const chosen = mechanisms.exponential('choice', rows.map((block) =>
    depthScores(block, candidates, halfSphere(dimension), grid.spacing)));
  return chosen.map((index) =>
    chosenPlace(candidates.slice(index * dimension, (index + 1) * dimension), scale, grid.spacing));
}
