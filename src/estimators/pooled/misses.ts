import { axisBins } from './valleys.js';

/**
 * How far released counts are from those that a shape expects. Functions of released counts, so
 * post-processing.
 */

/** A released histogram along an axis, and what may be hostile of it. */
export interface AxisHistogram {
  readonly counts: Float64Array;
  /** Standard deviation of the noise of a count. */
  readonly noise: number;
  /** The stated share. */
  readonly corruption: number;
}

/** Deviations by which a fit may miss. */
export const chance = 3.3;
/** A shape may miss a bin by this part of its rows. */
const missPart = 0.02;

/** Counts less what is expected, over stretches of bins. */
export class Misses {
  constructor(
    private readonly histogram: AxisHistogram, private readonly expected: Float64Array,
  ) {}

  /** @returns the miss, its variance by noise and sampling, and what is expected. */
  over(from: number, to: number): { miss: number; variance: number; has: number } {
    const { counts, noise } = this.histogram;
    let [miss, has] = [0, 0];
    for (let bin = from; bin < to; bin++) {
      miss += counts[bin]! - this.expected[bin]!;
      has += this.expected[bin]!;
    }
    return { miss, has, variance: Math.max(0, to - from) * noise ** 2 + Math.max(1, has) };
  }

  /** One over the variance of a bin that may also miss by `missPart`. */
  weight(bin: number): number {
    const { variance, has } = this.over(bin, bin + 1);
    return 1 / (variance + (missPart * has) ** 2);
  }

  /** The sum of squared misses of single bins, by their weights. */
  square(from: number, to: number): number {
    let sum = 0;
    for (let bin = from; bin < to; bin++) {
      sum += this.over(bin, bin + 1).miss ** 2 * this.weight(bin);
    }
    return sum;
  }

  /** By how many deviations the bins are past what a shape may miss. */
  off(from: number, to: number): number {
    const { miss, variance, has } = this.over(from, to);
    return (Math.abs(miss) - missPart * has) / Math.sqrt(variance);
  }

  /** By how many deviations the bins hold fewer rows than expected. */
  short(from: number, to: number): number {
    const { miss, variance, has } = this.over(from, to);
    return -(miss + missPart * has) / Math.sqrt(variance);
  }
}

/** True if `isSo` is true of some stretch of so many bins between `first` and the last bin. */
export function someStretch(
  sizes: readonly number[], first: number, isSo: (from: number, to: number) => boolean,
): boolean {
  return sizes.some((size) => {
    for (let from = first; from + size <= axisBins; from++) {
      if (isSo(from, from + size)) return true;
    }
    return false;
  });
}

/** True if chance explains a sum of squares. @param freedom - degrees of it. */
export function isChance(square: number, freedom: number): boolean {
  return freedom > 1 && square <= freedom + chance * Math.sqrt(2 * freedom);
}
