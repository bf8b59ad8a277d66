import { countGrid } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, MechanismEvent } from '../../../privacy/accounting/events.js';
import { powerOfTwoBelow } from '../../../privacy/accounting/grid.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import {
  centreStage, type CentreBounds, type CentreStage,
} from '../../pooled/centre.js';
import { honestErrorOfMean } from '../../pooled/expected-error.js';
import { histogramBins } from '../../pooled/projected-histogram.js';
import { binsEvent, countEvent, sumEvent } from '../../pooled/query-events.js';
import { finalSumShare, isBlind } from '../filters/design.js';
import { momentEvents, type MomentEvents } from '../filters/rounds.js';

/**
 * The noise of a robust mean, worked out from public numbers.
 *
 * Claim. Each event covers its query of the rows left (pooled/query-events): moments, and one bin
 * for each row in a histogram along an axis, or of the distance.
 * Neighbours. One contributor's row replaced by any other, or by none, or added: at any time at
 * most one row of those left is in one set and not in the other, and at most one the other way
 * round (robust-mean).
 */

/** The events of one filter round. */
export interface RobustRound extends MomentEvents {
  /** Of the distance from the mean; null with one column, where it says nothing new. */
  readonly distance: GaussianEvent | null;
  /** Along the widest axes. */
  readonly histograms: readonly GaussianEvent[];
}

export interface RobustDesign {
  /** The study's, with what is left to spend after the scale. */
  readonly facts: StudyFacts;
  /** Share of hostile rows that the interval for them is stated for. */
  readonly corruption: number;
  readonly centre: CentreStage;
  readonly ball: ClipBall;
  readonly rowsMax: number;
  /** None where they could detect nothing. */
  readonly rounds: readonly RobustRound[];
  /** Detection threshold of the first round, as planned. */
  readonly excessMax: number;
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
  readonly events: readonly MechanismEvent[];
}

export interface RobustOptions {
  readonly facts: StudyFacts;
  /** Null or absent: the centre may be anywhere. */
  readonly bounds?: CentreBounds | null;
  readonly corruption: number;
  /** In scales. */
  readonly radius: number;
  /** At most. */
  readonly rounds: number;
  /** Histograms of a round. */
  readonly axes: number;
  readonly centreShare: number;
  readonly finalShare: number;
}

/** Parts of a round's cost: second moments find axes, histograms find thresholds along them. */
const parts = { count: 0.02, sum: 0.08, square: 0.5, histograms: 0.4 } as const;
/** How many times the nominal cohort is counted exactly; of more, the smallest tags are taken. */
const surplus = 4;
/** Reallocated sums fill the sensitivity of a histogram's event to one part in so many. */
const leastMultiple = 16;

/** Splits rho: the centre, the rounds, the final mean. */
export function robustDesign(options: RobustOptions): RobustDesign {
  const { facts, bounds = null, corruption, centreShare, finalShare } = options;
  const { dimension, cohort, target } = facts;
  const rowsMax = surplus * cohort;
  const ball = clipBall(options.radius, { products: true, rowsMax });
  const centre = centreStage({
    dimension, rho: shareOf(target.rho, centreShare), delta: target.delta, corruption, bounds,
  });
  const rhoRound = shareOf(target.rho, (1 - centreShare - finalShare) / options.rounds);
  const planned = Array.from({ length: options.rounds }, (_, t) =>
    // Logs and released bytes depend on the events' names.
    robustRound(options, `look-${t + 1}`, rhoRound, ball));
  const excessMax = excessMaxOf(planned[0]!, cohort);
  const rounds = isBlind(excessMax, corruption, ball) ? [] : planned;
  const rhoFinal = shareOf(target.rho, rounds.length === 0 ? 1 - centreShare : finalShare);
  const sum = sumEvent('mean/sum', dimension, ball, shareOf(rhoFinal, finalSumShare));
  const count = countEvent('mean/count', shareOf(rhoFinal, 0.05));
  return {
    facts, corruption, centre, ball, rowsMax, rounds, excessMax, sum, count,
    events: [...centre.events, ...rounds.flatMap(eventsOf), sum, count],
  };
}

function eventsOf({ count, sum, square, distance, histograms }: RobustRound): MechanismEvent[] {
  return [count, sum, square, ...(distance === null ? [] : [distance]), ...histograms];
}

function robustRound(
  { axes, facts: { dimension } }: RobustOptions, name: string, rho: number, ball: ClipBall,
): RobustRound {
  const count = Math.min(axes, dimension);
  const rhoEach = shareOf(rho, parts.histograms / (count + (dimension > 1 ? 1 : 0)));
  // Fine enough for sums as well (reallocation).
  const grid = Math.min(
    countGrid(1 / Math.sqrt(rhoEach)),
    powerOfTwoBelow(Math.SQRT1_2 / (ball.steps * leastMultiple)),
  );
  const histogram = (part: string): GaussianEvent =>
    binsEvent(`${name}/${part}`, histogramBins, rhoEach, grid);
  return {
    ...momentEvents(name, dimension, ball, rho, parts),
    distance: dimension > 1 ? histogram('distance') : null,
    histograms: Array.from({ length: count }, (_, k) => histogram(`axis-${k + 1}`)),
  };
}

/**
 * The detection threshold: the excess that an axis may show by chance. The noise of the second
 * moments has a norm of about sigma sqrt(2 d), sampling one of about 2 sqrt(d / n).
 * @param count - rows, released or planned.
 */
export function excessMaxOf({ square }: MomentEvents, count: number): number {
  const { sigma, dimension } = square;
  return (sigma * Math.sqrt(2 * dimension)) / count + 2 * Math.sqrt(dimension / count);
}

/**
 * Of a share c of hostile rows, what widens no axis beyond the detection threshold t moves the mean
 * by at most sqrt(c t). Along an axis that is detected, rows that a normal shape cannot explain are
 * removed, and the rest move its median by about sqrt(pi / 2) c. Neither moves it farther than the
 * ball.
 */
export function robustErrorOf(
  { facts: { dimension, cohort }, ball, sum, excessMax }: RobustDesign, promise: number,
): (share: number) => ExpectedError {
  return errorUpTo(promise, honestErrorOfMean(dimension, cohort, sum.sigma), (share) => {
    const hidden = Math.sqrt(share * excessMax);
    const explained = (Math.sqrt(Math.PI / 2) * share) / (1 - 2 * share);
    return Math.min(share * ball.radius, Math.hypot(hidden, explained));
  });
}
