import { countGrid } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { powerOfTwoBelow } from '../../../privacy/accounting/grid.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { ExpectedError } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { centreStage, type QueryDesign } from '../../pooled/centre.js';
import type { MeanEvents } from '../../pooled/centred-mean.js';
import { honestErrorOfMean } from '../../pooled/expected-error.js';
import { surplus } from '../../pooled/pool.js';
import { histogramBins } from '../../pooled/projected-histogram.js';
import { binsEvent, countEvent, squareEvent, sumEvent } from '../../pooled/query-events.js';
import { finalSumShare, isBlind } from '../filters/design.js';
import { momentEvents, type MomentEvents } from '../filters/rounds.js';
import { noiseOfSquare, type AnyOptions, type MomentRound } from './any-design.js';

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
  /** The event of distances from the mean; null with one column, where it says nothing new. */
  readonly distance: GaussianEvent | null;
  /** Histograms along the widest axes. */
  readonly histograms: readonly GaussianEvent[];
}

/**
 * The events for correlated columns, whose rows are mapped so that they vary alike in every
 * direction. Where columns are not correlated, all of them carry the mean (reallocation).
 */
export interface MapEvents {
  /** The rounds of rows that are mapped by the moments before. */
  readonly rounds: readonly MomentRound[];
  /** The events of third moments, and of rows beyond a threshold along the direction they show. */
  readonly third: GaussianEvent;
  readonly refine: GaussianEvent;
  /** The ball of `third` and `refine`. */
  readonly thirdBall: ClipBall;
}

export interface RobustDesign extends QueryDesign, MeanEvents {
  /** Share of hostile rows that the interval for them is stated for. */
  readonly corruption: number;
  readonly ball: ClipBall;
  /** None where they could detect nothing. */
  readonly rounds: readonly RobustRound[];
  /** Null where noise would hide which columns are correlated. */
  readonly mapping: MapEvents | null;
  /** Detection threshold of the first round, as planned. */
  readonly excessMax: number;
  /** Noise of the mean's sum where columns are not correlated, so that a map's events carry it. */
  readonly sigma: number;
}

/** Options as for rows of any shape, with nothing left to the design. `axes` are per round. */
export interface RobustOptions extends AnyOptions {
  /** In spreads. */
  readonly radius: number;
  /** The same where noise hides every look: only the mean is drawn. Default: `radius`. */
  readonly radiusOfMean?: number;
  readonly centrePart: number;
  /** The same where only the mean is drawn. Default: `centrePart`. */
  readonly centrePartOfMean?: number;
  readonly finalPart: number;
}

/** Parts of a round's cost: second moments find axes, histograms find thresholds along them. */
const parts = { count: 0.02, sum: 0.08, square: 0.5, histograms: 0.4 } as const;
/** Reallocated sums fill the sensitivity of a histogram's event to within one part in this many. */
const leastMultiple = 16;

/** Parts of the final share, where columns may be correlated. */
const mapShares = { round: 0.11, third: 0.1, refine: 0.1, rest: 0.58 } as const;
/** Rounds of mapped rows: with the first look they reach variances 10^4 apart. */
const mapRounds = 2;
/** Parts of a map round's cost. */
const mapParts = { sum: 0.13, square: 0.87 } as const;
/** A first look with more noise than this, in variances, might see narrow directions in noise. */
const lookNoiseMax = 0.4;
/** A map with more noise than this would make widths of noise. */
const mapNoiseMax = 0.35;

/** Splits rho: the centre, the rounds, the map, the final mean. */
export function robustDesign(options: RobustOptions): RobustDesign {
  const { facts, bounds = null, corruption, finalPart } = options;
  const { dimension, cohort, target } = facts;
  const rowsMax = surplus * cohort;
  const lookBall = clipBall(options.radius, { products: true, rowsMax });
  const rhoRound = shareOf(target.rho, (1 - options.centrePart - finalPart) / options.rounds);
  const planned = Array.from({ length: options.rounds }, (_, t) =>
    // Logs and released bytes depend on the events' names.
    robustRound(options, `look-${t + 1}`, rhoRound, lookBall));
  const excessMax = excessMaxOf(planned[0]!, cohort);
  const meanBall = clipBall(options.radiusOfMean ?? options.radius, { products: true, rowsMax });
  // A share c of hostile rows moves the mean by c R in the ball of radius R, and by sqrt(c t) where
  // rounds hide an excess of t. So rounds are for nothing unless t < c R^2, R being the radius
  // without them.
  const rounds = isBlind(excessMax, corruption, meanBall) ? [] : planned;
  const hasRounds = rounds.length > 0;
  const ball = hasRounds ? lookBall : meanBall;
  const centrePart = hasRounds
    ? options.centrePart : options.centrePartOfMean ?? options.centrePart;
  const centre = centreStage({
    dimension, rho: shareOf(target.rho, centrePart), delta: target.delta, corruption, bounds,
  });
  const mapping = !hasRounds ? null : mapEvents(
    options, rounds[0]!, ball, (share) => shareOf(target.rho, share * finalPart),
  );
  const left = mapping === null ? 1 : mapShares.rest;
  const rhoFinal =
    shareOf(target.rho, hasRounds ? finalPart * left : 1 - centrePart);
  const sum = sumEvent('mean/sum', dimension, ball, shareOf(rhoFinal, finalSumShare));
  const count = countEvent('mean/count', shareOf(rhoFinal, 0.05));
  return {
    facts, corruption, centre, ball, rowsMax, rounds, mapping, excessMax, sum, count,
    sigma: sum.sigma * Math.sqrt(left),
    events: [
      ...centre.events, ...rounds.flatMap(eventsOf), ...mapEventsOf(mapping), sum, count,
    ],
  };
}

/** The events, in the order in which they are drawn. */
export function eventsOf(
  { count, sum, square, distance, histograms }: RobustRound,
): readonly (GaussianEvent | SymmetricGaussianEvent)[] {
  return [count, sum, square, ...(distance === null ? [] : [distance]), ...histograms];
}

/** All events of a map. */
export function mapEventsOf(
  mapping: MapEvents | null,
): readonly (GaussianEvent | SymmetricGaussianEvent)[] {
  if (mapping === null) return [];
  const { rounds, third, refine } = mapping;
  return [...rounds.flatMap(({ sum, square }) => [sum, square]), third, refine];
}

/** Null when the noise of the first look, or of a map, hides what is to be mapped. */
function mapEvents(
  { facts: { dimension, cohort } }: RobustOptions, first: RobustRound, sums: ClipBall,
  rhoOf: (share: number) => number,
): MapEvents | null {
  if (dimension === 1) return null;
  const root = Math.sqrt(dimension);
  const ballOf = (radius: number): ClipBall =>
    clipBall(radius, { products: true, rowsMax: surplus * cohort });
  // Fine enough for sums of all rows as well (reallocation).
  const fine = (sensitivity: number, grid: number): number =>
    Math.min(grid, powerOfTwoBelow(sensitivity / (2 * sums.steps * leastMultiple)));
  const ball = ballOf(root + 1.2);
  const rhoRound = rhoOf(mapShares.round);
  const rounds = Array.from({ length: mapRounds }, (_, t): MomentRound => ({
    ball,
    sum: sumEvent(
      `map-${t + 1}/sum`, dimension, ball, shareOf(rhoRound, mapParts.sum),
      fine(2 * ball.radius, ball.grid),
    ),
    square: squareEvent(
      `map-${t + 1}/square`, dimension, ball, shareOf(rhoRound, mapParts.square),
      fine(ball.radius ** 2, ball.grid ** 2),
    ),
  }));
  if (noiseOfSquare(first.square, cohort) >= lookNoiseMax
    || noiseOfSquare(rounds[0]!.square, cohort) >= mapNoiseMax) return null;
  const thirdBall = ballOf(root + 2.5);
  const vector = (name: string, share: number): GaussianEvent => sumEvent(
    name, dimension, thirdBall, rhoOf(share), fine(2 * thirdBall.radius, thirdBall.grid),
  );
  return {
    rounds, thirdBall,
    third: vector('map/third', mapShares.third), refine: vector('map/refine', mapShares.refine),
  };
}

/**
 * The events of one filter round.
 * @param options.axes - that have a histogram, at most.
 * @param rho - of the round. @param ball - of the rows: sums and squares are on its grid.
 */
export function robustRound(
  { axes, facts: { dimension } }: Pick<RobustOptions, 'axes' | 'facts'>, name: string,
  rho: number, ball: ClipBall,
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
 * A share c of hostile rows that widens no axis beyond the detection threshold t moves the mean by
 * at most sqrt(c t). Along an axis that is detected, rows that a normal shape cannot explain are
 * removed, and the rest move its median by about sqrt(pi / 2) c. Neither moves it farther than the
 * ball.
 */
export function robustErrorOf(
  { facts: { dimension, cohort }, ball, sigma, excessMax }: RobustDesign, promise: number,
): (share: number) => ExpectedError {
  return errorUpTo(promise, honestErrorOfMean(dimension, cohort, sigma), (share) => {
    const hidden = Math.sqrt(share * excessMax);
    const explained = (Math.sqrt(Math.PI / 2) * share) / (1 - 2 * share);
    return Math.min(share * ball.radius, Math.hypot(hidden, explained));
  });
}
