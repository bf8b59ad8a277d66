import { InvalidParameterError } from '../base/errors.js';
import { checkOptions } from '../base/given.js';
import { normalMedianDeviation } from '../numerics/chi-square.js';
import { createKernels, type Kernels } from '../numerics/kernels/index.js';
import { columnOf, finiteRows, type PointSet } from '../numerics/points.js';
import { median } from '../numerics/selection.js';

/** What the filters of this folder are told. */
export interface FilterOptions {
  /** Share of the rows that may be hostile, in [0, .45]. Default .05. */
  readonly corruption?: number;
  /**
   * A bound on the standard deviation of a clean row in every direction, positive. Measured when absent: the middle
   * one of the columns' median deviations, which is right only for rows as wide in one direction as in another.
   */
  readonly scale?: number;
}

/** What a filter found. */
export interface Filtered {
  readonly mean: Float64Array;
  /** Share of the rows, or of their weight, that the mean is of. */
  readonly kept: number;
  /** Variance of what is kept, in squared scales, along the direction where it is largest. */
  readonly variance: number;
  /**
   * At least half is kept, and its variance is as small as that of clean rows: then a hostile share eta among the kept rows has moved the mean by
   * no more than about sqrt(eta (variance - 1)) scales and what clean rows may be cut by, whoever is hostile.
   */
  readonly isCertified: boolean;
}

/** Rows in scales around the columns' medians, and what is still kept of each. */
export interface Filtering {
  readonly count: number;
  readonly dimension: number;
  /** Rows that were no numbers are not among these. */
  readonly values: Float64Array;
  /** In [0, 1], one per row; rows too far to be clean begin with 0. */
  readonly weights: Float64Array;
  readonly origin: Float64Array;
  readonly scale: number;
  readonly corruption: number;
  /** The variance that clean rows may have along their widest direction. */
  readonly allowance: number;
  readonly kernels: Kernels;
}

/** First and second moments of what is kept. */
export interface KeptMoments {
  readonly total: number;
  readonly mean: Float64Array;
  /** Row-major, about the mean. */
  readonly covariance: Float64Array;
}

/** Less of the rows, or of their weight, proves nothing: the filters stop there. */
export const keptShareMin = 0.5;

/** What sampling is allowed to add is bounded below by what one per cent of hostile rows may do unseen. */
const corruptionFloor = 0.01;

/**
 * Rows as the filters work on them. Rows farther from the columns' medians than any clean one of a normal sample is
 * expected to be, with room for what the hostile share does to the medians, get weight 0: after that no row reaches
 * farther than a few sqrt(d) scales. O(n d).
 * @throws InvalidParameterError when an option is out of its range.
 */
export function beginFiltering(given: PointSet, options: FilterOptions): Filtering {
  checkOptions(options, ['corruption', 'scale'], 'the filter');
  const { corruption = 0.05, scale } = options;
  if (!(corruption >= 0 && corruption <= 0.45)) {
    throw new InvalidParameterError('the hostile share that a filter expects is in [0, 0.45]', { corruption });
  }
  if (scale !== undefined && !(scale > 0 && Number.isFinite(scale))) {
    throw new InvalidParameterError('the scale of a filter is a positive number', { scale });
  }
  const { count, dimension, values } = finiteRows(given);
  const origin = new Float64Array(dimension);
  const widths = new Float64Array(dimension);
  for (let j = 0; j < dimension; j++) {
    const column = columnOf({ count, dimension, values }, j);
    const middle = count === 0 ? 0 : median(column);
    origin[j] = middle;
    if (scale === undefined && count > 0) widths[j] = median(column.map((entry) => Math.abs(entry - middle)));
  }
  // Rows that all coincide have no width; any positive one serves them.
  const unit = scale ?? (dimension === 0 ? 1 : median(widths) / normalMedianDeviation || 1);
  const relative = new Float64Array(count * dimension);
  for (let i = 0; i < relative.length; i++) relative[i] = (values[i]! - origin[i % dimension]!) / unit;
  const kernels = createKernels();
  const squares = new Float64Array(count);
  kernels.squaredNorms(relative, dimension, count, new Float64Array(dimension), squares);
  const reach = 1.35 * Math.sqrt(dimension) + 1 + Math.sqrt(2 * Math.log(count + 1));
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    if (squares[i]! <= reach ** 2) weights[i] = 1;
    else relative.fill(0, i * dimension, (i + 1) * dimension);
  }
  return {
    count, dimension, values: relative, weights, origin, scale: unit, corruption, kernels,
    allowance: allowanceOf(corruption, dimension, count),
  };
}

/**
 * 1 + eta log(1 / eta), about what cutting or adding a share eta of a normal sample may do to its largest variance,
 * plus the excess of a sample's largest eigenvalue over 1, (1 + sqrt(d / n))^2 - 1, with a margin of a half.
 */
function allowanceOf(corruption: number, dimension: number, count: number): number {
  const share = Math.max(corruption, corruptionFloor);
  const ratio = dimension / Math.max(1, count);
  return 1 + share * Math.log(1 / share) + 1.5 * (2 * Math.sqrt(ratio) + ratio);
}

/** O(n d^2). No weight left: zeros. */
export function keptMoments({ kernels, values, dimension, count, weights }: Filtering): KeptMoments {
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

/** Back to the units of the rows. */
export function endFiltering(filtering: Filtering, { total, mean }: KeptMoments, variance: number): Filtered {
  const { origin, scale, count, allowance } = filtering;
  return {
    mean: mean.map((entry, j) => origin[j]! + scale * entry),
    kept: count === 0 ? 0 : total / count,
    variance,
    isCertified: variance <= allowance && total >= keptShareMin * count,
  };
}
