import type { Outcome } from '../../../base/outcome.js';
import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo, makePlan, needsCohort } from '../../contract/planning.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { wholeCohort } from '../tables/counts.js';
import {
  keyPlacesOf, mostMoved, placeOf, rootAbove, type KeyPlaces,
} from '../tables/key-places.js';
import { wholeSumsOf, wholeSumsSummary, type AddWhole } from '../tables/whole-sums.js';
import { answerOfQuotients, deviationsCovering, deviationsNeeded, quotientOf } from './fieller.js';

/** Steps of half the width of a range. */
const stepsPerHalf = 2 ** 20;
/** Hostile share up to which an error is stated. */
const errorStatedUpTo = 0.5;

/** Means of values in public ranges. */
export interface MeansOptions {
  /** One range for each mean, at least one: low below high. */
  readonly ranges: readonly { readonly low: number; readonly high: number }[];
  /** The value of mean j in a row, in data units, whose columns begin at `from`. Finite. */
  valueOf(row: ArrayLike<number>, from: number, j: number): number;
  /** One mean has a shape of keys alone. */
  readonly isScalar: boolean;
  /** Whether people are a sample: the interval then is about all those they are taken from. */
  readonly isSample: boolean;
  /** Of the plan's guarantee. */
  readonly corruptionMax: number;
}

/**
 * The means of s values that are clipped to public ranges, for each of m public keys or for all
 * people: noisy sums over noisy counts, drawn at once.
 *
 * Claim. Neighbours: one contributor's rows, of at most K distinct keys, replaced by any such rows
 * or by none. (Without keys m = K = 1.) Cost: rho zCDP, no delta; or pure epsilon, where the budget
 * asks for it.
 * Why: a value becomes a number from -1 to 1, its distance from the middle of its range in half
 * widths, in whole steps of 2^-20. A key's part of the vector is (the s sums, w times its number of
 * rows), with w a whole number of steps. All parts add up exactly (whole-sums). Under a key that
 * a contributor has on both sides the count stays and each sum moves by at most 2: 4 s in L2
 * squared, 2 s in L1. Under a key that it has on one side only, the part moves by w^2 + s at most,
 * in L1 by w + s. So all parts move by `mostMoved` of these, which is charged. They are drawn once
 * by the discrete Gaussian or Laplace. The rest is post-processing, also which keys have an answer.
 *
 * The counts are free: with w^2 = s the L2 distance squared is 4 s min(K, m), which the sums alone
 * have too. It is 2 s (2 j + p) with p = min(2 (K - j), m - j), most for j = min(K, m). Where
 * m <= K a contributor may have all keys, p = m - j, and w^2 = 3 s still adds nothing. In L1 they
 * are not free for m > K.
 *
 * The mean divides by the noisy count, never by the exact one. A key has an answer where its noisy
 * count is 3 standard deviations or more.
 *
 * Interval: Fieller's (fieller). For a sample it allows for values that vary by half the width of
 * their range, as far as any can.
 * Hostile: L contributors in a key of n honest ones move its mean by at most L / (n + L) of the
 * width of the range. A small key is theirs.
 */
export function planMeans(options: MeansOptions, facts: StudyFacts): Plan | Infeasible {
  const { ranges, isSample } = options;
  const { cohort, dimension } = facts;
  const places = keyPlacesOf(facts);
  const { count: keys, keysMax } = places;
  const bundle = bundleOf(ranges.length, places, facts);
  const { noise, countDeviation } = bundle;
  const cohortNeeded = Math.ceil(2 * deviationsNeeded * countDeviation);
  if (cohort < cohortNeeded) {
    return needsCohort(
      `with ${cohort} contributors, noise may hide how many came`, cohortNeeded,
      'or a larger epsilon',
    );
  }
  const shape = [...(facts.keys === undefined ? [] : [keys]),
    ...(options.isScalar ? [] : [ranges.length])];
  const means = keys * ranges.length;
  const perKey = cohort / keys;
  return makePlan({
    cohorts: [wholeCohort],
    events: [noise.event],
    guarantee: {
      theorem: 'sums of bounded whole numbers with counts and discrete noise; '
        + 'proof in src/estimators/counts/quotients/means',
      assumptions: ['for the mean of unclipped values: all values are within the range'],
      corruptionMax: options.corruptionMax,
    },
    outputShape: shape.length === 0 ? [1] : shape,
    facts: {
      errorsAreIn: 'half the width of the range, over all keys, if people divide evenly',
      noiseOfSumInHalfRanges: noise.standardDeviation,
      noiseOfCount: countDeviation,
      answeredFromNoisyCount: deviationsNeeded * countDeviation,
      ...(facts.keys !== undefined && { keys, keysMax }),
    },
    expectedError: errorUpTo(
      errorStatedUpTo,
      {
        sampling: isSample ? Math.sqrt(means / perKey) : 0,
        noise: (Math.sqrt(means) * noise.standardDeviation) / perKey,
      },
      // Spread over keys, or all in one.
      (share) => 2 * Math.sqrt(ranges.length)
        * Math.min(Math.sqrt(keys), share * keys * Math.sqrt(Math.min(keysMax, keys))),
    ),
    summary: () => wholeSumsSummary(
      dimension, keys * (1 + ranges.length), adder(options, places),
    ),
    release: async (summaries, mechanisms) => noise
      .draw(mechanisms, wholeSumsOf(summaries).map((sums) => bundle.weighted(sums)))
      .map((noisy) => answerOf(options, bundle, noisy, facts)),
  });
}

/** The vector that is drawn: for each key the sums, then the weighted count. */
interface Bundle {
  readonly noise: CountNoise;
  /** Of the noise of a count: people. */
  readonly countDeviation: number;
  /** w: a count is multiplied by it. A whole multiple of a step. */
  readonly weight: number;
  /** Sums of steps and counts, as the mechanism takes them. */
  weighted(sums: Float64Array): Float64Array;
}

function bundleOf(means: number, places: KeyPlaces, { target }: StudyFacts): Bundle {
  const { count: keys, keysMax } = places;
  const hasAllKeys = keys <= keysMax;
  const allKeys = target.isPure === true ? means : Math.sqrt(3 * means);
  const steps = Math.floor((hasAllKeys ? allKeys : Math.sqrt(means)) * stepsPerHalf);
  const weight = steps / stepsPerHalf;
  const noise = countNoise({
    name: 'means', counts: keys * (1 + means), target, grid: 1 / stepsPerHalf,
    l1: mostMoved(places, { both: 2 * means, one: weight + means }) * (1 + 2 ** -50),
    l2: rootAbove(mostMoved(places, { both: 4 * means, one: weight * weight + means })),
  });
  return {
    noise,
    countDeviation: noise.standardDeviation / weight,
    weight,
    weighted: (sums) => sums.map((sum, i) =>
      (i % (1 + means) === means ? sum * steps : sum) / stepsPerHalf),
  };
}

/** Adds a row to its key's sums and count. */
function adder(options: MeansOptions, places: KeyPlaces): AddWhole {
  const { ranges } = options;
  const means = ranges.length;
  return (row, sums) => {
    const place = placeOf(row, places);
    if (place === null) return;
    const from = place * (1 + means);
    sums[from + means]! += 1;
    for (let j = 0; j < means; j++) {
      sums[from + j]! += halfSteps(options.valueOf(row, places.columnsFrom, j), ranges[j]!);
    }
  };
}

/** Distance from the middle of the range, clipped to it, in steps: at most 2^20 either way. */
function halfSteps(
  value: number, { low, high }: { readonly low: number; readonly high: number },
): number {
  const clipped = Math.min(high, Math.max(low, value));
  const steps = Math.round((2 * (clipped - low) / (high - low) - 1) * stepsPerHalf);
  return Math.min(stepsPerHalf, Math.max(-stepsPerHalf, steps)) + 0;
}

/** Post-processing. */
function answerOf(
  { ranges, isSample, isScalar }: MeansOptions, { noise, weight, countDeviation }: Bundle,
  noisy: Float64Array, { keys, target }: StudyFacts,
): Outcome {
  const means = ranges.length;
  const z = deviationsCovering(target);
  const all = noisy.length / (1 + means);
  const quotients = Array.from({ length: all * means }, (_, i) => {
    const from = Math.floor(i / means) * (1 + means);
    const people = noisy[from + means]! / weight;
    const found = quotientOf({
      numerator: noisy[from + i % means]!, denominator: people,
      numeratorNoise: noise.standardDeviation, denominatorNoise: countDeviation,
      sampling: isSample ? Math.max(0, people) : 0,
      rounding: Math.max(0, people) / (2 * stepsPerHalf),
    }, z);
    if (found === null) return null;
    const { low, high } = ranges[i % means]!;
    const inData = (halves: number): number => low + (halves + 1) * ((high - low) / 2);
    return {
      estimate: inData(found.estimate),
      standardDeviation: found.standardDeviation * ((high - low) / 2),
      low: inData(found.low),
      high: inData(found.high),
    };
  });
  const columns = isScalar ? [] : [means];
  const shape = keys === undefined ? columns : [all, ...columns];
  return answerOfQuotients({
    quotients, shape: shape.length === 0 ? [1] : shape, byKey: keys !== undefined,
    isPure: target.isPure === true, divisor: 'the noisy number of people',
  });
}
