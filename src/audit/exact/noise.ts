import type { Rational, Steps } from '../../random/samplers/discrete-laplace.js';
import { divide, expOf, fraction, subtract, unit, type Interval } from './interval.js';
import { normalised, type Law, type Outcome } from './law.js';

/**
 * Weights below these are cut. Of Gaussian noise that is what is more than 21 standard deviations
 * away. The Renyi divergence of order a of a shift by s comes from outcomes near a s, so a s must
 * be well within that.
 */
const gaussianMinimum = fraction(1n, 1n << 330n);
const laplaceMinimum = fraction(1n, 1n << 140n);

/**
 * The discrete Gaussian: P(y) proportional to exp(-y^2 / (2 variance)) over all integers.
 *
 * The tail beyond y on one side weighs at most w(y + 1) / (1 - w(y + 2) / w(y + 1)), because the
 * ratio of two successive weights falls with y. The same holds of the discrete Laplace law, whose
 * ratio is constant.
 */
export function gaussianNoise({ numerator, denominator }: Rational): Law<Steps> {
  return symmetric((y) =>
    expOf(fraction(-y * y * denominator, 2n * numerator)), gaussianMinimum);
}

/** The discrete Laplace law: P(y) proportional to exp(-|y| / scale) over all integers. */
export function laplaceNoise({ numerator, denominator }: Rational): Law<Steps> {
  return symmetric((y) => expOf(fraction(-y * denominator, numerator)), laplaceMinimum);
}

function symmetric(weightOf: (y: bigint) => Interval, minimum: Interval): Law<Steps> {
  const weights = new Map<string, Outcome<Steps>>();
  let y = 0n;
  for (let weight = weightOf(y); weight.high > minimum.low; weight = weightOf(y)) {
    weights.set(String(y), { value: Number(y), probability: weight });
    if (y > 0n) weights.set(String(-y), { value: Number(-y), probability: weight });
    y += 1n;
  }
  const [next, after] = [weightOf(y), weightOf(y + 1n)];
  const tail = divide(next, subtract(unit, divide(after, next)));
  return normalised(weights, { low: 0n, high: 2n * tail.high });
}
