import { ln } from '../base/elementary.js';
import { InvalidParameterError } from '../base/errors.js';
import { checkOptions } from '../base/given.js';
import { normalMedianDeviation } from '../numerics/chi-square.js';
import { createKernels, type Kernels } from '../numerics/kernels/index.js';
import { columnOf, finiteRows, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';

/** Options of the filters in this folder. */
export interface FilterOptions {
  /** Share of the rows that may be hostile, in [0, .45]. Default .05. */
  readonly corruption?: number;
  /**
   * A positive bound on the standard deviation of a clean row in every direction. If absent, it is
   * measured as the median of the columns' median deviations. That is correct only for rows that
   * are equally wide in every direction.
   */
  readonly spread?: number;
}

/** The result of a filter. */
export interface Filtered {
  readonly mean: Float64Array;
  /** The share of the rows, or of their weight, that the mean uses. */
  readonly kept: number;
  /** Variance of the kept rows, in squared spreads, along the direction in which it is largest. */
  readonly variance: number;
  /**
   * At least half is kept, and its variance is as small as that of clean rows. A corruption eta
   * among the kept rows has then moved the mean by at most about sqrt(eta (variance - 1)) spreads,
   * plus the effect of trimming clean rows. This holds for every choice of the hostile rows.
   */
  readonly isCertified: boolean;
}

/** Rows in spreads around the columns' medians, and how much of each is still kept. */
export interface Filtering {
  readonly count: number;
  readonly dimension: number;
  /** Rows with non-finite entries are not among these. */
  readonly values: Float64Array;
  /** In [0, 1], one per row. Rows too far away to be clean start with 0. */
  readonly weights: Float64Array;
  readonly origin: Float64Array;
  readonly spread: number;
  readonly corruption: number;
  /** The largest variance that clean rows may have along any direction. */
  readonly allowance: number;
  readonly kernels: Kernels;
}

/** First and second moments of the kept rows. */
export interface KeptMoments {
  readonly total: number;
  readonly mean: Float64Array;
  /** Row-major, around the mean. */
  readonly covariance: Float64Array;
}

/** A smaller share of the rows, or of their weight, proves nothing. The filters stop there. */
export const keptShareMin = 0.5;

/** The allowance for sampling is at least what one percent of hostile rows may do unnoticed. */
const corruptionFloor = 0.01;

/**
 * Prepares rows for the filters. A row gets weight 0 if it is farther from the columns' medians
 * than any clean row of a normal sample should be, with room for the effect of hostile rows on the
 * medians. After that, no row with weight is farther than a few sqrt(d) spreads. O(n d).
 * @throws InvalidParameterError when an option is out of its range.
 */
export function beginFiltering(given: PointSet, options: FilterOptions): Filtering {
  checkOptions(options, ['corruption', 'spread'], 'the filter');
  const { corruption = 0.05, spread } = options;
  if (!(corruption >= 0 && corruption <= 0.45)) {
    throw new InvalidParameterError(
      'the corruption that a filter expects is in [0, 0.45]', { corruption },
    );
  }
  if (spread !== undefined && !(spread > 0 && Number.isFinite(spread))) {
    throw new InvalidParameterError('the spread of a filter is a positive number', { spread });
  }
  const { count, dimension, values } = finiteRows(given);
  const origin = new Float64Array(dimension);
  const widths = new Float64Array(dimension);
  for (let j = 0; j < dimension; j++) {
    const column = columnOf({ count, dimension, values }, j);
    const middle = count === 0 ? 0 : median(column);
    origin[j] = middle;
    if (spread === undefined && count > 0) {
      widths[j] = median(column.map((entry) => Math.abs(entry - middle)));
    }
  }
  // Rows that all coincide have no width, so any positive unit works.
  const unit = spread ?? (dimension === 0 ? 1 : median(widths) / normalMedianDeviation || 1);
  const relative = new Float64Array(count * dimension);
  for (let i = 0;
      i < relative.length; i++) relative[i] = (values[i]! - origin[i % dimension]!) / unit;
  const kernels = createKernels();
  const squares = new Float64Array(count);
  kernels.squaredNorms(relative, dimension, count, new Float64Array(dimension), squares);
  const reach = 1.35 * Math.sqrt(dimension) + 1 + Math.sqrt(2 * ln(count + 1));
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    if (squares[i]! <= reach ** 2) weights[i] = 1;
    else relative.fill(0, i * dimension, (i + 1) * dimension);
  }
  return {
    count, dimension, values: relative, weights, origin, spread: unit, corruption, kernels,
    allowance: allowanceOf(corruption, dimension, count),
  };
}

/**
 * The variance that clean rows may have. 1 + eta log(1 / eta) is about how far removing or adding a
 * share eta of a normal sample can raise its largest variance. To this comes the excess of a
 * sample's largest eigenvalue over 1, (1 + sqrt(d / n))^2 - 1, with a margin of a half.
 */
function allowanceOf(corruption: number, dimension: number, count: number): number {
  const share = Math.max(corruption, corruptionFloor);
  const ratio = dimension / Math.max(1, count);
  return 1 + share * ln(1 / share) + 1.5 * (2 * Math.sqrt(ratio) + ratio);
}

/** O(n d^2). Zeros if no weight is left. */
export function keptMoments(
  { kernels, values, dimension, count, weights }: Filtering,
): KeptMoments {
  let total = 0;
  for (const weight of weights) total += weight;
  const mean = new Float64Array(dimension);
  const covariance = new Float64Array(dimension * dimension);
  if (total === 0) return { total, mean, covariance };
  kernels.gram(values, dimension, count, { weights }, covariance, mean);
  for (let j = 0; j < dimension; j++) mean[j]! /= total;
  for (let i = 0; i < dimension; i++) {
    for (let j = 0; j < dimension; j++) {
      covariance[i * dimension + j] = covariance[i * dimension + j]! / total - mean[i]! * mean[j]!;
    }
  }
  return { total, mean, covariance };
}

/** Converts back to the units of the rows. */
export function endFiltering(
  filtering: Filtering, { total, mean }: KeptMoments, variance: number,
): Filtered {
  const { origin, spread, count, allowance } = filtering;
  return {
    mean: mean.map((entry, j) => origin[j]! + spread * entry),
    kept: count === 0 ? 0 : total / count,
    variance,
    isCertified: variance <= allowance && total >= keptShareMin * count,
  };
}
