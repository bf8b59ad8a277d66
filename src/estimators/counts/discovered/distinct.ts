import { assert } from '../../../base/assert.js';
import type { PlaceCounts, Plan } from '../../contract/estimator.js';
import { errorUpTo, makePlan } from '../../contract/planning.js';
import { countNoise } from '../tables/count-noise.js';
import { wholeArm } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { countsByPlace, placesSummary, type DiscoveredFacts, type IsCounted } from './places.js';

/**
 * How many distinct keys have at least t contributors, where t is the prefilter. The keys are not
 * shown.
 *
 * Claim. Neighbours: one contributor's rows, of at most K keys, replaced by any such rows or by
 * none, or added. The number changes by at most K. So it costs rho zCDP with noise of deviation
 * K / sqrt(2 rho), or a pure epsilon with Laplace noise of scale K / epsilon.
 * Proof: the counts of two neighbours differ for keys that the contributor has on one side only. A
 * key that it has before only can fall below t, and there are at most K of these; so the number
 * falls by at most K. A key that it has after only can rise to t, and there are at most K of these;
 * so the number rises by at most K. The change is the difference of the two, so it is between -K
 * and K. K keys with t contributors that all go reach it.
 *
 * The number counts keys as they are after each contributor was held to K keys. L hostile
 * contributors add at most L K keys, and less with t above 1: a key then needs t of them.
 */
export function planDistinct(isCounted: IsCounted, facts: DiscoveredFacts): Plan {
  const { target, cohort, dimension, keys: { groupsMax, prefilter } } = facts;
  const noise = countNoise({ name: 'distinct', counts: 1, l1: groupsMax, l2: groupsMax, target });
  const { event, standardDeviation, uncertainty } = noise;
  return makePlan({
    arms: [wholeArm],
    events: [event],
    guarantee: {
      theorem: 'a count of sensitivity K with discrete noise; '
        + 'proof in src/estimators/counts/discovered/distinct',
      assumptions: [],
      corruptionMax,
    },
    outputShape: [1],
    // A contributor may have any number of keys that nobody else has.
    reach: [{ down: 0, up: Infinity }],
    noise: noise.stated,
    facts: { errorsAreIn: 'shares of the cohort', groupsMax, noiseInKeys: standardDeviation },
    expectedError: errorUpTo(
      corruptionMax,
      { sampling: 0, noise: standardDeviation / cohort },
      (share) => groupsMax * share,
    ),
    summary: () => placesSummary(dimension, isCounted),
    release: async (summaries, mechanisms) =>
      noise.draw(mechanisms, countsByPlace(summaries).map((counts) =>
        Float64Array.of(keysFrom(prefilter, counts)))).map((noisy) => {
        const estimate = Array.from(noisy);
        const interval95 = noise.interval95(estimate);
        return { kind: 'value', estimate, shape: [1], uncertainty, interval95 };
      }),
  });
}

function keysFrom(prefilter: number, counts: PlaceCounts): number {
  assert(prefilter >= 1, 'a group that is counted has a contributor');
  let number = 0;
  for (const count of counts) number += Number(count >= prefilter);
  return number;
}
