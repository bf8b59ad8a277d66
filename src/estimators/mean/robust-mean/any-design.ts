import { countGrid } from '../../../privacy/accounting/calibration.js';
import type { GaussianEvent, SymmetricGaussianEvent } from '../../../privacy/accounting/events.js';
import { powerOfTwoBelow } from '../../../privacy/accounting/grid.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import { equalPairsEvent, showsEqualPairs } from '../../../privacy/stages/equal-pairs.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import {
  centreStage, type CentreBounds, type CentreStage, type Draws, type QueryDesign,
} from '../../pooled/centre.js';
import type { MeanEvents } from '../../pooled/centred-mean.js';
import { honestErrorOfMean, movedByShare } from '../../pooled/expected-error.js';
import { usualRadius } from '../../pooled/parameters.js';
import { rowsCohort, surplus } from '../../pooled/pool.js';
import { distanceBins } from '../../pooled/radius.js';
import { axisBins, clusterShares } from '../../pooled/valleys.js';
import { binsEvent, countEvent, squareEvent, sumEvent } from '../../pooled/query-events.js';

/**
 * The noise of a robust mean of rows of any shape, worked out from public numbers.
 *
 * Claim. Each event covers its query (pooled/query-events). `third` and `refine` are sums of
 * vectors of norm at most R, so neighbours differ by at most 2 R. Sums of the mean, and of the rows
 * left out, are of rows divided by a released radius, in a ball of radius 1; those left out may be
 * squeezed along a released axis before. `distance` has every
 * row in one bin: that of its distance, in one histogram if it is left and in another if not. The
 * event of an axis that nobody asked for may have the distances of the rows left, too.
 * `equal` counts pairs of rows (stages/equal-pairs).
 * Neighbours. One contributor's row replaced by any other, or by none, or added: at any time at
 * most one row of those left is in one set and not in the other, and at most one the other way
 * round (any-release).
 * Why. Every vector is clipped to the ball of its event after the map, in whole grid steps. So the
 * bound holds whatever the map and the radius are. Events are planned from public numbers; a
 * release that draws fewer costs no more.
 */

/** Noisy moments of the rows in a ball. */
export interface MomentRound {
  readonly ball: ClipBall;
  readonly sum: GaussianEvent;
  readonly square: SymmetricGaussianEvent;
}

export interface AnyDesign extends QueryDesign, MeanEvents {
  readonly corruption: number;
  /** Ranges that every value is pulled into; null: there are none. */
  readonly bounds: CentreBounds | null;
  /** In spreads; null: found from the released distances. */
  readonly radius: number | null;
  /**
   * How far a radius that was planned for few people may move the mean of honest rows of deviation
   * 1, in spreads; 0 for any other radius.
   */
  readonly cut: number;
  /** The event of the number of rows, drawn with the first round. */
  readonly present: GaussianEvent | null;
  /** The first is of rows in spreads, the others are of mapped rows. Empty: noise hides them. */
  readonly rounds: readonly MomentRound[];
  /** The event of third moments; null when noise hides them. */
  readonly third: GaussianEvent | null;
  readonly refine: GaussianEvent | null;
  /** The ball of `third` and `refine`. */
  readonly thirdBall: ClipBall;
  readonly axes: readonly GaussianEvent[];
  readonly distance: GaussianEvent;
  /**
   * Shows which columns are discrete, once a cluster is seen. Null where a found spread has shown
   * it, and where noise hides it or nobody is left out.
   */
  readonly equal: GaussianEvent | null;
  /** Radius 1, in units of the chosen radius. */
  readonly unitBall: ClipBall;
  /** Sum of the rows left out, or past the bins of an axis, in units of a radius of their own. */
  readonly apart: GaussianEvent;
}

/** The design of a release of rows of any shape, and the tools with which it draws. */
export interface AnyRun extends Draws {
  readonly design: AnyDesign;
}

export interface AnyOptions {
  readonly facts: StudyFacts;
  /** Null or absent: the centre may be anywhere. */
  readonly bounds?: CentreBounds | null;
  readonly corruption: number;
  /** The spread is given, so nothing has shown which columns are discrete. */
  readonly isSpreadGiven?: boolean;
  readonly radius: number | null;
  /** Rounds of moments at most. */
  readonly rounds: number;
  /** Histograms along axes at most. */
  readonly axes: number;
  /** Null: the smallest usual one with which the centre is found. */
  readonly centrePart: number | null;
  /** Null: what the other events leave. */
  readonly finalPart: number | null;
}

/** Normal rows get a radius of sqrt(columns) and this, about. */
const usualMore = 1.5;
/** Shares of rho. */
const shares = {
  round: 0.05, mappedRound: 0.045, third: 0.04, refine: 0.04, axis: 0.035,
  distance: 0.03, distanceOfFew: 0.15, equal: 0.01,
} as const;
/** Shares of the centre, where none is given: small cohorts need more to find it. */
const centreParts = [0.08, 0.12, 0.2];
const centrePartsMax = 0.3;
/** Parts of a round's cost. */
const parts = { count: 0.03, sum: 0.13, square: 0.84 } as const;
/** Parts of the final cost. */
const finalParts = { sum: 0.83, count: 0.07, apart: 0.1 } as const;
/** A first round with more noise than this, in variances, says nothing. */
const roundNoiseMax = 1;
/** A map with more noise than this would make widths of noise. */
const mapNoiseMax = 0.35;
/** Third moments with more noise than this show no direction. */
const thirdNoiseMax = 0.06;
/** Reallocated sums fill the sensitivity of an event to within one part in this many. */
const leastMultiple = 16;

/** Noise of the second moments of `rows` rows, as the largest variance that it shows. */
export function noiseOfSquare({ sigma, dimension }: SymmetricGaussianEvent, rows: number): number {
  return (sigma * Math.sqrt(2 * dimension)) / rows;
}

/** Norm of the noise of a sum of `rows` rows over their number. */
export function noiseOfSum({ sigma, dimension }: GaussianEvent, rows: number): number {
  return (sigma * Math.sqrt(dimension)) / rows;
}

/** Splits rho: the centre, the events that show the shape, and the mean with all that is left. */
export function anyDesign(options: AnyOptions): AnyDesign {
  const { facts, bounds = null, corruption, finalPart } = options;
  const { dimension, cohort, target } = facts;
  const centreOf = (share: number): CentreStage => centreStage({
    dimension, rho: shareOf(target.rho, share), delta: target.delta, corruption, bounds,
  });
  let centrePart = options.centrePart ?? centreParts[0]!;
  let centre = centreOf(centrePart);
  if (options.centrePart === null) {
    for (const share of [...centreParts.slice(1), centrePartsMax]) {
      if (centre.cohortNeeded <= cohort) break;
      [centrePart, centre] = [share, centreOf(share)];
    }
  }
  const rowsMax = surplus * cohort;
  const unitBall = clipBall(1, { products: true, rowsMax });
  const looks = finalPart === null ? 1 : (1 - centrePart - finalPart) / sharesOfLooks(options);
  const rhoOf = (share: number): number => shareOf(target.rho, looks * share);
  const shape = shapeEvents(options, unitBall, rowsMax, rhoOf);
  const spent = centrePart + looks * shape.share;
  const rhoFinal = shareOf(target.rho, 1 - spent);
  const sum = sumEvent('mean/sum', dimension, unitBall, shareOf(rhoFinal, finalParts.sum));
  const count = countEvent('mean/count', shareOf(rhoFinal, finalParts.count));
  const apart = sumEvent('mean/apart', dimension, unitBall, shareOf(rhoFinal, finalParts.apart));
  const { present, rounds, third, refine, axes, distance, equal } = shape;
  return {
    ...shape, facts, corruption, bounds, centre, rowsMax, unitBall, sum, count, apart,
    ...radiusFor(options, distance),
    events: [
      ...centre.events, ...present === null ? [] : [present],
      ...rounds.flatMap((round) => [round.sum, round.square]),
      ...third === null ? [] : [third], ...refine === null ? [] : [refine], ...axes, distance,
      ...equal === null ? [] : [equal], sum, count, apart,
    ],
  };
}

function sharesOfLooks(options: AnyOptions): number {
  const { facts: { dimension }, rounds, axes } = options;
  return shares.round + (rounds - 1) * shares.mappedRound + shares.third + shares.refine
    + axesOf(axes, dimension) * shares.axis + distanceShare(dimension)
    + (asksEqual(options) ? shares.equal : 0);
}

/** Only clusters that are left out need to be told from discrete columns. */
const asksEqual = ({ isSpreadGiven = false, corruption }: AnyOptions): boolean =>
  isSpreadGiven && corruption > 0;

/** One axis more than columns: the one from third moments is not perpendicular to the others. */
function axesOf(axes: number, dimension: number): number {
  return dimension === 1 ? 1 : Math.min(axes, dimension + 1);
}

function distanceShare(dimension: number): number {
  return dimension <= 4 ? shares.distanceOfFew : shares.distance;
}

type ShapeEvents = Pick<
  AnyDesign, 'present' | 'rounds' | 'third' | 'refine' | 'thirdBall' | 'axes' | 'distance' | 'equal'
> & { /** The part of rho for all of them. */ readonly share: number };

/** The events that tell where rows are, those that noise does not make useless. */
function shapeEvents(
  options: AnyOptions, unitBall: ClipBall, rowsMax: number, rhoOf: (share: number) => number,
): ShapeEvents {
  const { facts: { dimension, cohort }, rounds: roundsMax, axes: axesMax } = options;
  const root = Math.sqrt(dimension);
  const ballOf = (radius: number): ClipBall => clipBall(radius, { products: true, rowsMax });
  /** Fine enough for sums of rows in the unit ball as well (reallocation). */
  const fine = (sensitivity: number, grid: number): number =>
    Math.min(grid, powerOfTwoBelow(sensitivity / (2 * unitBall.steps * leastMultiple)));
  const round = (name: string, radius: number, rho: number): MomentRound => {
    const ball = ballOf(radius);
    const [first, second] = [2 * ball.radius, ball.radius ** 2];
    return {
      ball,
      sum: sumEvent(
        `${name}/sum`, dimension, ball, shareOf(rho, parts.sum), fine(first, ball.grid),
      ),
      square: squareEvent(
        `${name}/square`, dimension, ball, shareOf(rho, parts.square),
        fine(second, ball.grid ** 2),
      ),
    };
  };
  const planned = Array.from({ length: roundsMax }, (_, t) => (t === 0
    ? round('round-1', root + 2.2, rhoOf(shares.round))
    : round(`round-${t + 1}`, root + 1.2, rhoOf(shares.mappedRound))));
  const isSeen = noiseOfSquare(planned[0]!.square, cohort) < roundNoiseMax;
  const isMapped = isSeen && planned.length > 1
    && noiseOfSquare(planned[1]!.square, cohort) < mapNoiseMax;
  const rounds = !isSeen ? [] : isMapped ? planned : planned.slice(0, 1);
  const thirdBall = ballOf(root + 2.5);
  const vector = (name: string, share: number): GaussianEvent =>
    sumEvent(name, dimension, thirdBall, rhoOf(share), fine(2 * thirdBall.radius, thirdBall.grid));
  const third = isSeen ? vector('third', shares.third) : null;
  const hasThird = third !== null && noiseOfSum(third, cohort) < thirdNoiseMax;
  const histogram = (name: string, bins: number, share: number): GaussianEvent => {
    const rho = rhoOf(share);
    return binsEvent(name, bins, rho, fine(Math.SQRT2, countGrid(1 / Math.sqrt(rho))));
  };
  const axes = Array.from({ length: isSeen ? axesOf(axesMax, dimension) : 0 }, (_, k) =>
    histogram(`axis-${k + 1}`, axisBins, shares.axis));
  const refined = hasThird && dimension > 1;
  const pairs = asksEqual(options) ? equalPairsEvent({
    name: 'equal', cohort: rowsCohort, dimension, rho: rhoOf(shares.equal),
    gridMost: fine(Math.sqrt(dimension), 1),
  }) : null;
  const equal = pairs !== null && showsEqualPairs(pairs, cohort) ? pairs : null;
  return {
    rounds, thirdBall, axes, equal,
    present: isSeen ? countEvent('present', rhoOf(shares.round * parts.count)) : null,
    third: hasThird ? third : null,
    refine: refined ? vector('refine', shares.refine) : null,
    distance: histogram('distance', 2 * distanceBins, distanceShare(dimension)),
    share: (isSeen ? shares.round : 0) + Math.max(0, rounds.length - 1) * shares.mappedRound
      + (hasThird ? shares.third : 0) + (refined ? shares.refine : 0)
      + axes.length * shares.axis + distanceShare(dimension)
      + (equal === null ? 0 : shares.equal),
  };
}

/** The radius that normal rows get, about, where none is given. In spreads. */
export function usualChoice({ radius, facts: { dimension } }: AnyDesign): number {
  return radius ?? Math.sqrt(dimension) + usualMore;
}

/** A cluster of this many standard deviations of a bin's noise shows, and is left out. */
const clusterFrom = 6;
/** Fewer rows, in the same unit, show in no bin, so the radius does not follow them. */
const seenFrom = 3.5;
/** `farMost`, with what the noise of the rows' number may add. */
const farShare = 1.25;

/**
 * How far rows beyond the usual radius may move the mean, in spreads, where the radius is found. Up
 * to a share q of all they are too few to be left out as a cluster, but enough to be seen, so the
 * radius follows them: they add at most `farMost` sqrt(q) to what the usual radius allows.
 * @param bin - noise of a count of distances, as a share of the rows.
 * @param share - of the rows, hostile and all far out, 0 .. 1.
 */
function movedByFewFar(bin: number, promise: number, share: number, reach: number): number {
  const few = Math.min(share, Math.max(clusterShares.least * promise, clusterFrom * bin));
  if (few < seenFrom * bin) return 0;
  return few * reach + farShare * Math.sqrt(few);
}

/**
 * The radius, where it is not to be found: the given one, or that of few people. With them, noise
 * hides a cluster of the stated share c that a found radius would follow. A radius R that follows
 * nobody allows hostile rows c R / (1 - c), and moves the mean of honest rows of deviation 1 by at
 * most E (|x| - R)+ <= E |x|^2 / (4 R) = d / (4 R), whatever their shape is. It is taken where the
 * sum is less than what a found one allows. The best R is sqrt(d (1 - c) / (4 c)), but one that
 * normal rows have costs them nothing.
 */
function radiusFor(
  { facts: { dimension, cohort }, corruption, radius }: AnyOptions, { sigma }: GaussianEvent,
): Pick<AnyDesign, 'radius' | 'cut'> {
  if (radius !== null || corruption === 0) return { radius, cut: 0 };
  const ratio = corruption / (1 - corruption);
  const fixed = Math.max(
    Math.sqrt(dimension / (4 * ratio)), Math.sqrt(dimension) + usualMore,
  );
  const cut = dimension / (4 * fixed);
  const few = movedByFewFar(sigma / cohort, corruption, corruption, usualRadius(dimension));
  return few > ratio * fixed + cut ? { radius: fixed, cut } : { radius: null, cut: 0 };
}

/**
 * A share c of hostile rows that looks like honest ones moves the mean by at most sqrt(c / (1 - c))
 * of the rows' deviation, whatever their shape is, and by no more than the ball allows. If fewer
 * rows move it by more from far out (`movedByFewFar`), so may this share. To these comes what the
 * radius of few people cuts off of honest rows.
 */
export function anyErrorOf(
  design: AnyDesign, promise: number,
): (share: number) => ExpectedError {
  const { facts: { dimension, cohort }, radius, cut, sum, distance } = design;
  const reach = radius ?? usualRadius(dimension);
  const honest = honestErrorOfMean(dimension, cohort, sum.sigma * usualChoice(design));
  return errorUpTo(promise, honest, (share) => cut + Math.max(
    Math.min(share * reach, movedByShare(share)),
    radius === null ? movedByFewFar(distance.sigma / cohort, promise, share, reach) : 0,
  ));
}
