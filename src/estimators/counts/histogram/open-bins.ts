import type { Outcome } from '../../../base/outcome.js';
import { deviations95, normalUpperQuantile } from '../../../numerics/normal.js';
import { gaussianHistogramEvent } from '../../../privacy/accounting/calibration.js';
import { keepingCount } from '../../../privacy/mechanisms/bounds.js';
import type { KeptBin } from '../../../privacy/mechanisms/contract.js';
import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import { intervalAbout } from '../../contract/outcomes.js';
import { errorUpTo, infeasible, makePlan, withoutDelta } from '../../contract/planning.js';
import { openCountsOf, openCountsSummary, wholeArm, type BinOf } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';

/** A histogram of bins without bounds. */
export interface OpenBinsOptions {
  readonly column: number;
  readonly width: number;
  /** Rows of the answer. */
  readonly top: number;
}

/** A bin that holds the whole cohort is planned to be shown this often. */
const shownWanted = 0.99;

/**
 * A histogram over the bins [b width, (b + 1) width) for all whole numbers b: the fullest bins,
 * with their counts. Beyond 2^53 widths from 0, where doubles do not hold all b, a bin is that of
 * the nearest b: as wide as the distance between doubles there.
 *
 * Claim. Neighbours: one row replaced by any other row, or by nothing, or added. Cost: (rho,
 * delta), delta-approximate zCDP.
 * Why: the bins are fixed by the public width and a row is in at most one of them. So this is
 * mechanisms/histogram, claim (b), with one coordinate: only occupied bins get noise, and a bin is
 * shown when it is above a threshold that a count of 1 passes with probability at most delta.
 * Everything after is a function of the bins that were shown.
 *
 * The answer has a public shape, [top, 2]: lower edge and noisy count per row, largest count first.
 * Bins beyond `top` are dropped. Rows for which there is no bin are 0, 0. A bin that is shown has a
 * count above the threshold, hence above 1, so a count of 0 always means "no further bin". When
 * nobody came, all rows are 0, 0.
 *
 * Counts near the threshold are too large on average, because those whose noise is negative are not
 * shown. Bins below the threshold are missing from the answer. Use public bins where there is a
 * public range.
 */
export function planOpenBins(options: OpenBinsOptions, facts: StudyFacts): Plan | Infeasible {
  const { target, cohort, dimension } = facts;
  const refusal = withoutDelta(target, 'showing only occupied bins', 'give edges');
  if (refusal !== null) return refusal;
  const event = gaussianHistogramEvent({
    name: 'bins', cohort: wholeArm.name, coordinates: 1, rho: target.rho, delta: target.delta,
  });
  const shownFrom = keepingCount(event);
  const cohortNeeded = Math.ceil(shownFrom + event.sigma * normalUpperQuantile(1 - shownWanted));
  if (cohort < cohortNeeded) {
    return infeasible(
      `a bin is shown from ${Math.ceil(shownFrom)} contributors on, so that ${cohort} in one bin `
      + 'may not show',
      `a cohort of ${cohortNeeded}, a larger epsilon, or edges for public bins, which have no `
      + 'threshold',
      cohortNeeded,
    );
  }
  const { top } = options;
  return makePlan({
    arms: [wholeArm],
    events: [event],
    guarantee: {
      theorem: 'Karwa and Vadhan (2018), stable histogram with Gaussian noise; '
        + 'proof in src/privacy/mechanisms/histogram and src/estimators/counts/histogram/open-bins',
      assumptions: [
        `for accuracy: the ${top} fullest bins hold well over ${Math.ceil(shownFrom)} contributors `
        + 'each',
      ],
      corruptionMax,
    },
    outputShape: [top, 2],
    noise: Array.from({ length: 2 * top }, (_, i) => (i % 2 === 0 ? 0 : event.sigma)),
    facts: {
      errorsAreIn: 'shares of the cohort, over the counts that are shown',
      binsShownAtMost: top,
      binsShownFromCount: shownFrom,
      noiseInContributors: event.sigma,
    },
    expectedError: errorUpTo(
      corruptionMax,
      { sampling: 0, noise: (event.sigma * Math.sqrt(top)) / cohort },
      (share) => Math.SQRT2 * share,
    ),
    summary: () => openCountsSummary(dimension, binAt(options)),
    release: async (summaries, mechanisms) => mechanisms
      .histogram(event.name, openCountsOf(summaries).map((counts) => [counts]))
      .map(([kept = []]) => shown(kept, options, event.sigma)),
  });
}

function binAt({ column, width }: OpenBinsOptions): BinOf {
  return (row) => {
    const bin = Math.floor(row[column]! / width) + 0;
    return Number.isFinite(bin) ? bin : null;
  };
}

/** Post-processing of what the histogram kept, which comes with the largest count first. */
function shown(kept: readonly KeptBin[], { width, top }: OpenBinsOptions, sigma: number): Outcome {
  const rows = kept.slice(0, top).map(({ bin, noisyCount }) => [bin * width, noisyCount]);
  const estimate = Array.from({ length: top }, (_, i) => rows[i] ?? [0, 0]).flat();
  // Edges are exact, and so is "no further bin".
  const isCount = (i: number): boolean => i % 2 === 1 && i < 2 * rows.length;
  const standardDeviation = estimate.map((_, i) => (isCount(i) ? sigma : 0));
  return {
    kind: 'value',
    estimate,
    shape: [top, 2],
    uncertainty: { kind: 'gaussian', standardDeviation },
    interval95: intervalAbout(estimate, (i) => deviations95 * standardDeviation[i]!),
  };
}
