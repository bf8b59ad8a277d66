import type { Finding } from '../../../base/outcome.js';
import { chiSquareDeviations } from '../../../numerics/chi-square.js';
import type { CentredPool } from '../../pooled/estimator.js';
import type { HistogramFit } from '../../pooled/projected-histogram.js';
import type { EntryOf } from '../../pooled/thresholds.js';
import { clusterShares } from '../../pooled/valleys.js';
import type { RoundMoments } from '../filters/weights.js';
import { covarianceOf } from '../filters/weights.js';
import { widerColumns, widerRows } from './any-answer.js';
import { noiseOfSquare } from './any-design.js';
import type { RobustDesign } from './design.js';

/** The fit to a histogram along an axis. All of it is released. */
export interface Detected {
  readonly axis: Float64Array;
  readonly fit: HistogramFit;
}

/**
 * The cube root of the squared distance per column, centred and scaled so that it is nearly
 * standard normal when the columns are (Wilson and Hilferty 1931).
 */
export function distancesOf(mean: Float64Array, grid: number): EntryOf {
  return (steps, offset) => {
    let sum = 0;
    for (let j = 0; j < mean.length; j++) {
      const entry = steps[offset + j]! * grid - mean[j]!;
      sum += entry * entry;
    }
    return chiSquareDeviations(sum, mean.length);
  };
}

/** A mean this many standard deviations from the median is biased; a smaller gap is noise. */
const significant = 2.5;

/** A mean, and where medians took its place. */
export interface Corrected {
  readonly mean: Float64Array;
  /** Standard deviation of the mean along an axis by noise and sampling of its median. */
  readonly medians: readonly { readonly axis: Float64Array; readonly error: number }[];
}

/**
 * Along every axis with a histogram: the mean without what the thresholds have moved it by; or the
 * median, when that is elsewhere by more than chance and the bins are narrow enough to tell.
 * @param noise - standard deviation of the mean's noise.
 */
export function corrected(
  mean: Float64Array, detected: readonly Detected[], noise: number,
): Corrected {
  const result = mean.slice();
  const medians: { axis: Float64Array; error: number }[] = [];
  for (const { axis, fit } of detected) {
    const along = axis.reduce((sum, entry, j) => sum + entry * mean[j]!, 0);
    const target = along - fit.shift;
    const isBiased = fit.isFine
      && Math.abs(fit.median - target) > significant * Math.hypot(fit.medianError, noise);
    const moved = (isBiased ? fit.median : target) - along;
    axis.forEach((entry, j) => (result[j]! += entry * moved));
    if (isBiased) medians.push({ axis, error: fit.medianError });
  }
  return { mean: result, medians };
}

/** The results of a release of about normal rows, besides the mean: all released or public. */
export interface FoundRows {
  readonly design: Pick<RobustDesign, 'facts' | 'corruption' | 'rounds'>;
  /** The centre, and the spread that was found or given. */
  readonly found: Pick<CentredPool, 'centre' | 'spread' | 'columns'>;
  /** Moments of the first look; null without one. */
  readonly first: RoundMoments | null;
  /** Number of rows left. */
  readonly present: number;
  /** True if third moments stand out; false where there are none. */
  readonly isSkewed: boolean;
}

/** Findings about the rows. The spread of a fit is the median spread, whatever was found. */
export function findingsOf(
  { design: { facts: { dimension, cohort }, corruption, rounds }, found, first, present, isSkewed }:
  FoundRows,
): readonly Finding[] {
  if (first === null) return [];
  const { centre, spread, columns } = found;
  const rows = Math.max(first.count, cohort / 2);
  const findings: Finding[] =
    isSkewed ? [{ reason: 'skewed', columns: [], amounts: [] }] : [];
  const wider = widerColumns(
    spread, columns, covarianceOf(first), 3 * noiseOfSquare(rounds[0]!.square, rows),
  );
  if (cohort >= widerRows * dimension && wider.length > 0) {
    findings.push({ reason: 'wider-than-spread', columns: wider, amounts: [] });
  }
  const share = 1 - present / rows;
  if (corruption > 0 && share > clusterShares.least * corruption) {
    const all = first.mean.map((entry, j) => centre[j]! + columns.medianSpread[j]! * entry);
    findings.push({ reason: 'cluster-apart', columns: [], amounts: [share, ...all] });
  }
  return findings;
}
