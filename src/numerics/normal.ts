import { ln } from '../base/elementary.js';

/**
 * The standard normal distribution with a small relative error in both far tails. Privacy
 * thresholds use probabilities of 1e-12 and less, where 1 - Phi(x) by subtraction would only be
 * noise.
 */
const logRootTwoPi = 0.9189385332046727;
const rootTwoPi = 2.5066282746310002;

/** 95 % of normal numbers are within this many standard deviations of the mean. */
export const deviations95 = 1.96;
/** The same of Laplace noise: log(20) scales, which are sqrt 2 to a deviation. */
export const laplaceDeviations95 = 2.118313;

/**
 * exp(-x^2 / 2) with the error of one exponential: x is split so that its leading part has an exact
 * square.
 */
function gaussianKernel(x: number): number {
  const lead = Math.trunc(x * 16) / 16;
  return Math.exp((-lead * lead) / 2) * Math.exp((-(x - lead) * (x + lead)) / 2);
}

/** Density of the standard normal. */
export function normalDensity(x: number): number {
  return gaussianKernel(x) / rootTwoPi;
}

/**
 * Mills ratio (1 - Phi(x)) / density(x), x >= 1, by Laplace's continued fraction 1/(x + 1/(x + 2/(x
 * + 3/(x + ... It is evaluated from its end. All terms are positive, so nothing cancels. Full
 * precision needs a number of terms that falls like 1 / x^2.
 */
function millsRatio(x: number): number {
  let rest = x;
  for (let k = Math.ceil(420 / (x * x)) + 24; k >= 1; k--) rest = x + k / rest;
  return 1 / rest;
}

/**
 * Phi(x) - 1/2 for |x| < 1: density times x + x^3/3 + x^5/(3*5) + ... All terms have the same sign.
 */
function centralMass(x: number): number {
  const square = x * x;
  let term = x;
  let sum = x;
  for (let k = 3; Math.abs(term) > 1e-18 * Math.abs(sum); k += 2) {
    term *= square / k;
    sum += term;
  }
  return normalDensity(x) * sum;
}

/** P(Z <= x). Relative error about 1e-15 while the answer is a normal double; NaN for NaN. */
export function normalCdf(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (Math.abs(x) < 1) return 0.5 + centralMass(x);
  if (x > 0) return 1 - normalCdf(-x);
  return x < -40 ? 0 : normalDensity(x) * millsRatio(-x);
}

/** P(Z > x), without cancellation. */
export function normalUpperTail(x: number): number {
  return normalCdf(-x);
}

/** log P(Z <= x), finite if x^2 is finite. Relative error about 1e-15. */
export function normalLogCdf(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (x > -1) return x < 1 ? ln(normalCdf(x)) : Math.log1p(-normalCdf(-x));
  if (x === -Infinity) return -Infinity;
  return (-x * x) / 2 - logRootTwoPi + ln(millsRatio(-x));
}

/**
 * x with P(Z <= x) = p, 0 <= p <= 1; NaN outside. Newton's method on log P. That function is
 * concave, so after the first step the iterates rise to the answer and never pass it.
 */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) return NaN;
  if (p === 0) return -Infinity;
  if (p > 0.5) return -normalQuantile(1 - p);
  if (p > 0.2) return centralQuantile(p - 0.5);
  const target = ln(p);
  let x = -Math.sqrt(-2 * target);
  for (let round = 0; round < 60; round++) {
    const step = (normalLogCdf(x) - target) / slopeOfLogCdf(x);
    x -= step;
    if (Math.abs(step) <= 2e-16 * Math.abs(x)) break;
  }
  return x;
}

/**
 * x with Phi(x) - 1/2 = mass, -0.3 < mass <= 0. Near the median the mass has the digits and its
 * logarithm does not.
 */
function centralQuantile(mass: number): number {
  let x = mass * rootTwoPi;
  for (let round = 0; round < 60 && x !== 0; round++) {
    const step = (centralMass(x) - mass) / normalDensity(x);
    x -= step;
    if (Math.abs(step) <= 2e-16 * Math.abs(x)) break;
  }
  return x;
}

function slopeOfLogCdf(x: number): number {
  return x <= -1 ? 1 / millsRatio(-x) : normalDensity(x) / normalCdf(x);
}

/** Plans ask for the same few quantiles again and again. */
const upperQuantiles = new Map<number, number>();
const upperQuantilesMax = 256;

/** x with P(Z > x) = q: the quantile at 1 - q, for q too small to subtract from 1. */
export function normalUpperQuantile(q: number): number {
  const known = upperQuantiles.get(q);
  if (known !== undefined) return known;
  const quantile = -normalQuantile(q);
  if (upperQuantiles.size >= upperQuantilesMax) upperQuantiles.clear();
  upperQuantiles.set(q, quantile);
  return quantile;
}
