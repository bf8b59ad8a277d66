import type {
  Infeasible, Plan, PrivacyTarget, StudyFacts,
} from '../../contract/estimator.js';
import {
  countedAtBound, countOutside, outsideShare, sides, withOutside,
} from '../../contract/outside.js';
import { makePlan, needsCohort } from '../../contract/planning.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { wholeArm } from '../tables/counts.js';
import { halfOf, halfSteps, stepsPerHalf } from '../tables/half-ranges.js';
import {
  keyPlacesOf, mostMoved, oneKey, placeOf, rootAbove, type KeyPlaces,
} from '../tables/key-places.js';
import { outsideNoise } from '../tables/outside-noise.js';
import { wholeSumsOf, wholeSumsSummary, type AddWhole } from '../tables/whole-sums.js';
import { planDiscoveredMeans } from './discovered-means.js';
import { deviationsNeeded } from './fieller.js';
import {
  answerOfMeans, errorOfMeans, type MeansOptions, type NoisySums, type SumsNoise,
} from './noisy-means.js';

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
 * Where values may be beyond the ranges, the people below and above each range are counted over the
 * rows of all keys, of which a contributor has min(K, m) at most (tables/outside-noise). These
 * numbers cost 5 %, and what is said above the other 95 %; the costs add up.
 *
 * The counts are free: with w^2 = s the L2 distance squared is 4 s min(K, m), which the sums alone
 * have too. It is 2 s (2 j + p) with p = min(2 (K - j), m - j), most for j = min(K, m). Where
 * m <= K a contributor may have all keys, p = m - j, and w^2 = 3 s still adds nothing, nor does
 * w = s in L1. In L1 they are not free for m > K.
 *
 * Means of a sample may have sums of squares beside the sums, weighted by b <= 1/2: they tell how
 * far values vary, so that the interval need not allow for all that the range does. They take a
 * fifth of the room that the count has, and add nothing to the sums. Under a key that a contributor
 * has on both sides, let a value move by d, and t be the size of the sum of the two values: d + t
 * is at most 2, and the weighted square moves by at most b d t. In L1 that is d (1 + b t), at most
 * d (1 + b (2 - d)), which grows up to d = 2 where b <= 1/2: 2, as without squares. In L2 squared
 * it is d^2 (1 + b^2 t^2), at most 4 where b^2 <= 2. (Both hold with a step of rounding beside: it
 * is added.) Under a key on one side only, the part moves by w + s (1 + b), or w^2 + s (1 + b^2).
 * Squares are drawn where a key is planned to have `squaresFrom` deviations of a sum's noise in
 * people; below, they would show less than the bound by the mean does.
 *
 * The mean divides by the noisy count, never by the exact one. A key has an answer where its noisy
 * count is 3 standard deviations or more.
 *
 * Interval: Fieller's (fieller). For a sample it allows for the chance in who takes part, by the
 * squares that were drawn or by the most that values with this mean vary (noisy-means).
 * Hostile: L contributors in a key of n honest ones move its mean by at most L / (n + L) of the
 * width of the range. A small key is theirs.
 *
 * Keys that are discovered: see discovered-means.
 */
export function planMeans(options: MeansOptions, facts: StudyFacts): Plan | Infeasible {
  const { ranges, isSample } = options;
  const { cohort, dimension, keys: asked } = facts;
  if (asked?.list === 'discovered') return planDiscoveredMeans(options, { ...facts, keys: asked });
  const places = keyPlacesOf(facts);
  const { count: keys, groupsMax } = places;
  const bundle = bundleOf(options, places, facts);
  const outside = options.isClipped
    ? outsideNoise(ranges.length, Math.min(places.groupsMax, keys), facts.target) : null;
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
  const spread: SumsNoise = {
    ofCount: countDeviation, ofSum: noise.standardDeviation,
    ...(bundle.ofSquares !== null && { ofSquares: bundle.ofSquares }),
  };
  const halves = ranges.map(halfOf);
  return makePlan({
    arms: [wholeArm],
    events: [noise.event, ...(outside === null ? [] : [outside.numbers.event])],
    guarantee: {
      theorem: 'sums of bounded whole numbers with counts and discrete noise; '
        + 'proof in src/estimators/counts/quotients/means',
      assumptions: outside === null ? [] : [countedAtBound],
      corruptionMax: options.corruptionMax,
    },
    outputShape: shape.length === 0 ? [1] : shape,
    ...(facts.keys === undefined && isSample && {
      noise: halves.map((half) => (half * noise.standardDeviation) / cohort),
    }),
    facts: {
      // Without keys they are in spreads, of which a range alone has half its width.
      ...(facts.keys === undefined && isSample ? { spread: halves.join(', ') }
        : { errorsAreIn: 'half the width of the range, over all groups, if people divide evenly' }),
      noiseOfSumInHalfRanges: noise.standardDeviation,
      noiseOfCount: countDeviation,
      answeredFromNoisyCount: deviationsNeeded * countDeviation,
      ...(bundle.ofSquares !== null && { noiseOfSquares: bundle.ofSquares.deviation }),
      ...(outside !== null && { clippedReportedFrom: outside.reportedFrom }),
      ...(facts.keys !== undefined && { keys, groupsMax }),
    },
    expectedError: errorOfMeans(options, spread, { keys, groupsMax, cohort }),
    summary: () => wholeSumsSummary(
      dimension, bundle.entries + (outside === null ? 0 : sides * ranges.length),
      adder(options, places, bundle),
    ),
    release: async (summaries, mechanisms) => {
      const all = wholeSumsOf(summaries);
      const numbers = outside?.numbers
        .draw(mechanisms, all.map((sums) => sums.subarray(bundle.entries))).value ?? [];
      return noise
        .draw(mechanisms, all.map((sums) => bundle.weighted(sums.subarray(0, bundle.entries))))
        .map((noisy) => withOutside(answerOfMeans(
          options, spread, bundle.groupsOf(noisy),
          { byKey: facts.keys !== undefined, target: facts.target },
        ), numbers, outside?.reportedFrom ?? 0));
    },
  });
}

/**
 * The noise of a sum of one column with a range alone, in widths of the range: so many people's
 * worth of it.
 */
export function noiseInWidths(target: PrivacyTarget): number {
  const { noise } = bundleWith(
    { ranges: [{ low: -1, high: 1 }], isClipped: true }, oneKey, target, false,
  );
  return noise.standardDeviation / 2;
}

/** The vector that is drawn: for each key the sums, those of squares, then the weighted count. */
interface Bundle {
  readonly noise: CountNoise;
  /** Entries of one key, and of all. */
  readonly perKey: number;
  readonly entries: number;
  /** Standard deviation of the noise of a count, in people. */
  readonly countDeviation: number;
  /** The weight of a square; 0: none are summed. */
  readonly weightOfSquares: number;
  readonly ofSquares: Required<SumsNoise>['ofSquares'] | null;
  /** Sums of steps and counts, as the mechanism takes them. */
  weighted(sums: Float64Array): Float64Array;
  /** Each key's part of what was drawn. */
  groupsOf(noisy: Float64Array): readonly NoisySums[];
}

/** Squares are drawn from so many deviations of a sum's noise on: people planned for a key. */
const squaresFrom = 30;
/** The part of the room of the count that they take. */
const partOfSquares = 0.2;

/** The weights of count and squares, whole numbers of steps. */
interface Weights {
  readonly ofCount: number;
  readonly ofSquares: number;
}

/** The weights that add nothing to what the sums move. See `planMeans`. */
function weightsOf(
  means: number, { count: keys, groupsMax }: KeyPlaces, target: PrivacyTarget,
  hasSquares: boolean,
): Weights {
  const hasAllKeys = keys <= groupsMax;
  const stepsIn = (weight: number): number => Math.floor(weight * stepsPerHalf);
  const part = hasSquares ? partOfSquares : 0;
  if (target.isPure === true) {
    const room = hasAllKeys ? means : Math.sqrt(means);
    return { ofCount: stepsIn((1 - part) * room), ofSquares: stepsIn((part * room) / means) };
  }
  const room = hasAllKeys ? 3 * means : means;
  return {
    ofCount: stepsIn(Math.sqrt((1 - part) * room)),
    ofSquares: stepsIn(Math.sqrt((part * room) / means)),
  };
}

function bundleOf(
  options: MeansOptions, places: KeyPlaces, { cohort, target }: StudyFacts,
): Bundle {
  const plain = bundleWith(options, places, target, false);
  return options.isSample && cohort / places.count >= squaresFrom * plain.noise.standardDeviation
    ? bundleWith(options, places, target, true) : plain;
}

function bundleWith(
  { ranges: { length: means }, isClipped }: Pick<MeansOptions, 'ranges' | 'isClipped'>,
  places: KeyPlaces, target: PrivacyTarget, hasSquares: boolean,
): Bundle {
  const { count: keys } = places;
  const weights = weightsOf(means, places, target, hasSquares);
  const [weight, ofSquare] = [weights.ofCount / stepsPerHalf, weights.ofSquares / stepsPerHalf];
  // Weighted squares are rounded to a step, so two may be a step farther apart: two for the floats.
  const step = hasSquares ? 2 / stepsPerHalf : 0;
  const sumsPerKey = means * (hasSquares ? 2 : 1);
  const perKey = sumsPerKey + 1;
  const noise = countNoise({
    name: 'means', counts: keys * perKey, target, grid: 1 / stepsPerHalf,
    share: isClipped ? 1 - outsideShare : 1,
    l1: mostMoved(places, {
      both: means * (2 + step), one: weight + means * (1 + ofSquare + step),
    }) * (1 + 2 ** -50),
    l2: rootAbove(mostMoved(places, {
      both: means * (4 + step ** 2), one: weight * weight + means * (1 + (ofSquare + step) ** 2),
    })),
  });
  return {
    noise,
    perKey,
    entries: keys * perKey,
    countDeviation: noise.standardDeviation / weight,
    weightOfSquares: ofSquare,
    ofSquares: hasSquares ? {
      deviation: noise.standardDeviation / ofSquare, rounding: 1 / (stepsPerHalf * ofSquare),
    } : null,
    weighted: (sums) => sums.map((sum, i) =>
      (i % perKey === sumsPerKey ? sum * weights.ofCount : sum) / stepsPerHalf),
    groupsOf: (noisy) => Array.from({ length: keys }, (_, key) => {
      const from = key * perKey;
      const squares = noisy.subarray(from + means, from + sumsPerKey);
      return {
        people: noisy[from + sumsPerKey]! / weight,
        sums: noisy.subarray(from, from + means),
        ...(hasSquares && { squares: squares.map((square) => square / ofSquare) }),
      };
    }),
  };
}

/** Adds a row to its key's sums and count, and then to the people outside the ranges. */
function adder(
  options: MeansOptions, places: KeyPlaces, { perKey, entries, weightOfSquares }: Bundle,
): AddWhole {
  const { ranges } = options;
  const means = ranges.length;
  return (row, sums) => {
    const place = placeOf(row, places);
    if (place === null) return;
    const from = place * perKey;
    sums[from + perKey - 1]! += 1;
    for (let j = 0; j < means; j++) {
      const value = options.valueOf(row, places.columnsFrom, j);
      const { low, high } = ranges[j]!;
      const steps = halfSteps(value, ranges[j]!);
      sums[from + j]! += steps;
      if (weightOfSquares > 0) {
        sums[from + means + j]! += Math.round(weightOfSquares * steps * (steps / stepsPerHalf));
      }
      if (options.isClipped) countOutside(value, low, high, sums, entries + sides * j);
    }
  };
}
