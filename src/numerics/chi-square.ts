import { pow } from '../base/elementary.js';
import { normalCdf, normalQuantile } from './normal.js';

/**
 * The squared length of a standard normal vector with `freedom` entries. Its cube root is about
 * normal (Wilson and Hilferty 1931). From three entries on, quantiles are correct to 0.7 %; with
 * fewer entries, to a few percent near the median.
 */

/** Median of |N(0, 1)|. Divide a median absolute deviation by it to get a standard deviation. */
export const normalMedianDeviation = 0.6744897501960817;

/** The square whose cube root is `deviations` standard deviations from its mean. */
export function chiSquareAt(deviations: number, freedom: number): number {
  const variance = 2 / (9 * freedom);
  return freedom * pow(1 - variance + deviations * Math.sqrt(variance), 3);
}

/** The inverse of `chiSquareAt`: about standard normal. */
export function chiSquareDeviations(square: number, freedom: number): number {
  const variance = 2 / (9 * freedom);
  return (Math.cbrt(square / freedom) - (1 - variance)) / Math.sqrt(variance);
}

/** Median: exact for one and two entries. */
export function chiSquareMedian(freedom: number): number {
  if (freedom === 1) return normalQuantile(0.75) ** 2;
  if (freedom === 2) return 2 * Math.LN2;
  return chiSquareAt(0, freedom);
}

/** Distribution function: exact for one and two entries. */
export function chiSquareCdf(square: number, freedom: number): number {
  if (square <= 0) return 0;
  if (freedom === 1) return 2 * normalCdf(Math.sqrt(square)) - 1;
  if (freedom === 2) return -Math.expm1(-square / 2);
  return normalCdf(chiSquareDeviations(square, freedom));
}
