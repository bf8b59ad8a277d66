import { centreEvents } from '../../../privacy/stages/centre.js';
import { clippedMeanEvents, type ClippedMeanEvents } from '../../../privacy/stages/clipped-mean.js';
import type {
  ExponentialEvent, GaussianHistogramEvent,
} from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import { countToBeSeen, fullestBinShare } from '../../pooled/fullest-bin.js';
import { closeRadius } from '../../pooled/parameters.js';
import type { StageError } from './distance.js';

/** Where rows of a stage come from, and what the stage may spend. */
export interface StageShare {
  readonly cohort: string;
  /** Share of the study's contributors. */
  readonly share: number;
  /** Nominal contributors. */
  readonly size: number;
  readonly rho: number;
}

/** The public constants of the mean, in coordinates in which rows vary by about 1. */
export interface MeanDesign {
  readonly from: StageShare;
  /** Nominal number of averaged points: rows, or group means. */
  readonly points: number;
  /** How much these vary in every direction: the unit of the centre's bins. */
  readonly spread: number;
  readonly bins: GaussianHistogramEvent;
  readonly median: ExponentialEvent;
  readonly clipped: ClippedMeanEvents;
  readonly error: StageError;
}

/** The points of which a mean is taken: independent, after the map. */
export type Averaged =
  Pick<MeanDesign, 'points' | 'spread'> & Pick<StageError, 'sampling' | 'bias'>;

/** The mean of points, nearly all in the ball; null when noise hides where they are. */
export function meanDesign(
  { dimension, delta }: { readonly dimension: number; readonly delta: number }, from: StageShare,
  centrePart: number, { points, spread, sampling, bias }: Averaged,
): MeanDesign | null {
  const { cohort, rho } = from;
  const [bins, median] = centreEvents({ cohort, dimension, rho: shareOf(rho, centrePart), delta });
  if (points * fullestBinShare.normal < countToBeSeen(bins, dimension)) return null;
  const clipped = clippedMeanEvents({
    cohort, dimension, radius: spread * closeRadius(dimension), rho: shareOf(rho, 1 - centrePart),
  });
  const noise = (clipped.sum.sigma * Math.sqrt(dimension)) / points;
  return { from, points, spread, bins, median, clipped, error: { sampling, noise, bias } };
}

/**
 * By how much rows vary after the map, in every direction: 1, and a fifth for the error of the
 * noisy covariance that the map is made from.
 */
export const whitenedSpread = 1.2;

/** The mean of rows; null when the noise would hide where they are. */
export function rowMeanDesign(
  facts: { readonly dimension: number; readonly delta: number }, from: StageShare,
  centrePart: number,
): MeanDesign | null {
  return meanDesign(facts, from, centrePart, {
    points: from.size, spread: whitenedSpread, sampling: Math.sqrt(facts.dimension / from.size),
    bias: 0,
  });
}
