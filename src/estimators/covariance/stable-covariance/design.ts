import { ln } from '../../../base/elementary.js';
import { countGrid, gaussianEvent } from '../../../privacy/accounting/calibration.js';
import type {
  GaussianEvent, MechanismEvent, SymmetricGaussianEvent,
} from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { clipBall, type ClipBall } from '../../../privacy/stages/clip.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { rowsCohort } from '../../pooled/pool.js';
import { histogramBins } from '../../pooled/projected-histogram.js';
import { countEvent, sumEvent } from '../../pooled/query-events.js';
import { mapDesign, type MapDesign } from '../moments/mapped-rows.js';
import { secondMomentsEvent } from '../moments/second-moments.js';
import { featureCount, featureRadius } from '../moments/features.js';

/**
 * The noise of a robust covariance, worked out from public numbers.
 *
 * Claim. Between neighbours
 * - the number of rows changes by at most 1;
 * - sums of z z^T over rows in a ball of radius R change by sqrt 2 R^2 (secondMomentsEvent), sums
 *   of z by 2 R;
 * - sums of features g, |g| <= F, change by 2 F, and sums of g g^T by
 *   sqrt(|g|^4 + |g'|^4 - 2 (g . g')^2) <= sqrt 2 F^2;
 * - the histogram along an axis changes by sqrt 2 in L2.
 * Neighbours. One contributor's row replaced by any other, or by none, or added: at any time at
 * most one row of those left is in one set and not in the other, and at most one the other way
 * round (stable-covariance).
 * Why. Rows and features are integer multiples of their balls' grid steps, so the sums are exact
 * and on their events' grids.
 */
export interface CovarianceDesign extends MapDesign {
  /** Corruption that the error is promised for. */
  readonly corruption: number;
  /** Radius of the rows that features are made of, after the map. */
  readonly featureRows: number;
  readonly featureBall: ClipBall;
  readonly featureSum: GaussianEvent;
  readonly featureSquare: SymmetricGaussianEvent;
  readonly histograms: readonly GaussianEvent[];
  /** After the map, for the answer. */
  readonly ball: ClipBall;
  readonly sum: GaussianEvent;
  readonly square: SymmetricGaussianEvent;
  readonly count: GaussianEvent;
  readonly events: readonly MechanismEvent[];
}

export interface CovarianceOptions {
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** Largest over smallest variance of honest rows in spreads, over directions. */
  readonly condition: number;
  readonly axes: number;
}

/** Parts of rho. Hostile rows are detected by the fourth moments, which need most. */
const shares = {
  centre: 0.08, present: 0.01, map: 0.14, fourth: 0.41, histograms: 0.19, answer: 0.17,
} as const;
/** An honest row is hardly ever farther from the centre than this many spreads in a column. */
export const reach = 5;
const roundedUp = 1 + 2 ** -40;

/** Null when no number of rounds makes all directions alike. */
export function covarianceDesign(
  { facts, condition, corruption, axes }: CovarianceOptions,
): CovarianceDesign | null {
  const { dimension, target: { rho } } = facts;
  const map = mapDesign({ facts, corruption, condition, shares });
  if (map === null) return null;
  const features = featureEvents(dimension, map.rowsMax, shareOf(rho, shares.fourth));
  const count = Math.min(axes, dimension === 1 ? 1 : 4 * dimension);
  const histograms = histogramEvents(shareOf(rho, shares.histograms), count);
  const answer = answerEvents(facts, map.rowsMax, shareOf(rho, shares.answer));
  const { featureSum, featureSquare } = features;
  return {
    ...map, corruption, ...features, histograms, ...answer,
    events: [
      ...map.mapEvents, featureSum, featureSquare, ...histograms, answer.sum, answer.square,
      answer.count,
    ],
  };
}

function featureEvents(
  dimension: number, rowsMax: number, rho: number,
): Pick<CovarianceDesign, 'featureRows' | 'featureBall' | 'featureSum' | 'featureSquare'> {
  const featureRows = Math.sqrt(dimension) + 1;
  const ball = clipBall(featureRadius(dimension, featureRows), { products: true, rowsMax });
  const size = featureCount(dimension);
  return {
    featureRows,
    featureBall: ball,
    featureSum: sumEvent('fourth/sum', size, ball, shareOf(rho, 0.1)),
    featureSquare: secondMomentsEvent({
      name: 'fourth/square', cohort: rowsCohort, dimension: size, ball, rho: shareOf(rho, 0.9),
    }),
  };
}

function histogramEvents(rho: number, axes: number): readonly GaussianEvent[] {
  const each = shareOf(rho, 1 / axes);
  return Array.from({ length: axes }, (_, k) => gaussianEvent({
    name: `axis-${k + 1}`, cohort: rowsCohort, dimension: histogramBins,
    // A little more than sqrt 2; released bytes depend on how much.
    sensitivity: Math.SQRT2 * roundedUp, rho: each, grid: countGrid(1 / Math.sqrt(each)),
  }));
}

function answerEvents(
  { dimension, cohort }: StudyFacts, rowsMax: number, rho: number,
): Pick<CovarianceDesign, 'ball' | 'sum' | 'square' | 'count'> {
  const radius = Math.sqrt(dimension) + 0.75 * Math.sqrt(ln(Math.max(cohort, 16)));
  const ball = clipBall(radius, { products: true, rowsMax });
  return {
    ball,
    sum: sumEvent('answer/sum', dimension, ball, shareOf(rho, 0.2)),
    square: secondMomentsEvent({
      name: 'answer/square', cohort: rowsCohort, dimension, ball, rho: shareOf(rho, 0.75),
    }),
    count: countEvent('answer/count', shareOf(rho, 0.05)),
  };
}

/** Bins of a tail that hostile rows may be spread over. */
const tailBins = 16;

/**
 * In relative Frobenius norm. A share c of rows that takes the place of honest ones shrinks every
 * direction by c. One that hides among the tails of normal rows widens one direction by about
 * 2.2 c log(1 / c); at a distance D at which its fourth moment c (D^2 - 1)^2 / 2 drowns in noise,
 * by c D^2. Where histograms are too noisy for so few rows, they are as far out as reach lets them.
 */
export function covarianceErrorOf(
  design: CovarianceDesign, promise: number,
): (share: number) => ExpectedError {
  const { facts, square, preconditioner, featureSquare, histograms } = design;
  const { dimension, cohort } = facts;
  const entries = featureCount(dimension);
  const sampling = Math.sqrt((2 * entries) / cohort);
  const noise = ((square.sigma * Math.sqrt(entries)) / cohort) * (1 + preconditioner.shift);
  const drowned = (featureSquare.sigma * Math.sqrt(2 * dimension)) / cohort;
  return errorUpTo(promise, { sampling, noise }, (share) => {
    if (share === 0) return 0;
    const isDetected = share * cohort > 3 * histograms[0]!.sigma * Math.sqrt(tailBins);
    const widened = isDetected
      ? Math.max(2.2 * share * ln(1 / share), share + Math.sqrt(2 * drowned * share))
      : share * reach ** 2 * dimension;
    return Math.hypot(share * Math.sqrt(dimension), widened);
  });
}
