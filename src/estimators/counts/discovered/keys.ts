import { assert } from '../../../base/assert.js';
import type { Outcome } from '../../../base/outcome.js';
import { groupWeightsEvent } from '../../../privacy/accounting/calibration.js';
import { groupWeightSteps } from '../../../privacy/mechanisms/bounds.js';
import type { KeptKey } from '../../../privacy/mechanisms/contract.js';
import { shownOf } from '../../../privacy/mechanisms/group-histogram.js';
import type { Infeasible, Plan } from '../../contract/estimator.js';
import { errorUpTo, makePlan } from '../../contract/planning.js';
import { wholeArm } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { bytesOfSums, placeSumsSummary, sumsByPlace, type PlaceSumsTable } from './place-sums.js';
import type { DiscoveredFacts, IsCounted } from './places.js';
import { nothingShown, showingOf } from './showing.js';

/**
 * Which keys many contributors have, without counts, for keys that nobody listed. A contributor
 * with k keys gives each of them the weight 1 / sqrt(k). So people who have many keys need no more
 * noise than people who have one, and more keys show than with their counts.
 *
 * Claim. Neighbours: one contributor's rows, of at most K keys, replaced by any such rows or by
 * none, or added. Cost: (rho, delta), delta-approximate zCDP.
 * Why: a contributor has one row for each of its keys, and each states how many keys it has: a
 * number k from 1 to K that follows from its own rows (questions/reduction). A row adds to its key
 * the weight that `groupWeightSteps` gives for k, or nothing. That is what mechanisms/group-weights
 * asks for. Everything after is a function of the keys that were kept and of their noisy weights:
 * the order of the keys, and the first `top` of them. The weights themselves are not shown: as a
 * count of people they would mislead.
 */
export function planDiscoveredKeys(
  isCounted: IsCounted, facts: DiscoveredFacts,
): Plan | Infeasible {
  const { cohort, dimension, keys: { groupsMax, top } } = facts;
  const showing = showingOf(facts, ({ rho, delta }) => groupWeightsEvent({
    name: 'keys', cohort: wholeArm.name, groupsMax, rho, delta,
  }));
  if ('kind' in showing) return showing;
  const { event, shownFrom } = showing;
  const weights = Float64Array.from(
    { length: groupsMax + 1 }, (_, keys) => (keys === 0 ? 0 : groupWeightSteps(keys, event.grid)),
  );
  return makePlan({
    arms: [wholeArm],
    events: [event],
    guarantee: {
      theorem: 'discovered groups above a threshold of noisy weights; '
        + 'proof in src/privacy/mechanisms/group-weights',
      assumptions: [showing.assumption],
      corruptionMax,
    },
    outputShape: [top, 0],
    findsKeys: true,
    // The weight of a key, and its copy at the release.
    bytesPerKey: bytesOfSums(2),
    noise: [],
    facts: {
      errorsAreIn: 'shares of the cohort, in the weight that decides whether a group shows',
      ...showing.facts,
      noiseOfWeight: event.sigma,
    },
    expectedError: errorUpTo(
      corruptionMax, { sampling: 0, noise: event.sigma / cohort }, (share) => share,
    ),
    summary: () => placeSumsSummary({
      dimension, each: 1, overall: 0,
      add: (row, sums, at) => {
        const weight = weights[row[dimension - 1]!];
        assert(weight !== undefined && weight > 0, 'a row states the groups of its contributor');
        if (isCounted(row, 1)) sums[at]! += weight;
      },
    }),
    release: async (summaries, mechanisms, _, keys, known) => {
      assert(keys !== undefined, 'a release of discovered groups gets the groups');
      const byPlace = sumsByPlace(summaries).map((table) => weightsOf(table, event.grid));
      return mechanisms.groupHistogram(event.name, byPlace, keys, known)
        .map((kept) => shown(shownOf(kept, top), shownFrom));
    },
  });
}

/** The weight of each place. */
function weightsOf({ counts, sums }: PlaceSumsTable, grid: number): Float64Array {
  return Float64Array.from(counts, (_, place) => sums.of(place)[0]! * grid);
}

/** The keys in the order of their noisy weights, largest first. */
function shown(kept: readonly KeptKey[], shownFrom: number): Outcome {
  if (kept.length === 0) return nothingShown(shownFrom);
  return {
    kind: 'value', estimate: [], shape: [kept.length, 0], groups: kept.map(({ key }) => key),
    uncertainty: { kind: 'none' },
  };
}
