import type { Infeasible, Plan } from '../../contract/estimator.js';
import {
  countedAtBound, countOutside, outsideShare, sides, withOutside,
} from '../../contract/outside.js';
import { makePlan } from '../../contract/planning.js';
import { sumsByPlace } from '../discovered/place-sums.js';
import type { DiscoveredFacts } from '../discovered/places.js';
import { nothingShown } from '../discovered/showing.js';
import { discoveredSums } from '../discovered/sums.js';
import { outsideNoise } from '../tables/outside-noise.js';
import { deviationsNeeded } from './fieller.js';
import { answerOfMeans, errorOfMeans, type MeansOptions, type SumsNoise } from './noisy-means.js';

/**
 * The means of s values that are clipped to public ranges, for each of the keys that are found
 * among those that people send: those with the largest noisy counts, at most `top`.
 *
 * Claim, neighbours and cost: those of discovered/sums. A mean is the quotient of a noisy sum and a
 * noisy count that it draws, so it is post-processing. Where values may be beyond the ranges, 5 %
 * of rho is that of the people below and above each range, over the rows of all keys, of which a
 * contributor has K at most (tables/outside-noise); the costs add up.
 *
 * A count just above the threshold is too large on average, since a key whose noise is negative is
 * not shown. The mean of such a key is then drawn towards the middle of its range.
 * Hostile: L contributors in a key of n honest ones move its mean by at most L / (n + L) of the
 * width of the range. They show a key of their own by being as many as the threshold.
 */
export function planDiscoveredMeans(
  options: MeansOptions, facts: DiscoveredFacts,
): Plan | Infeasible {
  const { ranges, valueOf, isScalar, isClipped } = options;
  const { cohort, target, keys: { groupsMax, top } } = facts;
  const found = discoveredSums({
    ranges,
    valueOf,
    ...(isClipped && {
      share: 1 - outsideShare,
      overall: sides * ranges.length,
      countInto: (row, from, counts) => ranges.forEach(({ low, high }, j) =>
        countOutside(valueOf(row, from, j), low, high, counts, sides * j)),
    }),
  }, facts);
  if ('kind' in found) return found;
  const { event, shownFrom } = found;
  const outside = isClipped ? outsideNoise(ranges.length, groupsMax, target) : null;
  const noise: SumsNoise = { ofCount: event.sigma, ofSum: event.sumsSigma };
  const keys = Math.max(1, Math.min(top, Math.floor(cohort / shownFrom)));
  return makePlan({
    ...found.parts,
    events: [event, ...(outside === null ? [] : [outside.numbers.event])],
    guarantee: {
      theorem: 'noisy counts and sums of discovered groups above a threshold; '
        + 'proofs in src/privacy/mechanisms/group-sums and src/estimators/counts/discovered/sums',
      assumptions: [...(outside === null ? [] : [countedAtBound]), found.assumption],
      corruptionMax: options.corruptionMax,
    },
    outputShape: [top, ...(isScalar ? [] : [ranges.length])],
    facts: {
      errorsAreIn: `half the width of the range, over all groups, if people divide among ${keys}`,
      ...found.facts,
      answeredFromNoisyCount: deviationsNeeded * event.sigma,
      ...(outside !== null && { clippedReportedFrom: outside.reportedFrom }),
    },
    expectedError: errorOfMeans(options, noise, { keys, groupsMax, cohort }),
    release: async (summaries, mechanisms, _, places, known) => {
      const table = sumsByPlace(summaries);
      const numbers = outside?.numbers
        .draw(mechanisms, table.map(({ sums: { overall } }) => overall)).value ?? [];
      return found.draw(mechanisms, table, places, known).map((kept) => {
        if (kept.length === 0) return nothingShown(shownFrom);
        const outcome = answerOfMeans(
          options, noise,
          kept.map(({ noisyCount, noisySums }) => ({ people: noisyCount, sums: noisySums })),
          { byKey: true, target },
        );
        const answer = withOutside(outcome, numbers, outside?.reportedFrom ?? 0);
        return answer.kind === 'refused' ? answer
          : { ...answer, groups: kept.map(({ key }) => key) };
      });
    },
  });
}
