import { normalUpperQuantile } from '../../../numerics/normal.js';
import { centreEvents } from '../../../privacy/stages/centre.js';
import { clippedMeanEvents, type ClippedMeanEvents } from '../../../privacy/stages/clipped-mean.js';
import type {
  ExponentialEvent, GaussianHistogramEvent,
} from '../../../privacy/accounting/events.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { StageError } from './distance.js';

/** Where rows of a stage come from, and what the stage may spend. */
export interface StageShare {
  readonly cohort: string;
  /** Of the study's contributors. */
  readonly share: number;
  /** Nominal contributors. */
  readonly size: number;
  readonly rho: number;
}

/** The public constants of the mean, in coordinates in which rows vary by about 1. */
export interface MeanDesign {
  readonly from: StageShare;
  /** Nominal number of what is averaged: rows, or group means. */
  readonly points: number;
  /** How much these vary in every direction: the unit of the centre's bins. */
  readonly scale: number;
  readonly bins: GaussianHistogramEvent;
  readonly median: ExponentialEvent;
  readonly clipped: ClippedMeanEvents;
  readonly error: StageError;
}

/** Share of the rows in the fullest bin, four scales wide, of a Gaussian that straddles two. */
const fullestBin = 0.45;
/** Chance, over all columns, at which a plan lets the centre go missing. */
const centreMissing = 0.01;

/** Whether so many points keep every column's fullest bin. */
export function centreIsFound(
  bins: GaussianHistogramEvent, points: number, dimension: number,
): boolean {
  const wanted = keepingCount(bins) + bins.sigma * normalUpperQuantile(centreMissing / dimension);
  return points * fullestBin >= wanted;
}

/** Rows vary by a little more or less than 1 after the map. */
const whitenedScale = 1.2;

/** The mean of rows; null when the noise would hide where they are. */
export function meanDesign(
  { dimension, delta }: { readonly dimension: number; readonly delta: number }, from: StageShare,
  centreShare: number,
): MeanDesign | null {
  const { cohort, size, rho } = from;
  const [bins, median] = centreEvents({ cohort, dimension, rho: shareOf(rho, centreShare), delta });
  if (!centreIsFound(bins, size, dimension)) return null;
  const clipped = clippedMeanEvents({
    cohort, dimension, radius: whitenedScale * (1.1 * Math.sqrt(dimension) + 2.5),
    rho: shareOf(rho, 1 - centreShare),
  });
  const noise = (clipped.sum.sigma * Math.sqrt(dimension)) / size;
  const error = { sampling: Math.sqrt(dimension / size), noise, bias: 0 };
  return { from, points: size, scale: whitenedScale, bins, median, clipped, error };
}
