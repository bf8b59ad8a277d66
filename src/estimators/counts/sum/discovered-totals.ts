import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { KeptSums } from '../../../privacy/mechanisms/contract.js';
import type { Infeasible, Plan } from '../../contract/estimator.js';
import { finiteValue, intervalAbout } from '../../contract/outcomes.js';
import { countOutside, outsideShare, sides, withOutside } from '../../contract/outside.js';
import { errorUpTo, makePlan } from '../../contract/planning.js';
import { sumsByPlace } from '../discovered/place-sums.js';
import type { DiscoveredFacts } from '../discovered/places.js';
import { nothingShown } from '../discovered/showing.js';
import { discoveredSums } from '../discovered/sums.js';
import { halfOf, stepsPerHalf, type Range } from '../tables/half-ranges.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { outsideNoise } from '../tables/outside-noise.js';
import { reachOf, type Bounds } from './bounds.js';

/** The plan of totals of discovered keys, and the size of their noise. */
export interface DiscoveredTotals {
  readonly plan: Plan;
  /** Standard deviation of each column's total, in units of its bounds. */
  readonly deviations: readonly number[];
  /** Correlation of two columns' noise under one key: both totals have that of its count. */
  readonly correlation: (one: number, other: number) => number;
}

/**
 * Totals of values that are clipped to public bounds, for each of the keys that are found among
 * those that people send: those with the largest noisy counts, at most `top`.
 *
 * Claim. Neighbours: one contributor's rows, of at most K keys, replaced by any such rows or by
 * none, or added. Cost: (rho, delta), delta-approximate zCDP.
 * Why: 95 % of rho and all of delta are those of discovered/sums, which draws the counts and sums
 * of keys. The numbers of values below and above the bounds are of the rows of all keys, of which a
 * contributor has 0 to K: those of tables/outside-noise, for 5 % of rho. The costs add up, and the
 * rest is post-processing.
 *
 * Let the bounds with 0 in them be a..b. A total is (b - a) / 2 times the noisy sum of distances
 * from the middle, and (a + b) / 2 times the noisy count. So a value of 0 and no value at all give
 * the same total. Its deviation is that of both noises.
 *
 * Keys are chosen by how many people have them, not by their totals. A count just above the
 * threshold is too large on average, and a total of bounds that are not even about 0 with it.
 * Hostile: L contributors move one key's total by at most L units, all totals of a column together
 * by at most 2 K L units. They show a key of their own by being as many as the threshold.
 */
export function planDiscoveredTotals(
  bounds: readonly Bounds[], facts: DiscoveredFacts,
): DiscoveredTotals | Infeasible {
  const { cohort, target, keys: { groupsMax, top } } = facts;
  const columns = bounds.length;
  const ranges = bounds.map(({ low, high }): Range =>
    ({ low: Math.min(low, 0), high: Math.max(high, 0) }));
  const found = discoveredSums({
    ranges,
    valueOf: (row, from, j) =>
      Math.min(bounds[j]!.high, Math.max(bounds[j]!.low, row[from + j]!)),
    share: 1 - outsideShare,
    overall: sides * columns,
    countInto: (row, from, counts) => bounds.forEach((own, j) => {
      countOutside(row[from + j]!, own.low, own.high, counts, sides * j);
    }),
  }, facts);
  if ('kind' in found) return found;
  const { event, shownFrom } = found;
  const outside = outsideNoise(columns, groupsMax, target);
  const read = readerOf(ranges, event);
  const { deviations } = read;
  const most = Math.max(...deviations);
  const plan = makePlan({
    ...found.parts,
    events: [event, outside.numbers.event],
    guarantee: {
      theorem: 'noisy counts and sums of discovered groups above a threshold; '
        + 'proofs in src/privacy/mechanisms/group-sums and src/estimators/counts/discovered/sums',
      assumptions: [
        'for the total of unclipped values: all values are within the bounds', found.assumption,
      ],
      corruptionMax,
    },
    outputShape: [top, columns],
    reach: bounds.map(reachOf),
    noise: Array.from({ length: top * columns }, (_, i) =>
      deviations[i % columns]! * bounds[i % columns]!.unit),
    facts: {
      errorsAreIn: 'shares of the total of a cohort in which everybody is at the bound, over the '
        + 'groups that are shown',
      ...found.facts,
      noiseInBounds: most,
      clippedReportedFrom: outside.reportedFrom,
    },
    expectedError: errorUpTo(
      corruptionMax,
      { sampling: 0, noise: (most * Math.sqrt(top * columns)) / cohort },
      (share) => Math.sqrt(2 * groupsMax * columns) * share,
    ),
    release: async (summaries, mechanisms, _, keys, known) => {
      const table = sumsByPlace(summaries);
      const numbers = outside.numbers.draw(
        mechanisms, table.map(({ sums: { overall } }) => overall),
      ).value;
      return found.draw(mechanisms, table, keys, known).map((kept) => {
        if (kept.length === 0) return nothingShown(shownFrom);
        return withOutside(read.totals(kept), numbers, outside.reportedFrom);
      });
    },
  });
  return { plan, deviations, correlation: read.correlation };
}

interface Reader extends Omit<DiscoveredTotals, 'plan'> {
  /** Post-processing. */
  totals(kept: readonly KeptSums[]): Outcome;
}

/** Reads totals from noisy counts, and from noisy sums in half widths of the ranges. */
function readerOf(
  ranges: readonly Range[],
  { sigma, sumsSigma }: { readonly sigma: number; readonly sumsSigma: number },
): Reader {
  const columns = ranges.length;
  const middles = ranges.map(({ low, high }) => (low + high) / 2);
  const units = ranges.map((range) => 2 * halfOf(range));
  const shares = middles.map((middle, j) => middle / units[j]!);
  const deviations = shares.map((share) => Math.hypot(sumsSigma / 2, share * sigma));
  return {
    deviations,
    correlation: (one, other) =>
      shares[one]! * shares[other]! * sigma ** 2 / (deviations[one]! * deviations[other]!),
    totals(kept) {
      const estimate = kept.flatMap(({ noisyCount, noisySums }) => ranges.map((range, j) =>
        noisySums[j]! * halfOf(range) + noisyCount * middles[j]!));
      const standardDeviation = estimate.map((_, i) =>
        deviations[i % columns]! * units[i % columns]!);
      // Rounding moves each contributor's value by at most half a step of half a unit.
      const rounding = (i: number): number =>
        Math.max(0, kept[Math.floor(i / columns)]!.noisyCount)
        * units[i % columns]! / (4 * stepsPerHalf);
      return finiteValue({
        estimate,
        shape: [kept.length, columns],
        groups: kept.map(({ key }) => key),
        uncertainty: { kind: 'gaussian', standardDeviation },
        interval95: intervalAbout(
          estimate, (i) => deviations95 * standardDeviation[i]! + rounding(i),
        ),
        spread: units,
      }, 'a total is', 'give a smaller cap or range');
    },
  };
}
