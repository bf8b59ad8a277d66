import type { Outcome } from '../../../base/outcome.js';
import { errorUpTo } from '../../contract/planning.js';
import type { ExpectedError, PrivacyTarget } from '../../contract/estimator.js';
import { halfOf, stepsPerHalf, type Range } from '../tables/half-ranges.js';
import { answerOfQuotients, deviationsCovering, quotientOf } from './fieller.js';

/** Corruption up to which an error is stated. */
const errorStatedUpTo = 0.5;

/** Means of values in public ranges. */
export interface MeansOptions {
  /** One range for each mean, at least one: low below high. */
  readonly ranges: readonly Range[];
  /** The value of mean j in a row, in data units, whose columns begin at `from`. Finite. */
  readonly valueOf: (row: ArrayLike<number>, from: number, j: number) => number;
  /** Whether values may be beyond their ranges: how many are is then drawn, too. */
  readonly isClipped: boolean;
  /** Whether there is one mean, whose shape is that of the keys alone. */
  readonly isScalar: boolean;
  /** Whether people are a sample: the interval then is about all those they are taken from. */
  readonly isSample: boolean;
  /** As in the plan's guarantee. */
  readonly corruptionMax: number;
}

/**
 * The expected error of means by key, in half widths of the ranges, if people divide evenly among
 * `keys` keys. Hostile people spread over the keys, or are all in one.
 */
export function errorOfMeans(
  { ranges: { length }, isSample }: MeansOptions, noise: SumsNoise,
  { keys, groupsMax, cohort }: {
    readonly keys: number; readonly groupsMax: number; readonly cohort: number;
  },
): (share: number) => ExpectedError {
  const means = keys * length;
  const perKey = cohort / keys;
  return errorUpTo(
    errorStatedUpTo,
    {
      sampling: isSample ? Math.sqrt(means / perKey) : 0,
      noise: (Math.sqrt(means) * noise.ofSum) / perKey,
    },
    (share) => 2 * Math.sqrt(length)
      * Math.min(Math.sqrt(keys), share * keys * Math.sqrt(Math.min(groupsMax, keys))),
  );
}

/** A group of people: their noisy number, and their noisy sums in half widths of the ranges. */
export interface NoisySums {
  readonly people: number;
  readonly sums: ArrayLike<number>;
}

/** How large the noise of `NoisySums` is. */
export interface SumsNoise {
  readonly ofCount: number;
  /** In half widths. */
  readonly ofSum: number;
}

/**
 * The means of each group, from released numbers: post-processing.
 * @param byKey - whether the groups are keys.
 */
export function answerOfMeans(
  { ranges, isSample, isScalar }: MeansOptions, noise: SumsNoise, groups: readonly NoisySums[],
  { byKey, target }: { readonly byKey: boolean; readonly target: PrivacyTarget },
): Outcome {
  const z = deviationsCovering(target);
  const quotients = groups.flatMap(({ people, sums }) => ranges.map((range, j) => {
    const found = quotientOf({
      numerator: sums[j]!, denominator: people,
      numeratorNoise: noise.ofSum, denominatorNoise: noise.ofCount,
      sampling: isSample ? Math.max(0, people) : 0,
      rounding: Math.max(0, people) / (2 * stepsPerHalf),
    }, z);
    if (found === null) return null;
    const half = halfOf(range);
    const inData = (halves: number): number => range.low + (halves + 1) * half;
    return {
      estimate: inData(found.estimate),
      standardDeviation: found.standardDeviation * half,
      low: inData(found.low),
      high: inData(found.high),
    };
  }));
  const shape = [...(byKey ? [groups.length] : []), ...(isScalar ? [] : [ranges.length])];
  return answerOfQuotients({
    quotients, shape: shape.length === 0 ? [1] : shape, byKey,
    isPure: target.isPure === true, divisor: 'the noisy number of people',
  });
}
