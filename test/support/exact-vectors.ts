import { readFileSync } from 'node:fs';
import { fraction, type Interval } from '../../src/audit/exact/interval.js';
import { root } from './sources.js';

/** A numerator and a denominator. */
export type Ratio = readonly [number, number];

/** What test/vectors/exact.py computed, with 100 decimal places. */
interface ExactVectors {
  readonly exponentials: readonly (readonly [Ratio, string])[];
  readonly logarithms: readonly (readonly [Ratio, string])[];
  readonly pairs: readonly {
    readonly kind: 'gaussian' | 'laplace';
    /** The variance of Gaussian noise, the scale of Laplace noise. */
    readonly size: Ratio;
    readonly shift: number;
    /** Of 0, 1, 2, 3. */
    readonly probabilities: readonly string[];
    readonly divergences: readonly (readonly [Ratio, string])[];
    readonly hockeySticks: readonly (readonly [Ratio, string])[];
  }[];
}

export function exactVectors(): ExactVectors {
  return JSON.parse(readFileSync(`${root}test/vectors/exact.json`, 'utf8')) as ExactVectors;
}

export function fractionOf([numerator, denominator]: Ratio): Interval {
  return fraction(BigInt(numerator), BigInt(denominator));
}

/** A decimal number that is correct to one unit of its last digit. */
export function decimal(text: string): Interval {
  const digits = BigInt(text.replace('.', ''));
  const denominator = 10n ** BigInt(text.length - text.indexOf('.') - 1);
  return {
    low: fraction(digits - 1n, denominator).low, high: fraction(digits + 1n, denominator).high,
  };
}
