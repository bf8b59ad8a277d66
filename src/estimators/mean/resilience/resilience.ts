import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import {
  deviations95, normalCdf, normalDensity, normalQuantile, normalUpperQuantile,
} from '../../../numerics/normal.js';
import {
  countGrid, gaussianEvent, gaussianThresholdEvent,
} from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, GaussianThresholdEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { passingValue } from '../../../privacy/mechanisms/bounds.js';
import { describeMeans } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterValues, StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { errorUpTo } from '../../contract/planning.js';
import { lkko21 } from '../../contract/papers.js';
import { corruptionParameter, numberOf } from '../../contract/values.js';
import {
  allRowsDesign, releaseAllRows, withAllRows, withoutAllRows, type AllRowsDesign,
} from '../../pooled/all-rows.js';
import type { Draws } from '../../pooled/centre.js';
import { gaussianOutcome } from '../../pooled/centred-mean.js';
import {
  definePooledEstimator, type CentredPool, type DesignRequest, type PooledDesign, type TooFew,
} from '../../pooled/estimator.js';
import { rowsCohort } from '../../pooled/pool.js';
import {
  cohortForPresent, presentEvent, refusalOfFew, tooManyColumns,
} from '../depth/common.js';
import { halfSphere } from '../depth/directions.js';
import { startOf } from '../depth/start.js';
import { fitFor, fitted, offsetsAround, placeGrid, trimmedViews, type Fit } from './trimming.js';

const corruptionLimit = 0.12;
/** At least this share is trimmed: the test needs ends to walk along. */
const corruptionFloor = 0.02;
/** Each end is trimmed by this many times the corruption. */
const trimmedTimes = 3;
/** How much wider than for normal rows what is left may be, in spreads at each end. */
const slack = 0.5;
/** Parts of rho. */
const shares = { present: 0.02, start: 0.15, test: 0.15, point: 0.68 } as const;
/** The trimmed mean's error for normal rows over sqrt(columns / rows), by the share trimmed. */
const samplingFactor = (trimmed: number): number => Math.sqrt(1 + 0.9 * trimmed);
/** No entry of a fitted point is larger, in spreads. */
const magnitude = 2 ** 10;
/** The noise may be this large in a column, in spreads. */
const noiseMaximum = 0.3;
/** The fit multiplies what hostile rows beyond the ends move along one direction, by columns. */
const biasFactors = [1, 4 / Math.PI, 1.5] as const;

/**
 * The point that fits the trimmed means along all directions best, for up to three columns, after a
 * test that the rows are resilient: that a share of them, wherever it is trimmed, cannot move a
 * mean far.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the number present, the mean of all rows
 * (pooled/all-rows), the test and the point.
 * Why. Given the released centre there are exactly n rows, n public, of which neighbours share all
 * but one (trimming, offsetsAround). The distance to a data set that is too wide changes by at most
 * 1 (trimming, distanceToWide), and a threshold test passes only if it is at least 1, but for a
 * probability within delta (privacy/mechanisms/threshold, claim (b)). At distance 1 or more the gap
 * between the trimmed ends is at most L in every direction, on both neighbours. So every trimmed
 * mean changes by at most L / (n - 2 k) (trimming, trimmedSum), and the point, which is a linear
 * map of them, by at most `amplification` times as much in Euclidean distance (trimming, fitFor).
 * Gaussian noise on it is calibrated to that.
 * Assumption. There are at most three columns, and honest rows are symmetric with light tails: of
 * skewed rows the trimmed mean is not the mean. interval95 also holds the mean of all rows
 * (pooled/all-rows).
 * Source. After Liu, Kong, Kakade and Oh (2021), Algorithm 2, which takes exponential time, tests
 * an average over all subsets, and whose stated sensitivities are too small: by 1 - 2 corruption
 * for the test, and the choice by itself spends the whole epsilon. Trimming along fixed directions
 * takes its place, and the test is the exact distance. A point that fits all directions, with
 * Gaussian noise, replaces the choice among candidates by their worst direction: hostile rows on
 * one side can move that choice twice as far as a direction's trimmed mean, and a grid rounds it.
 */
export const resilience: Estimator = definePooledEstimator({
  name: 'resilience',
  title: 'Mean of up to three columns by trimming in every direction',
  citations: [lkko21(
    'Algorithm 2, with trimmed means along fixed directions in place of all subsets, and a '
    + 'fit of them',
  )],
  parameters: [
    corruptionParameter(
      corruptionLimit,
      'fraction of false rows that is withstood; three times as much is trimmed at each end in '
      + 'every direction',
    ),
  ],
  maturity: 'research',
  describe: describeMeans,
  assumption: 'There are at most three columns, and honest rows are symmetric with light tails.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, split between the centre, the mean of all rows, a test of '
    + 'resilience and the point.',
}, { refuse: impossible, demand: () => null, design: designFor });

function impossible(_: ParameterValues, facts: StudyFacts): Infeasible | null {
  const tooMany = tooManyColumns(facts);
  if (tooMany !== null) return tooMany;
  if (facts.target.isPure !== true && facts.target.delta > 0) return null;
  return {
    kind: 'infeasible',
    reason: 'the centre and the test take a delta, and the budget has none',
    remedy: 'a budget with a delta, or tukey-median with a radius',
  };
}

interface Ends {
  /** Rows dropped at each end. */
  readonly trimmed: number;
  /** Width that the rest may have, in steps of placeGrid. */
  readonly limit: number;
  /** The same in spreads. */
  readonly width: number;
}

const promise = {
  theorem: 'distance to a wide data set, tested, then Gaussian noise on a fit of trimmed '
    + 'means; proofs in src/estimators/mean/resilience and src/estimators/mean/depth',
  assumptions: [
    'for accuracy: spread is at least the standard deviation of a row in every direction, '
    + 'and not far above it',
    'for accuracy: honest rows are symmetric about their mean',
    'for expected errors: honest rows are normal',
  ],
};

function designFor(request: DesignRequest): PooledDesign | TooFew {
  const { values } = request;
  const all = allRowsDesign(request.facts);
  const facts = withoutAllRows(request.facts);
  const { dimension, cohort, target } = facts;
  const corruption = numberOf(values, 'corruption');
  const present = presentEvent(target, shares.present);
  const start = startOf({
    contributors: cohort, dimension, target, share: shares.start,
    delta: shareOf(target.delta, 0.5), corruption,
  });
  const test = testEvent(facts);
  const fit = fitFor(halfSphere(dimension), dimension);
  const pointOf = (ends: Ends, contributors: number): GaussianEvent => gaussianEvent({
    name: 'point', cohort: rowsCohort, dimension, rho: shareOf(target.rho, shares.point), magnitude,
    sensitivity: (fit.amplification * ends.width) / (contributors - 2 * ends.trimmed),
  });
  // The noise is inversely proportional to the contributors, up to rounding of what is trimmed.
  const some = 10_000;
  const forNoise = (1.01 * some * pointOf(endsOf(some, corruption), some).sigma) / noiseMaximum;
  const cohortNeeded = Math.ceil(Math.max(
    start.cohortNeeded, cohortForPresent(present), cohortForTest(test, corruption), forNoise,
    1 / corruptionFloor,
  ));
  if (cohort < cohortNeeded) {
    return {
      kind: 'too-few', cohortNeeded,
      hidden: 'where the rows are, or whether they are resilient',
      others: 'fewer columns or a larger epsilon',
    };
  }
  const ends = endsOf(cohort, corruption);
  const point = pointOf(ends, cohort);
  const factor = samplingFactor(trimmedShare(corruption));
  return {
    kind: 'design',
    centre: start,
    plan: {
      events: [present, ...start.events, ...all.events, test, point],
      guarantee: {
        ...promise, assumptions: [...promise.assumptions, all.assumption],
        corruptionMax: corruption,
      },
      outputShape: [dimension],
      facts: {
        trimmedAtEachEnd: ends.trimmed,
        widthInSpreads: ends.width,
        distanceToPass: passingValue(test),
        directions: fit.directions.length / dimension,
        noisePerCoordinateInSpreads: point.sigma,
      },
      expectedError: errorUpTo(
        corruption,
        {
          sampling: factor * Math.sqrt(dimension / cohort),
          noise: point.sigma * Math.sqrt(dimension),
        },
        (share) => biasFactors[dimension - 1]! * biasOf(share, corruption),
      ),
    },
    noise: { sigma: point.sigma, rows: 1 },
    inSpreads: true,
    admit: (mechanisms, pool) => refusalOfFew(mechanisms, pool, present, facts),
    release: (draws, centred) => release(
      { facts, ends, fit, point, all, sampling: factor / Math.sqrt(cohort) }, draws, centred,
    ),
  };
}

function testEvent({ target }: StudyFacts): GaussianThresholdEvent {
  const rho = shareOf(target.rho, shares.test);
  return gaussianThresholdEvent({
    name: 'test', cohort: rowsCohort, sensitivity: 1, floor: 1,
    grid: countGrid(1 / Math.sqrt(2 * rho)), rho, delta: shareOf(target.delta, 0.5),
  });
}

function trimmedShare(corruption: number): number {
  return trimmedTimes * Math.max(corruption, corruptionFloor);
}

function endsOf(contributors: number, corruption: number): Ends {
  const share = trimmedShare(corruption);
  const limit = Math.floor((2 * (normalUpperQuantile(share) + slack)) / placeGrid);
  return { trimmed: Math.floor(share * contributors), limit, width: limit * placeGrid };
}

/**
 * Contributors with whom normal rows pass the test, 99.9 times in 100, when hostile ones stand far
 * out on one side. With the lower end where those leave it, the upper one must move out to a place
 * beyond which a share `tail` of the honest stands; the hostile are there already. A fifth is for
 * sampling, of which the worst direction counts.
 */
function cohortForTest(test: GaussianThresholdEvent, corruption: number): number {
  const trimmed = trimmedShare(corruption);
  const lower = normalUpperQuantile(trimmed / (1 - corruption));
  const tail = 1 - normalCdf(endsOf(1, corruption).width - lower);
  const walk = 0.8 * (trimmed - corruption - (1 - corruption) * tail);
  return Math.ceil((passingValue(test) + 3.1 * test.sigma) / walk);
}

/**
 * Mean of normal rows between the shares that trimming leaves of them when a share `hostile` stands
 * beyond one end: what those move the trimmed mean along one direction.
 */
function biasOf(hostile: number, corruption: number): number {
  const trimmed = trimmedShare(corruption);
  const low = trimmed / (1 - hostile);
  const high = (trimmed - hostile) / (1 - hostile);
  const edge = (share: number): number => normalDensity(normalQuantile(share));
  return (edge(low) - edge(high)) / (1 - low - high);
}

interface Run {
  readonly facts: StudyFacts;
  readonly ends: Ends;
  readonly fit: Fit;
  readonly point: GaussianEvent;
  readonly all: AllRowsDesign;
  /** Standard deviation of sampling in each column, in spreads. */
  readonly sampling: number;
}

/** Draws the test and the point. The rows are in spreads. */
async function release(
  { facts, ends, fit, point, all: beside, sampling }: Run, draws: Draws,
  { pool, centre, spread }: CentredPool,
): Promise<Released<Outcome>> {
  const { mechanisms } = draws;
  const { dimension, cohort } = facts;
  const ones = spread.map(() => 1);
  const all = (await releaseAllRows(draws, beside, pool, centre, ones)).value;
  const views = pool.map((rows) =>
    trimmedViews(offsetsAround(rows, centre, cohort), dimension, fit.directions, ends));
  const passed = mechanisms.threshold('test', views.map(({ distance }) => distance));
  if (!passed.value) return passed.map<Outcome>(() => notResilient(facts, ends));
  const drawn = mechanisms.gaussian('point', views.map(({ means }) => fitted(fit, means)));
  const deviation = Array.from(spread, (unit) => unit * point.sigma);
  return drawn.map((offset) => {
    if (all.isBelowPlan) return participationBelowPlan(facts);
    const estimate = Array.from(offset, (entry, j) => (centre[j]! + entry) * spread[j]!);
    // Noise, and sampling of rows no wider than spread; not what hostile rows moved.
    const point95 = gaussianOutcome('the noisy point times spread', estimate, deviation, (j) =>
      deviations95 * spread[j]! * Math.hypot(point.sigma, sampling));
    // The ends of skewed rows move the point, which is no mean then.
    const place = centre.map((entry, j) => entry * spread[j]!);
    return withAllRows(point95, { all, centre: place, spread, left: null, clippedAt: null });
  });
}

function notResilient({ cohort }: StudyFacts, { width }: Ends): Outcome {
  return {
    kind: 'refused',
    reason: 'rows-too-wide',
    text: 'along some direction the middle of the rows may be wider than the '
      + `${width.toPrecision(3)} spreads that were planned for: raise spread, or plan for more than `
      + `${cohort} contributors, or for more hostile ones`,
  };
}
