import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95, normalCdf, normalDensity, normalQuantile, normalUpperQuantile } from '../../../numerics/normal.js';
import { countGrid, gaussianEvent, gaussianThresholdEvent } from '../../../privacy/accounting/calibration.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { GaussianEvent, GaussianThresholdEvent, LaplaceEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { passingValue } from '../../../privacy/mechanisms/bounds.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { privateScale, slotsForScale } from '../../../privacy/stages/scale.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type {
  Estimator, ExpectedError, FinishedSummaries, Infeasible, ParameterSpec, ParameterValues, Plan, PooledRows, StudyFacts,
} from '../../contract/estimator.js';
import { chooseScale, scaleNotFound, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { corruptionParameter, numberOf, scaleParameter } from '../../contract/values.js';
import {
  cohortForPresent, onlyPool, placeNotFound, presentEvent, refusalOfFew, rowsInScale, tooManyColumns, wholeCohort,
} from '../depth/common.js';
import { halfSphere } from '../depth/directions.js';
import { startOf, type Start } from '../depth/start.js';
import { fitFor, fitted, offsetsAround, placeGrid, trimmedViews, type Fit } from './trimming.js';
import { neighbours } from '../../contract/planning.js';

const corruptionLimit = 0.12;
/** Less than this is trimmed for nobody: the test needs ends to walk along. */
const corruptionFloor = 0.02;
/** Each end is trimmed by this many times the hostile share. */
const trimmedTimes = 3;
/** How much wider than for normal rows the middle may be, in scales at each end. */
const slack = 0.5;
/** Parts of rho. */
const shares = { present: 0.02, start: 0.15, test: 0.15, point: 0.68 } as const;
/** Of the trimmed mean's error for normal rows, over sqrt(columns / rows), by the share trimmed at each end. */
const samplingFactor = (trimmed: number): number => Math.sqrt(1 + 0.9 * trimmed);
/** No entry of a fitted point is larger, in scales. */
const magnitude = 2 ** 10;
/** The noise may be this large in a column, in scales. */
const noiseMaximum = 0.3;
/** What hostile rows beyond the ends move along one direction, the fit moves by this many times, by columns. */
const biasFactors = [1, 4 / Math.PI, 1.5] as const;

const parameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(
    corruptionLimit, 'hostile share that is withstood; three times as much is trimmed at each end in every direction',
  ),
];

/**
 * The point that fits the trimmed means along all directions best, for up to three columns, after a test that the rows
 * are resilient: that a share of them, wherever it is trimmed, cannot carry a mean far.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added. Cost: (rho, delta),
 * delta-approximate zCDP, shared by the number present, the centre (privacy/centre), the test and the point.
 * Why: given the released centre there are exactly n rows, n public, of which neighbours share all but one (trimming,
 * offsetsAround). The distance to a data set that is too wide changes by at most 1 (trimming, distanceToWide), and a
 * threshold test passes only if it is at least 1, but for a probability within delta (mechanisms/threshold, claim (b)).
 * At distance 1 or more the gap between the trimmed ends is at most L in every direction, on both neighbours, so that
 * every trimmed mean changes by at most L / (n - 2 k) (trimming, trimmedSum), and the point, which is a linear map of
 * them, by at most `amplification` times as much in Euclidean distance (trimming, fitFor). Gaussian noise on it is
 * calibrated to that.
 *
 * Source: after Liu, Kong, Kakade and Oh (2021), Algorithm 2, which takes exponential time, tests an average over all
 * subsets, and whose stated sensitivities are too small (by 1 - 2 corruption for the test; the choice by itself spends
 * the whole epsilon). Trimming along fixed directions takes its place; the test is the exact distance; and a point that
 * fits all directions, with Gaussian noise, replaces the choice among candidates by their worst direction, which
 * hostile rows on one side can carry twice as far as a direction's trimmed mean and which a grid rounds.
 */
export const resilience: Estimator = {
  name: 'resilience',
  title: 'Mean of up to three columns by trimming in every direction',
  citations: [{
    key: 'LKKO21',
    text: 'X. Liu, W. Kong, S. Kakade, S. Oh. Robust and differentially private mean estimation. NeurIPS 2021.',
    place: 'Algorithm 2, with trimmed means along fixed directions in place of all subsets, and a fit of them',
  }],
  parameters,
  shelf: 'research',
  assumption: 'There are at most three columns, and honest rows have light tails.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, '
    + 'split between the centre, a test of resilience and the point.',
  plan: planResilience,
};

interface Design {
  readonly facts: StudyFacts;
  readonly choice: ScaleChoice;
  readonly corruption: number;
  readonly present: GaussianEvent | LaplaceEvent;
  readonly start: Start;
  readonly test: GaussianThresholdEvent;
  readonly point: GaussianEvent;
  readonly fit: Fit;
  readonly cut: Cut;
}

interface Cut {
  /** Rows dropped at each end. */
  readonly trimmed: number;
  /** Width that the rest may have, in steps of placeGrid. */
  readonly limit: number;
  /** The same in scales. */
  readonly width: number;
}

function planResilience(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const tooMany = tooManyColumns(facts);
  if (tooMany !== undefined) return tooMany;
  if (facts.target.isPure === true || !(facts.target.delta > 0)) {
    return {
      kind: 'infeasible',
      reason: 'the centre and the test take a delta, and the budget has none',
      remedy: 'a budget with a delta, or tukey-median with a radius',
    };
  }
  const choice = chooseScale(values, facts, wholeCohort.name);
  return choice.kind === 'infeasible' ? choice : designed(facts, choice, numberOf(values, 'corruption'));
}

function designed(facts: StudyFacts, choice: ScaleChoice, corruption: number): Plan | Infeasible {
  const { dimension, cohort } = facts;
  const { target } = choice.facts;
  const { name } = wholeCohort;
  const present = presentEvent(target, shares.present);
  const start = startOf({
    cohort: name, contributors: cohort, dimension, target, share: shares.start, delta: shareOf(target.delta, 0.5),
    corruption,
  });
  const forTest = shareOf(target.rho, shares.test);
  const test = gaussianThresholdEvent({
    name: 'test', cohort: name, sensitivity: 1, floor: 1, grid: countGrid(1 / Math.sqrt(2 * forTest)), rho: forTest,
    delta: shareOf(target.delta, 0.5),
  });
  const fit = fitFor(halfSphere(dimension), dimension);
  const pointOf = (cut: Cut, contributors: number): GaussianEvent => gaussianEvent({
    name: 'point', cohort: name, dimension, rho: shareOf(target.rho, shares.point), magnitude,
    sensitivity: (fit.amplification * cut.width) / (contributors - 2 * cut.trimmed),
  });
  // The noise is inversely proportional to the contributors, up to rounding of what is trimmed.
  const some = 10_000;
  const forNoise = (1.01 * some * pointOf(cutOf(some, corruption), some).sigma) / noiseMaximum;
  const cohortNeeded = Math.ceil(Math.max(
    start.cohortNeeded, cohortForPresent(present), cohortForTest(test, corruption), forNoise, 1 / corruptionFloor,
  ));
  if (cohort < cohortNeeded) return tooFew(facts, cohortNeeded);
  const cut = cutOf(cohort, corruption);
  return planFor({ facts, choice, corruption, present, start, test, point: pointOf(cut, cohort), fit, cut });
}

function trimmedShare(corruption: number): number {
  return trimmedTimes * Math.max(corruption, corruptionFloor);
}

function cutOf(contributors: number, corruption: number): Cut {
  const width = 2 * (normalUpperQuantile(trimmedShare(corruption)) + slack);
  const limit = Math.floor(width / placeGrid);
  return { trimmed: Math.floor(trimmedShare(corruption) * contributors), limit, width: limit * placeGrid };
}

/**
 * Contributors with whom normal rows pass the test, 99.9 times in 100, when hostile ones stand far out on one side.
 * With the lower end where those leave it, the upper one must move out to a place beyond which a share `tail` of the
 * honest stands; the hostile are there already. A fifth is for sampling, of which the worst direction counts.
 */
function cohortForTest(test: GaussianThresholdEvent, corruption: number): number {
  const trimmed = trimmedShare(corruption);
  const lower = normalUpperQuantile(trimmed / (1 - corruption));
  const tail = 1 - normalCdf(cutOf(1, corruption).width - lower);
  const walk = 0.8 * (trimmed - corruption - (1 - corruption) * tail);
  return Math.ceil((passingValue(test) + 3.1 * test.sigma) / walk);
}

function tooFew(facts: StudyFacts, cohortNeeded: number): Infeasible {
  return {
    kind: 'infeasible',
    reason: `with ${facts.cohort} contributors, ${facts.dimension} columns and rho ${facts.target.rho.toPrecision(3)} `
      + 'the noise hides where the rows are, or whether they are resilient',
    remedy: `a cohort of ${cohortNeeded}, fewer columns or a larger epsilon`,
    cohortNeeded,
  };
}

/**
 * Mean of normal rows between the shares that trimming leaves of them when a share `hostile` stands beyond one end:
 * what those move the trimmed mean along one direction.
 */
function biasOf(hostile: number, corruption: number): number {
  const trimmed = trimmedShare(corruption);
  const low = trimmed / (1 - hostile);
  const high = (trimmed - hostile) / (1 - hostile);
  const edge = (share: number): number => normalDensity(normalQuantile(share));
  return (edge(low) - edge(high)) / (1 - low - high);
}

function planFor(design: Design): Plan {
  const { facts, choice, corruption, present, start, test, point, cut } = design;
  const scaling: readonly MechanismEvent[] = choice.kind === 'auto' ? [choice.event] : [];
  const events = [...scaling, present, ...start.events, test, point];
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [wholeCohort],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'distance to a wide data set, tested, then Gaussian noise on a fit of trimmed means; '
        + 'proofs in src/estimators/mean/resilience and src/estimators/mean/depth',
      assumptions: [
        'for accuracy: scale is at least the standard deviation of a row in every direction, and not far above it',
        'for expected errors: honest rows are normal',
      ],
      corruptionMax: corruption,
    },
    outputShape: [facts.dimension],
    noise: choice.kind === 'auto' ? [] : Array.from(choice.scale, (unit) => unit * point.sigma),
    facts: {
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      trimmedAtEachEnd: cut.trimmed,
      widthInScales: cut.width,
      distanceToPass: passingValue(test),
      directions: design.fit.directions.length / facts.dimension,
      noisePerCoordinateInScales: point.sigma,
    },
    expectedError: (share) => errorOf(design, share),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/** In units of scale. */
function errorOf({ facts, corruption, point }: Design, share: number): ExpectedError {
  const { dimension, cohort } = facts;
  const sampling = samplingFactor(trimmedShare(corruption)) * Math.sqrt(dimension / cohort);
  const noise = point.sigma * Math.sqrt(dimension);
  if (!(share >= 0 && share <= corruption)) return { total: Infinity, sampling, noise, bias: Infinity };
  const bias = biasFactors[dimension - 1]! * biasOf(share, corruption);
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
  design: Design, pool: Sensitive<PooledRows>, scale: Float64Array, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, start, cut, fit } = design;
  const { dimension, cohort } = facts;
  const rows = pool.map((whole) => rowsInScale(whole, scale));
  const started = start.draw(mechanisms, rows);
  const found = started.value;
  if (found.kind === 'failed') return started.map<Outcome>(() => placeNotFound(facts, found.coordinates));
  const { centre } = found;
  const views = rows.map((block) =>
    trimmedViews(offsetsAround(block, centre, cohort), dimension, fit.directions, cut));
  const passed = mechanisms.threshold('test', views.map(({ distance }) => distance));
  if (!passed.value) return passed.map<Outcome>(() => notResilient(facts, cut));
  const point = mechanisms.gaussian('point', views.map(({ means }) => fitted(fit, means)));
  return point.map((offset) => valueOf(design, offset.map((entry, j) => centre[j]! + entry), scale));
}

function valueOf({ facts, corruption, point }: Design, place: Float64Array, scale: Float64Array): Outcome {
  const estimate = Array.from(place, (entry, j) => entry * scale[j]!);
  if (!estimate.every((entry) => Number.isFinite(entry))) {
    return {
      kind: 'refused', reason: 'numerical-failure', text: 'the noisy point times scale is beyond the range of doubles',
    };
  }
  const sampling = samplingFactor(trimmedShare(corruption)) / Math.sqrt(facts.cohort);
  // Covers the noise and the sampling of rows no wider than scale; not what hostile rows moved.
  const half = Array.from(scale, (unit) => deviations95 * unit * Math.hypot(point.sigma, sampling));
  return {
    kind: 'value',
    estimate,
    shape: [estimate.length],
    uncertainty: { kind: 'gaussian', standardDeviation: Array.from(scale, (unit) => unit * point.sigma) },
    interval95: {
      low: estimate.map((entry, j) => entry - half[j]!),
      high: estimate.map((entry, j) => entry + half[j]!),
    },
  };
}

function notResilient({ cohort }: StudyFacts, { width }: Cut): Outcome {
  return {
    kind: 'refused',
    reason: 'rows-too-wide',
    text: `along some direction the middle of the rows may be wider than the ${width.toPrecision(3)} scales that `
      + `were planned for: raise scale, or plan for more than ${cohort} contributors, or for more hostile ones`,
  };
}
