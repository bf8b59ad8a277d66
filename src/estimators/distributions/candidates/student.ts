/** Numbers of Student's t distribution: its density's constant, and its distribution function. */

import { ln } from '../../../base/elementary.js';

const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** log Gamma(x), x >= 1/2; relative error about 1e-14 (Lanczos's series of nine terms). */
function logGamma(x: number): number {
  const z = x - 1;
  let sum = lanczos[0]!;
  for (let i = 1; i < lanczos.length; i++) sum += lanczos[i]! / (z + i);
  const t = z + 7.5;
  return 0.5 * ln(2 * Math.PI) + (z + 0.5) * ln(t) - t + ln(sum);
}

/**
 * Regularised incomplete beta function I_x(a, b), by Lentz's continued fraction; a, b >= 1/2, 0 <=
 * x <= 1.
 */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * ln(x)
    + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  const away = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return front * fraction;
}

/** P(T <= t) for `freedom` >= 1 degrees. */
export function studentCdf(t: number, freedom: number): number {
  const tail = 0.5 * incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
  return t < 0 ? tail : 1 - tail;
}

/** log of the density's factor before (1 + t^2 / freedom)^(-(freedom + 1) / 2). */
export function studentLogConstant(freedom: number): number {
  return logGamma((freedom + 1) / 2) - logGamma(freedom / 2) - 0.5 * ln(freedom * Math.PI);
}
