import type { Plan, StudyFacts } from '../../contract/estimator.js';
import { makePlan } from '../../contract/planning.js';
import { wholeCohort } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { wholeSumsOf, wholeSumsSummary, type AddWhole } from '../tables/whole-sums.js';
import { isClipped, stepsOf, type Bounds } from './bounds.js';
import { clippedShare, errorOfTotals, releaseTotals, totalsNoise } from './totals.js';

/**
 * Totals of values that are clipped to public bounds, one pair for each column.
 *
 * Claim. Neighbours: one row replaced by any other row, or by nothing, or added. Cost: rho zCDP, no
 * delta; or pure epsilon, where the budget asks for it.
 * Why: a row adds a whole number of steps to each total, and whole numbers add up exactly
 * (whole-sums). What two rows add, or a row and nothing, is at most 2^20 steps apart in each column
 * (bounds). That is 1 unit, so d totals are L2 sqrt(d) and L1 d apart, on the grid of 2^-20. The
 * numbers of clipped values are d counts to which a row adds 0 or 1 each: the same distances. Both
 * are drawn once, by the discrete Gaussian or Laplace, and their costs add up: 95 % and 5 %. Units
 * are public, and the rest is post-processing.
 */
export function planGivenBounds(bounds: readonly Bounds[], facts: StudyFacts): Plan {
  const { dimension, target } = facts;
  const noise = totalsNoise(dimension, target, 1 - clippedShare);
  const units = bounds.map(({ unit }) => unit);
  return makePlan({
    cohorts: [wholeCohort],
    events: [noise.totals.event, noise.clipped.event],
    guarantee: {
      theorem: 'a sum of bounded whole numbers with discrete noise; '
        + 'proof in src/estimators/counts/sum/given-bounds',
      assumptions: ['for the total of unclipped values: all values are within the bounds'],
      corruptionMax,
    },
    outputShape: [dimension],
    noise: noise.totals.stated.map((sigma, j) => sigma * units[j]!),
    facts: {
      errorsAreIn: 'shares of the total of a cohort in which everybody is at the bound',
      noiseInBounds: noise.totals.standardDeviation,
      clippedReportedFrom: noise.reportedFrom,
    },
    expectedError: errorOfTotals(noise, facts),
    summary: () => wholeSumsSummary(dimension, 2 * dimension, adder(bounds)),
    release: async (summaries, mechanisms) => releaseTotals(
      noise,
      units,
      wholeSumsOf(summaries).map((all) => ({
        sums: all.subarray(0, dimension), clipped: all.subarray(dimension),
      })),
      mechanisms,
      facts,
    ),
  });
}

/** Totals in front, then how many values were clipped. */
function adder(bounds: readonly Bounds[]): AddWhole {
  return (row, sums) => bounds.forEach((own, j) => {
    sums[j]! += stepsOf(row[j]!, own);
    if (isClipped(row[j]!, own)) sums[bounds.length + j]! += 1;
  });
}
