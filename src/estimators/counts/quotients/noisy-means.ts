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
  /** True if values may be beyond their ranges: how many are is then drawn, too. */
  readonly isClipped: boolean;
  /** True if there is one mean, whose shape is that of the keys alone. */
  readonly isScalar: boolean;
  /** True if people are a sample: the interval then is about all those they are taken from. */
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

/**
 * A group of people: their noisy number, and their noisy sums in half widths from the middle of the
 * ranges.
 */
export interface NoisySums {
  readonly people: number;
  readonly sums: ArrayLike<number>;
  /** Noisy sums of the squares of the same. Absent: none were drawn. */
  readonly squares?: ArrayLike<number>;
}

/** How large the noise of `NoisySums` is. */
export interface SumsNoise {
  readonly ofCount: number;
  /** In half widths. */
  readonly ofSum: number;
  /** Deviation of a sum of squares, where one is drawn; and how far rounding moves a square. */
  readonly ofSquares?: { readonly deviation: number; readonly rounding: number };
}

/** How sure a bound on the chance in who takes part is, in deviations: 95 in 100. */
const sureOfSquares = 1.645;

/**
 * A bound on the sum of the squares of n values in -1..1, from released numbers, by their mean m.
 *
 * Claim. Without squares it is n: then squares - n m^2 is (1 - m)(1 + m) n, the most that values in
 * a range with this mean vary by (Bhatia and Davis 2000); exact for values that are at the ends.
 * With squares it is below about once in 20 times, and never above n.
 * Why. V = sum of squares - n m^2 is the sum of the squares y of distances from m, with y in 0..R
 * and R = (1 + |m|)^2. By the same bound, the variance of y is at most its mean times R. So with
 * noise of variance s^2 the true V is within z sqrt(s^2 + R V) above the noisy one, z^2 = 2.7. V
 * solved for is noisy V + z^2 R / 2 + z sqrt(s^2 + R noisy V + z^2 R^2 / 4). Rare values far out,
 * which a sample may hold too few of, are so allowed for whatever their law is.
 */
function squaresBelow(
  { people, squares }: NoisySums, j: number, mean: number, noise: SumsNoise,
): number {
  const { ofSquares } = noise;
  if (squares === undefined || ofSquares === undefined) return people;
  const m = Math.max(-1, Math.min(1, mean));
  const about = people * m ** 2;
  const noisy = Math.max(0, squares[j]! - about) + people * ofSquares.rounding;
  const deviation = Math.hypot(
    ofSquares.deviation, m ** 2 * noise.ofCount, 2 * m * noise.ofSum,
  );
  const [z, most] = [sureOfSquares, (1 + Math.abs(m)) ** 2];
  const above = z ** 2 * most / 2
    + z * Math.sqrt(deviation ** 2 + most * noisy + z ** 2 * most ** 2 / 4);
  return Math.min(people, about + noisy + above);
}

/**
 * The means of each group, from released numbers: post-processing.
 * @param byKey - whether the groups are keys.
 */
export function answerOfMeans(
  { ranges, isSample, isScalar }: MeansOptions, noise: SumsNoise, groups: readonly NoisySums[],
  { byKey, target }: { readonly byKey: boolean; readonly target: PrivacyTarget },
): Outcome {
  const quotients = groups.flatMap((group) => ranges.map((range, j) => {
    const people = Math.max(0, group.people);
    const mean = group.sums[j]! / group.people;
    const squares = isSample ? squaresBelow({ ...group, people }, j, mean, noise) : 0;
    const ofNoise = noise.ofSum ** 2 + (mean * noise.ofCount) ** 2;
    const ofChance = isSample ? Math.max(0, squares - people * mean ** 2) : 0;
    const found = quotientOf({
      numerator: group.sums[j]!, denominator: group.people,
      numeratorNoise: noise.ofSum, denominatorNoise: noise.ofCount,
      ...(isSample && { sampling: { squares, people } }),
      rounding: people / (2 * stepsPerHalf),
    }, deviationsCovering(target, ofNoise / (ofNoise + ofChance)));
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
