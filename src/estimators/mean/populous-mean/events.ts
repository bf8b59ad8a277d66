import { log2 } from '../../../base/elementary.js';
import { assert } from '../../../base/assert.js';
import type { GaussianEvent, GaussianThresholdEvent } from '../../../privacy/accounting/events.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clippedMeanEvents, type ClippedMeanEvents } from '../../../privacy/stages/clipped-mean.js';
import {
  averageSensitivity, averageShare, pairsFloor, testDeviation, type Design,
} from './design.js';

/** The one cohort of `populous-mean`. */
export const cohortName = 'groups';
/** Rounding of a computed bound never makes it smaller than the exact one. */
const upwards = 1 + 2 ** -40;

/** The draws: the test on agreeing pairs, the average, and the mean of points clipped about it. */
export interface PopulousEvents {
  readonly test: GaussianThresholdEvent;
  readonly average: GaussianEvent;
  readonly clipped: ClippedMeanEvents;
}

/** Spends the target's rho in full, and its delta on the test. */
export function eventsOf(design: Design, facts: StudyFacts): PopulousEvents {
  const { groups, radius, stability, clipRadius } = design;
  const rhoTest = facts.target.rho * design.testPart;
  const left = shareOf(facts.target.rho, 1 - design.testPart);
  const rhoAverage = shareOf(left, averageShare);
  const moved = averageSensitivity(radius, stability, groups) * upwards;
  // So fine that rounding costs a thousandth of the noise; so coarse that data 10^9 spreads from
  // zero
  // still fit.
  const grid = 2 ** Math.floor(log2(moved / Math.sqrt(2 * rhoAverage)) - 14);
  assert(grid > radius * 2 ** -38, 'the grid is far coarser than the rounding of the weighted sum');
  const sensitivity = moved + 2 * grid * Math.sqrt(facts.dimension) * upwards;
  return {
    test: {
      kind: 'gaussian-threshold',
      name: 'agreement',
      cohort: cohortName,
      sensitivity: groups - 1,
      sigma: testDeviation(groups, rhoTest) * upwards,
      delta: facts.target.delta,
      floor: pairsFloor(groups, design.thresholds.agreement),
      grid: 1,
    },
    average: {
      kind: 'gaussian',
      name: 'average',
      cohort: cohortName,
      dimension: facts.dimension,
      sensitivity,
      sigma: (sensitivity / Math.sqrt(2 * rhoAverage)) * upwards,
      grid,
    },
    clipped: clippedMeanEvents({
      cohort: cohortName, dimension: facts.dimension, radius: clipRadius,
      rho: shareOf(left, 1 - averageShare),
    }),
  };
}
