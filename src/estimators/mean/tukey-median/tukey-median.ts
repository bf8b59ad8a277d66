import { ln } from '../../../base/elementary.js';
import type { Released } from '../../../base/brands.js';
import { InvalidParameterError } from '../../../base/errors.js';
import type { Outcome } from '../../../base/outcome.js';
import { normalQuantile } from '../../../numerics/normal.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type {
  Estimator, Infeasible, ParameterValues, StudyFacts,
} from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { finiteValue } from '../../contract/outcomes.js';
import { answerAtBound } from '../../contract/outside.js';
import { lkko21 } from '../../contract/papers.js';
import {
  corruptionParameter, numberOf, optionalNumberOf, valueBounds,
} from '../../contract/values.js';
import type { Draws } from '../../pooled/centre.js';
import {
  definePooledEstimator, type CentredPool, type DesignRequest, type PooledDesign, type TooFew,
} from '../../pooled/estimator.js';
import { rowsCohort } from '../../pooled/pool.js';
import {
  cohortForPresent, presentEvent, refusalOfFew, tooManyColumns,
} from '../depth/common.js';
import { halfSphere } from '../depth/directions.js';
import { startOf, type Start } from '../depth/start.js';
import {
  candidateCount, candidateGrid, candidateOffsets, type CandidateGrid,
} from './candidates.js';
import { depthScores } from './depth.js';
import { describeTukeyMedian } from './describe.js';

const corruptionLimit = 0.25;
/** Parts of rho, or of a pure epsilon. */
const shares = { present: 0.05, start: 0.25, choice: 0.7 } as const;
/** The depth that a choice gives away may be this share of the contributors. */
const depthShareMaximum = 0.1;
/** With a start farther off than this, in spreads, a grid of candidates is too coarse. */
const reachMaximum = 6;
/** Error of the Tukey median of normal rows over sqrt(columns / rows), by columns. Measured. */
const samplingFactors = [1.2533, 1.17, 1.13] as const;

/**
 * The private Tukey median of up to three columns: the point that has the most rows on its emptier
 * side, whatever the direction.
 *
 * Claim. With a radius: rho zCDP and no delta, or pure epsilon where the budget asks for it.
 * Without: (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator) with the start as its centre (depth/start), of the
 * number present and of the choice.
 * Why. The number present changes by at most 1. Candidates are a public grid around the released
 * start. Their depths change by at most 1 (`depth`), and one of them is chosen by the exponential
 * mechanism with that sensitivity. These compose.
 * Assumption. There are at most three columns, and spread is about the standard deviation of each.
 * The answer is a median, and the mean only of symmetric rows. Where the start is in the outermost
 * cell of the range, or the choice at an end of the grid, the answer says that it may be farther
 * out: both are released.
 * Hostile rows, wherever they stand, move the answer by at most about the 1/2 + eta / (1 - eta)
 * quantile of an honest row's distribution along a direction, for a corruption eta.
 * Source. Tukey (1975) for depth; the exponential mechanism on depth as in Liu, Kong, Kakade and Oh
 * (2021), section J, whose density is exp(epsilon n depth / 2), not its inverse.
 */
export const tukeyMedian: Estimator = definePooledEstimator({
  name: 'tukey-median',
  title: 'Tukey median of up to three columns',
  citations: [lkko21(
    'section J, the exponential mechanism on Tukey depth, here over fixed directions and '
    + 'candidates',
  )],
  parameters: [
    corruptionParameter(
      corruptionLimit,
      'fraction of false rows for which the candidates must still surround the honest middle',
    ),
    {
      name: 'radius', type: 'number', optional: true, minimum: 1e-150,
      maximum: valueBounds.maximum, unit: 'data units',
      description: 'public bound on the absolute value of the middle in every column; needed where '
        + 'privacy is to be pure; when absent the middle may be anywhere, and finding it takes a '
        + 'delta. The answer says so where the middle seems to be at the bound',
    },
  ],
  maturity: 'research',
  describe: describeTukeyMedian,
  assumption:
    'At most three columns, spread about the deviation of each, and symmetric honest rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP with a radius, '
    + 'pure epsilon under such a budget; (rho, delta)-approximate zCDP without.',
}, { refuse: impossible, demand: () => null, design: designFor });

/** @throws InvalidParameterError for a radius without a spread. */
function impossible(values: ParameterValues, facts: StudyFacts): Infeasible | null {
  const tooMany = tooManyColumns(facts);
  if (tooMany !== null) return tooMany;
  const hasRadius = values['radius'] !== undefined;
  if (hasRadius && values['spread'] === 'auto') {
    throw new InvalidParameterError(
      'parameters.radius is given and spread is auto: a range is cut into steps of spread '
      + 'beforehand, so give spread too',
      { path: 'parameters.radius' },
    );
  }
  if (hasRadius || (facts.target.isPure !== true && facts.target.delta > 0)) return null;
  return {
    kind: 'infeasible',
    reason: 'finding the spread, or where the rows are, takes a delta, and the budget has none',
    remedy: 'give spread and radius, or a budget with a delta',
  };
}

function designFor(request: DesignRequest): PooledDesign | TooFew | Infeasible {
  const { values, facts } = request;
  const { dimension, cohort, target } = facts;
  const corruption = numberOf(values, 'corruption');
  const present = presentEvent(target, shares.present);
  const start = startFor(request, corruption);
  const pick = exponentialEvent({
    name: 'choice', cohort: rowsCohort, candidates: candidateCount(dimension), sensitivity: 1,
    ...(target.isPure === true
      ? { epsilon: shareOf(target.epsilon, shares.choice) }
      : { rho: shareOf(target.rho, shares.choice) }),
  });
  const cohortNeeded =
    Math.max(start.cohortNeeded, cohortForPresent(present), cohortForChoice(pick));
  if (cohort < cohortNeeded) {
    return {
      kind: 'too-few', cohortNeeded,
      hidden: 'where the rows are, or which candidate is deepest',
      others: 'fewer columns or a larger epsilon',
    };
  }
  const offBy = (samplingOf(facts) + noiseOf(pick, facts)) / Math.sqrt(dimension);
  const reach = start.error + biasOf(corruption) + 3 * offBy;
  if (reach > reachMaximum) {
    return {
      kind: 'infeasible',
      reason: 'the first median of the range is off by up to '
        + `${reach.toPrecision(3)} spreads, too much for a grid of candidates`,
      remedy: 'a smaller radius, a larger spread, or no radius and a budget with a delta',
    };
  }
  const grid = candidateGrid(dimension, reach);
  return {
    kind: 'design',
    centre: start,
    plan: {
      events: [present, ...start.events, pick],
      guarantee: {
        theorem: 'exponential mechanism on depths of sensitivity 1; proofs in '
          + 'src/estimators/mean/tukey-median/depth and src/estimators/mean/depth/start',
        assumptions: [
          'for accuracy: spread is about the standard deviation of a row in every column',
          'the answer is a median: it is the mean where honest rows are symmetric',
          'for expected errors: honest rows are normal',
        ],
        corruptionMax: corruption,
      },
      outputShape: [dimension],
      facts: {
        candidates: grid.count,
        reachInSpreads: grid.reach,
        spacingInSpreads: grid.spacing,
        directions: halfSphere(dimension).length / dimension,
        epsilonOfChoice: pick.epsilon,
        depthLostShare99: depthLost(pick) / cohort,
        interval: 'none: the choice tells nobody how many people are on each side of its answer; '
          + 'median has an interval in each column',
      },
      // The grid's rounding counts as noise.
      expectedError: errorUpTo(corruption, {
        sampling: samplingOf(facts),
        noise: Math.hypot(noiseOf(pick, facts), grid.spacing * Math.sqrt(dimension / 12)),
      }, biasOf),
    },
    inSpreads: true,
    admit: (mechanisms, pool) => refusalOfFew(mechanisms, pool, present, facts),
    release: (draws, centred) => release({ grid, start }, draws, centred),
  };
}

function startFor({ values, facts, spread }: DesignRequest, corruption: number): Start {
  const { dimension, cohort, target } = facts;
  const radius = optionalNumberOf(values, 'radius');
  return startOf({
    contributors: cohort, dimension, target, share: shares.start, delta: target.delta, corruption,
    ...(radius === undefined || spread === null
      ? {} : { radius: spread.map((unit) => radius / unit) }),
  });
}

function cohortForChoice(pick: ExponentialEvent): number {
  return Math.ceil(depthLost(pick) / depthShareMaximum);
}

/** How far the chosen candidate's depth is below the best one's, at most, 99 times in 100. */
function depthLost({ epsilon, candidates }: ExponentialEvent): number {
  return (2 / epsilon) * (ln(candidates) + ln(100));
}

function samplingOf({ dimension, cohort }: StudyFacts): number {
  return samplingFactors[dimension - 1]! * Math.sqrt(dimension / cohort);
}

/**
 * Away from the middle of normal rows the depth falls by about .4 contributors in a spread and
 * contributor, so that the distance of the choice has the density t^(d-1) exp(-.4 n epsilon t / 2),
 * whose mean square is d (d + 1) rates^-2.
 */
function noiseOf({ epsilon }: ExponentialEvent, { dimension, cohort }: StudyFacts): number {
  return (Math.sqrt(dimension * (dimension + 1)) * 2 * Math.sqrt(2 * Math.PI)) / (epsilon * cohort);
}

/** How far hostile rows may move the deepest point of normal ones. */
function biasOf(corruption: number): number {
  return corruption === 0 ? 0 : normalQuantile(0.5 + corruption / (1 - corruption));
}

/** Draws the choice. The rows are in spreads. */
async function release(
  { grid, start }: { readonly grid: CandidateGrid; readonly start: Start }, { mechanisms }: Draws,
  { pool, centre, spread, columns }: CentredPool,
): Promise<Released<Outcome>> {
  const { dimension, spacing } = grid;
  const offsets = candidateOffsets(grid);
  const candidates = offsets.map((offset, i) => centre[i % dimension]! + offset);
  const chosen = mechanisms.exponential('choice', pool.map((rows) =>
    depthScores(rows, candidates, halfSphere(dimension), spacing)));
  return chosen.map((index): Outcome => {
    const place = candidates.slice(index * dimension, (index + 1) * dimension);
    const estimate = Array.from(place, (entry, j) => entry * spread[j]!);
    const widest = spread.reduce((most, unit, j) =>
      (columns.oneValue[j] === null ? Math.max(most, unit) : most), 0);
    // The middle of the rows may be farther out than the candidates, or than the radius.
    const isLast = (j: number): boolean =>
      Math.abs(offsets[index * dimension + j]!) > grid.reach - spacing / 2
        || (start.outermost !== null && Math.abs(centre[j]!) > start.outermost[j]!);
    const findings = estimate.flatMap((_, j) =>
      (columns.oneValue[j] === null && isLast(j) ? answerAtBound(j) : []));
    return finiteValue({
      estimate, shape: [estimate.length], uncertainty: { kind: 'grid', spacing: spacing * widest },
      ...(findings.length > 0 && { findings }),
    }, 'the chosen place times spread is');
  });
}
