import { assert } from '../../../base/assert.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95, normalUpperQuantile } from '../../../numerics/normal.js';
import { keyHistogramEvent } from '../../../privacy/accounting/calibration.js';
import { keyKeepingCount } from '../../../privacy/mechanisms/bounds.js';
import type { KeptKey } from '../../../privacy/mechanisms/contract.js';
import type { Infeasible, Plan } from '../../contract/estimator.js';
import { intervalAbout } from '../../contract/outcomes.js';
import { errorUpTo, infeasible, makePlan, withoutDelta } from '../../contract/planning.js';
import { wholeCohort } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { hostilePerForgedKey } from './forged.js';
import { countsByPlace, placesSummary, type DiscoveredFacts, type IsCounted } from './places.js';

/** A key that the whole cohort has is planned to be shown this often. */
const shownWanted = 0.99;

/**
 * How many contributors have which key, for keys that nobody listed: the keys with the largest
 * noisy counts, at most `top` of them.
 *
 * Claim. Neighbours: one contributor's rows, of at most K keys, replaced by any such rows or by
 * none, or added. Cost: (rho, delta), delta-approximate zCDP.
 * Why: a contributor has one row for each of its keys, and a row adds 0 or 1 to the count of its
 * key (places). So it adds 1 to at most K counts, which is what mechanisms/key-histogram asks for.
 * Everything after is a function of the keys that were kept: the first `top` of them are shown.
 *
 * A count near the threshold is too large on average, because a key whose noise is negative is not
 * shown. Keys below the threshold are missing. When no key is shown, the release is refused; that
 * follows from the kept keys too.
 */
export function planDiscoveredCounts(
  isCounted: IsCounted, facts: DiscoveredFacts,
): Plan | Infeasible {
  const { target, cohort, dimension, keys: { keysMax, prefilter, top } } = facts;
  const what = 'showing discovered keys';
  if (target.isPure === true) {
    return infeasible(
      `${what} needs a delta, and the budget asks for pure epsilon`,
      'list the keys in by, or take a budget with a delta',
    );
  }
  const refusal = withoutDelta(target, what, 'list the keys in by');
  if (refusal !== null) return refusal;
  const event = keyHistogramEvent({
    name: 'keys', cohort: wholeCohort.name, keysMax, prefilter, rho: target.rho,
    delta: target.delta,
  });
  const { sigma } = event;
  const shownFrom = keyKeepingCount(event);
  const cohortNeeded = Math.ceil(shownFrom + sigma * normalUpperQuantile(1 - shownWanted));
  if (cohort < cohortNeeded) {
    return infeasible(
      `a key is shown from ${Math.ceil(shownFrom)} contributors on, so that one that all `
      + `${cohort} have may not show`,
      `a cohort of ${cohortNeeded}, a larger epsilon, a smaller keysMax, or a list of keys, which `
      + 'has no threshold',
      cohortNeeded,
    );
  }
  return makePlan({
    cohorts: [wholeCohort],
    events: [event],
    guarantee: {
      theorem: 'noisy counts of discovered keys above a threshold; '
        + 'proof in src/privacy/mechanisms/key-histogram',
      assumptions: [
        `for accuracy: the keys that matter have well over ${Math.ceil(shownFrom)} contributors `
        + 'each',
      ],
      corruptionMax,
    },
    outputShape: [top],
    findsKeys: true,
    noise: new Array<number>(top).fill(sigma),
    facts: {
      errorsAreIn: 'shares of the cohort, over the counts that are shown',
      keysMax,
      keysShownAtMost: top,
      keysShownFromCount: shownFrom,
      noiseInContributors: sigma,
      hostileContributorsPerForgedKey: hostilePerForgedKey(event),
    },
    expectedError: errorUpTo(
      corruptionMax,
      { sampling: 0, noise: (sigma * Math.sqrt(top)) / cohort },
      (share) => Math.sqrt(2 * keysMax) * share,
    ),
    summary: () => placesSummary(dimension, isCounted),
    release: async (summaries, mechanisms, _, keys) => {
      assert(keys !== undefined, 'a release of discovered keys gets the keys');
      return mechanisms.keyHistogram(event.name, countsByPlace(summaries), keys)
        .map((kept) => shown(kept.slice(0, top), shownFrom, sigma));
    },
  });
}

/** Post-processing of what the histogram kept, which comes with the largest count first. */
function shown(kept: readonly KeptKey[], shownFrom: number, sigma: number): Outcome {
  if (kept.length === 0) {
    return {
      kind: 'refused',
      reason: 'participation-below-plan',
      text: `no key is shown: half of all keys with ${Math.ceil(shownFrom)} contributors would be. `
        + 'Wait longer, or give the question a larger share or a smaller keysMax',
    };
  }
  const estimate = kept.map(({ noisyCount }) => noisyCount);
  return {
    kind: 'value',
    estimate,
    shape: [kept.length],
    keys: kept.map(({ key }) => key),
    uncertainty: {
      kind: 'gaussian', standardDeviation: new Array<number>(kept.length).fill(sigma),
    },
    interval95: intervalAbout(estimate, () => deviations95 * sigma),
  };
}
