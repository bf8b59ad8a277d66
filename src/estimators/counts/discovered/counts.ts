import { assert } from '../../../base/assert.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import { groupHistogramEvent } from '../../../privacy/accounting/calibration.js';
import type { KeptKey } from '../../../privacy/mechanisms/contract.js';
import type { Infeasible, Plan } from '../../contract/estimator.js';
import { intervalAbout } from '../../contract/outcomes.js';
import { errorUpTo, makePlan } from '../../contract/planning.js';
import { wholeArm } from '../tables/counts.js';
import { corruptionMax, ofCounts } from '../tables/noisy-counts.js';
import { countsByPlace, placesSummary, type DiscoveredFacts, type IsCounted } from './places.js';
import { shownOf } from '../../../privacy/mechanisms/group-histogram.js';
import { nothingShown, showingOf } from './showing.js';

/**
 * How many contributors have which key, for keys that nobody listed: the keys with the largest
 * noisy counts, at most `top` of them.
 *
 * Claim. Neighbours: one contributor's rows, of at most K keys, replaced by any such rows or by
 * none, or added. Cost: (rho, delta), delta-approximate zCDP.
 * Why: a contributor has one row for each of its keys, and a row adds 0 or 1 to the count of its
 * key (places). So it adds 1 to at most K counts, which is what mechanisms/group-histogram asks
 * for. Everything after is a function of the keys that were kept: the first `top` of them are
 * shown.
 *
 * A count near the threshold is too large on average, because a key whose noise is negative is not
 * shown. Keys below the threshold are missing. When no key is shown, the release is refused; that
 * follows from the kept keys too.
 */
export function planDiscoveredCounts(
  isCounted: IsCounted, facts: DiscoveredFacts,
): Plan | Infeasible {
  const { cohort, dimension, keys: { groupsMax, prefilter, top } } = facts;
  const showing = showingOf(facts, ({ rho, delta }) => groupHistogramEvent({
    name: 'keys', cohort: wholeArm.name, groupsMax, prefilter, rho, delta,
  }));
  if ('kind' in showing) return showing;
  const { event, shownFrom } = showing;
  const { sigma } = event;
  return makePlan({
    arms: [wholeArm],
    events: [event],
    guarantee: {
      theorem: 'noisy counts of discovered groups above a threshold; '
        + 'proof in src/privacy/mechanisms/group-histogram',
      assumptions: [showing.assumption],
      corruptionMax,
    },
    outputShape: [top],
    findsKeys: true,
    reach: ofCounts,
    noise: new Array<number>(top).fill(sigma),
    facts: {
      errorsAreIn: 'shares of the cohort, over the counts that are shown',
      ...showing.facts,
      noiseInContributors: sigma,
    },
    expectedError: errorUpTo(
      corruptionMax,
      { sampling: 0, noise: (sigma * Math.sqrt(top)) / cohort },
      (share) => Math.sqrt(2 * groupsMax) * share,
    ),
    summary: () => placesSummary(dimension, isCounted),
    release: async (summaries, mechanisms, _, keys, known) => {
      assert(keys !== undefined, 'a release of discovered groups gets the groups');
      return mechanisms.groupHistogram(event.name, countsByPlace(summaries), keys, known)
        .map((kept) => shown(shownOf(kept, top), shownFrom, sigma));
    },
  });
}

/** Post-processing of what the histogram kept, which comes with the largest count first. */
function shown(kept: readonly KeptKey[], shownFrom: number, sigma: number): Outcome {
  if (kept.length === 0) return nothingShown(shownFrom);
  const estimate = kept.map(({ noisyCount }) => noisyCount);
  return {
    kind: 'value',
    estimate,
    shape: [kept.length],
    groups: kept.map(({ key }) => key),
    uncertainty: {
      kind: 'gaussian', standardDeviation: new Array<number>(kept.length).fill(sigma),
    },
    interval95: intervalAbout(estimate, () => deviations95 * sigma),
  };
}
