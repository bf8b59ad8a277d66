import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import {
  countedAtBound, countOutside, outsideShare, sides, withOutside,
} from '../../contract/outside.js';
import { makePlan, needsCohort } from '../../contract/planning.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { wholeArm } from '../tables/counts.js';
import { halfSteps, stepsPerHalf } from '../tables/half-ranges.js';
import {
  keyPlacesOf, mostMoved, placeOf, rootAbove, type KeyPlaces,
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
 *
 * Keys that are discovered: see discovered-means.
 */
export function planMeans(options: MeansOptions, facts: StudyFacts): Plan | Infeasible {
  const { ranges } = options;
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
  const spread: SumsNoise = { ofCount: countDeviation, ofSum: noise.standardDeviation };
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
    facts: {
      errorsAreIn: 'half the width of the range, over all keys, if people divide evenly',
      noiseOfSumInHalfRanges: noise.standardDeviation,
      noiseOfCount: countDeviation,
      answeredFromNoisyCount: deviationsNeeded * countDeviation,
      ...(outside !== null && { clippedReportedFrom: outside.reportedFrom }),
      ...(facts.keys !== undefined && { keys, groupsMax }),
    },
    expectedError: errorOfMeans(options, spread, { keys, groupsMax, cohort }),
    summary: () => wholeSumsSummary(
      dimension, bundle.entries + (outside === null ? 0 : sides * ranges.length),
      adder(options, places),
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

/** The vector that is drawn: for each key the sums, then the weighted count. */
interface Bundle {
  readonly noise: CountNoise;
  readonly entries: number;
  /** Standard deviation of the noise of a count, in people. */
  readonly countDeviation: number;
  /** Sums of steps and counts, as the mechanism takes them. */
  weighted(sums: Float64Array): Float64Array;
  /** Each key's part of what was drawn. */
  groupsOf(noisy: Float64Array): readonly NoisySums[];
}

function bundleOf(
  { ranges: { length: means }, isClipped }: MeansOptions, places: KeyPlaces,
  { target }: StudyFacts,
): Bundle {
  const { count: keys, groupsMax } = places;
  const entries = keys * (1 + means);
  const hasAllKeys = keys <= groupsMax;
  const allKeys = target.isPure === true ? means : Math.sqrt(3 * means);
  const steps = Math.floor((hasAllKeys ? allKeys : Math.sqrt(means)) * stepsPerHalf);
  const weight = steps / stepsPerHalf;
  const noise = countNoise({
    name: 'means', counts: entries, target, grid: 1 / stepsPerHalf,
    share: isClipped ? 1 - outsideShare : 1,
    l1: mostMoved(places, { both: 2 * means, one: weight + means }) * (1 + 2 ** -50),
    l2: rootAbove(mostMoved(places, { both: 4 * means, one: weight * weight + means })),
  });
  return {
    noise,
    entries,
    countDeviation: noise.standardDeviation / weight,
    weighted: (sums) => sums.map((sum, i) =>
      (i % (1 + means) === means ? sum * steps : sum) / stepsPerHalf),
    groupsOf: (noisy) => Array.from({ length: keys }, (_, key) => {
      const from = key * (1 + means);
      return { people: noisy[from + means]! / weight, sums: noisy.subarray(from, from + means) };
    }),
  };
}

/** Adds a row to its key's sums and count, and then to the people outside the ranges. */
function adder(options: MeansOptions, places: KeyPlaces): AddWhole {
  const { ranges } = options;
  const means = ranges.length;
  const outsideFrom = places.count * (1 + means);
  return (row, sums) => {
    const place = placeOf(row, places);
    if (place === null) return;
    const from = place * (1 + means);
    sums[from + means]! += 1;
    for (let j = 0; j < means; j++) {
      const value = options.valueOf(row, places.columnsFrom, j);
      const { low, high } = ranges[j]!;
      sums[from + j]! += halfSteps(value, ranges[j]!);
      if (options.isClipped) countOutside(value, low, high, sums, outsideFrom + sides * j);
    }
  };
}
