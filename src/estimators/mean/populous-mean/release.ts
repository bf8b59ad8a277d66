import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import {
  privateClippedMean, type ClippedMeanEvents,
} from '../../../privacy/stages/clipped-mean.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { FinishedSummaries } from '../../contract/estimator.js';
import { finishedOf } from '../../contract/finished.js';
import {
  finiteValue, intervalAbout, participationBelowPlan,
} from '../../contract/outcomes.js';
import {
  agreeingPairs, agreementCounts, weightedAverage, type GroupPoints,
} from './agreement.js';
import type { Design, DesignFacts } from './design.js';
import { cohortName } from './events.js';
import { gatherPoints, gridStepsMax } from './local.js';

/** Public constants that a release needs. */
export interface ReleaseContext {
  readonly design: Design;
  readonly designFacts: DesignFacts;
  readonly spread: Float64Array;
  readonly average: GaussianEvent;
  readonly clipped: ClippedMeanEvents;
  /** Standard deviation of sampling per coordinate, in units of spread. */
  readonly sampling: number;
}

/**
 * Test, average, then the mean of the points near it. A test that fails is a paid refusal. Claim
 * and proof: populous-mean, stability.
 */
export function release(
  context: ReleaseContext,
  summaries: FinishedSummaries,
  mechanisms: Mechanisms,
): Released<Outcome> {
  const { design, spread, average, clipped } = context;
  const finished = finishedOf(summaries, cohortName, design.groups);
  const measured = finished.map((groups) => {
    const points = gatherPoints(groups, spread.length);
    return { points, counts: agreementCounts(points, design.radius) };
  });
  const passed = mechanisms.threshold('agreement', measured.map(({ counts }) =>
    agreeingPairs(counts)));
  if (!passed.value) return passed.map<Outcome>(() => disagreement(context));
  const noisy = mechanisms.gaussian(
    'average',
    measured.map(
      ({ points, counts }) => weightedAverage(points, counts, design.thresholds, average.grid),
    ),
  );
  const points = measured.map(({ points: all }) =>
    pointsNear(all, noisy.value, clipped.ball.radius));
  const options = { centre: noisy.value, ball: clipped.ball, cohort: design.groups };
  return privateClippedMean(mechanisms, points, options).map((answer): Outcome => {
    if (answer.kind === 'participation-below-plan') {
      return participationBelowPlan(context.designFacts);
    }
    const estimate = Array.from(answer.mean, (entry, j) => entry * spread[j]!);
    const noise = clipped.sum.sigma / answer.present;
    const half = deviations95 * Math.hypot(noise, context.sampling);
    const standardDeviation = Array.from(spread, (unit) => unit * noise);
    return finiteValue({
      estimate,
      shape: [spread.length],
      uncertainty: { kind: 'gaussian', standardDeviation },
      // Noise and sampling of rows no wider than spread. It does not cover what trimming or hostile
      // rows moved: populous-mean takes it away, or widens it by the mean of all rows.
      interval95: intervalAbout(estimate, (j) => half * spread[j]!),
    }, 'the noisy mean of the groups times spread is');
  });
}

/**
 * The points inside a ball about a released centre, as rows. Points of spoiled groups are outside,
 * and would pull if they were clipped. Whether a point is inside is a function of this point and of
 * released numbers, so a group more, less or changed is one row.
 */
function pointsNear(
  { groups, dimension, present, values }: GroupPoints, centre: Float64Array, radius: number,
): RowBlock {
  const isNear = (i: number): boolean => {
    let square = 0;
    for (let j = 0; j < dimension; j++) square += (values[i * dimension + j]! - centre[j]!) ** 2;
    return present[i] === 1 && square <= radius ** 2;
  };
  const rows = Array.from({ length: groups }, (_, i) => i).filter(isNear);
  const own = new Float64Array(rows.length * dimension);
  rows.forEach((i, at) =>
    own.set(values.subarray(i * dimension, (i + 1) * dimension), at * dimension));
  return { count: rows.length, dimension, values: own };
}

function disagreement({ design, designFacts, average }: ReleaseContext): Outcome {
  const farthest = gridStepsMax * average.grid;
  return {
    kind: 'refused',
    reason: 'subsamples-disagree',
    text: `fewer of the ${design.groups} groups agreed within ${design.radius.toPrecision(3)} `
      + 'spreads than the noisy '
      + `test asks for. Planned for ${designFacts.cohort} contributors, at most a share of `
      + `${designFacts.corruption} `
      + 'of them hostile, and rows that vary by about one spread and are at most '
      + `${farthest.toPrecision(2)} spreads from zero: check each, then lower cohort, raise `
      + 'corruption or spread, or subtract a public number from each row.',
  };
}
