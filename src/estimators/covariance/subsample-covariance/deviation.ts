import { ln, pow } from '../../../base/elementary.js';
import { normalQuantile } from '../../../numerics/normal.js';

/**
 * How far covariances of Gaussian groups are from each other, for planning. For independent Wishart
 * matrices A and B, the largest and the smallest eigenvalue of A^-1 B on a logarithmic scale are
 * about a Tracy-Widom number each (Johnstone 2008, theorem 1, good to a percent from two degrees of
 * freedom on). Such a number is about a shifted gamma number (Chiani 2014), whose cube root is
 * about normal (Wilson and Hilferty 1931). Privacy does not rest on it.
 */
const gammaShape = 46.446;
const gammaScale = 0.186054;
const gammaShift = 9.84801;

/** Place and width of log lambda_max(A^-1 B), and so of the negative log of lambda_min. */
export interface RootLaw {
  readonly centre: number;
  readonly width: number;
}

/** @param freedom - degrees of freedom of each matrix, at least the dimension. */
export function rootLaw(dimension: number, freedom: number): RootLaw {
  const whole = 2 * freedom - 1;
  const small = 2 * Math.asin(Math.sqrt((Math.min(dimension, freedom) - 0.5) / whole));
  const large = 2 * Math.asin(Math.sqrt((Math.max(dimension, freedom) - 0.5) / whole));
  const centre = 2 * ln(Math.tan((large + small) / 2));
  const cube = 16 / whole ** 2 / (Math.sin(large + small) ** 2 * Math.sin(large) * Math.sin(small));
  return { centre, width: Math.cbrt(cube) };
}

/** The distance within which two groups are with this probability. */
export function distanceQuantile({ centre, width }: RootLaw, probability: number): number {
  // Both roots must be within; they hardly depend on each other.
  const z = normalQuantile(Math.sqrt(probability));
  const cubeRoot = 1 - 1 / (9 * gammaShape) + z / (3 * Math.sqrt(gammaShape));
  return centre + width * (gammaShape * gammaScale * pow(cubeRoot, 3) - gammaShift);
}
