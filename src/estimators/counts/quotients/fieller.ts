import type { Interval95, Outcome } from '../../../base/outcome.js';
import { deviations95, laplaceDeviations95 } from '../../../numerics/normal.js';
import type { PrivacyTarget } from '../../contract/estimator.js';
import { finiteValue } from '../../contract/outcomes.js';

/** A quotient is answered where its denominator is at least this many standard deviations. */
export const deviationsNeeded = 3;

/**
 * Two noisy numbers. Their noise is symmetric and of known size, and both are made of released
 * numbers.
 */
export interface NoisyFraction {
  readonly numerator: number;
  readonly denominator: number;
  /** Standard deviations of the noise. */
  readonly numeratorNoise: number;
  readonly denominatorNoise: number;
  /** Correlation of the two noises. Default 0: they are independent. */
  readonly correlation?: number;
  /** The chance in who takes part. Default: none. */
  readonly sampling?: Sampling;
  /** How far rounding may have moved each of the two numbers. Default 0. */
  readonly rounding?: number;
}

/**
 * The variance of N - r D besides its noise, where N is a sum over a sample of D people and r the
 * mean of all: squares - people r^2.
 */
export interface Sampling {
  /** The sum of the squares of the values that are summed in N, or more. */
  readonly squares: number;
  readonly people: number;
}

/** A quotient, with its noise and interval. */
export interface Quotient {
  readonly estimate: number;
  /** Standard deviation of the noise, to first order. */
  readonly standardDeviation: number;
  readonly low: number;
  readonly high: number;
}

/**
 * A quotient with Fieller's interval; null where the denominator may be noise.
 *
 * Claim. N = n + e and D = d + f with normal errors of variances u and v and covariance c. Then the
 * set {r: (N - r D)^2 <= z^2 (u - 2 r c + r^2 v)} holds n / d with the probability that a normal
 * number is within z standard deviations: 95 % for z = 1.96. This holds for every d other than 0.
 * Why: at r = n / d the number N - r D is e - r f, which is normal around 0 with variance
 * u - 2 r c + r^2 v. Sampling adds squares to u and takes people from v.
 * The set is between the roots of (D^2 - z^2 v) r^2 - 2 (N D - z^2 c) r + (N^2 - z^2 u), where D^2
 * is above z^2 v. It is where the quotient is answered, since 3 is above z. The roots are real: the
 * set holds N / D.
 * The first-order (delta) interval N / D -+ z s is not used: it covers more than 95 %.
 *
 * An answer only where D is at least 3 deviations also depends on the noise. With d = 3 deviations
 * the set still holds n / d in 95 % of the answers: both errors with their signs changed are as
 * likely, and give an answer in the other half of the cases.
 * Source: E. C. Fieller, Some problems in interval estimation, 1954.
 * @param z - see `deviationsCovering`.
 */
export function quotientOf(fraction: NoisyFraction, z: number): Quotient | null {
  const {
    numerator, denominator, numeratorNoise, denominatorNoise, correlation = 0,
    sampling: { squares, people } = { squares: 0, people: 0 }, rounding = 0,
  } = fraction;
  if (!(denominator >= deviationsNeeded * denominatorNoise)) return null;
  const estimate = numerator / denominator;
  // In units of the denominator, so that squares stay within the range of doubles.
  const u = z * z * (numeratorNoise ** 2 + squares) / denominator ** 2;
  const v = z * z * (denominatorNoise ** 2 - people) / denominator ** 2;
  const c = z * z * correlation * numeratorNoise * denominatorNoise / denominator ** 2;
  const square = u * (1 - v) + estimate ** 2 * v + c * (c - 2 * estimate);
  const half = Math.sqrt(Math.max(0, square)) / (1 - v);
  const middle = (estimate - c) / (1 - v);
  const moved = rounding / denominator;
  return {
    estimate,
    // The root of u - 2 e c + e^2 v, of which no part is below 0.
    standardDeviation: Math.hypot(
      numeratorNoise * Math.sqrt(1 - correlation ** 2),
      estimate * denominatorNoise - correlation * numeratorNoise,
    ) / denominator,
    low: middle - half - moved * (1 + Math.abs(middle - half)),
    high: middle + half + moved * (1 + Math.abs(middle + half)),
  };
}

/**
 * How many standard deviations cover 95 % of the error of N - r D. Laplace noise of one number has
 * 95 % within log(20) scales, which are sqrt 2 to a deviation. Of a sum of two more is within. With
 * an independent normal error, 95 % lie within the number on the line between the two, by the part
 * that the noise has of the variance: 1.988 deviations at a half, where the line has 2.039.
 * @param noisePart - part of the variance that is noise. Default: all.
 */
export function deviationsCovering({ isPure }: PrivacyTarget, noisePart = 1): number {
  return isPure === true
    ? deviations95 + noisePart * (laplaceDeviations95 - deviations95) : deviations95;
}

/** Quotients, row-major in `shape`; null where there is no answer. */
export interface QuotientsOptions {
  readonly quotients: readonly (Quotient | null)[];
  readonly shape: readonly number[];
  /** True if the first axis of `shape` are keys. */
  readonly byKey: boolean;
  readonly isPure: boolean;
  /** Name of the divisor, for the text of a refusal: "the number of people". */
  readonly divisor: string;
}

/**
 * The answer of released quotients: a refusal where none has an answer. In an answer that is split
 * by keys, a key has an answer where all its quotients have one.
 */
export function answerOfQuotients(
  { quotients, shape, byKey, isPure, divisor }: QuotientsOptions,
): Outcome {
  const perKey = byKey ? quotients.length / shape[0]! : quotients.length;
  const answered = Array.from({ length: quotients.length / perKey }, (_, key) =>
    quotients.slice(key * perKey, (key + 1) * perKey).every((quotient) => quotient !== null));
  if (!answered.includes(true)) {
    return {
      kind: 'refused', reason: 'participation-below-plan',
      text: `${divisor} is less than ${deviationsNeeded} standard deviations of its noise`
        + `${byKey ? ' under every key' : ''}: wait longer, or plan a larger epsilon`,
    };
  }
  const all = quotients.map((quotient, i) =>
    (answered[Math.floor(i / perKey)] === true ? quotient : null));
  const interval95: Interval95 = {
    low: all.map((quotient) => quotient?.low ?? -Infinity),
    high: all.map((quotient) => quotient?.high ?? Infinity),
  };
  const deviations = all.map((quotient) => quotient?.standardDeviation ?? 0);
  return finiteValue({
    estimate: all.map((quotient) => quotient?.estimate ?? 0),
    shape,
    ...(byKey && answered.includes(false) && { answered }),
    // To first order. A sum of two Laplace noises has less in its tails than one of its variance.
    uncertainty: isPure ? { kind: 'laplace', scale: deviations.map((each) => each / Math.SQRT2) }
      : { kind: 'gaussian', standardDeviation: deviations },
    interval95,
  }, 'a quotient is', 'give a smaller range or cap');
}
