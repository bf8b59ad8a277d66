import { factorStep } from '../../../base/root-factor.js';
import { gaussianEvent } from '../../../privacy/accounting/calibration.js';
import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo, infeasible, makePlan } from '../../contract/planning.js';
import { countsOf, countsSummary, wholeArm } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { binBetween } from '../histogram/public-bins.js';
import {
  factored, outsideDeviation, rootFactor, runningDeviations, runningSums,
} from './factor.js';
import {
  answerOf, bandFactor, partsOf, type DistributionOptions, type Reading,
} from './reading.js';

/** A band wider than this share of the cohort makes a plan infeasible. */
const bandMaximum = 0.25;

/**
 * The running counts of contributors over public cells, by the square root of the matrix of running
 * sums.
 *
 * Claim. Neighbours: one row replaced by any other row, or by nothing, or added. Cost: rho zCDP, no
 * delta, for all data.
 * Why: x counts the rows in each cell; the cells are public and a row is in exactly one. C x is a
 * whole multiple of 2^-20, so it is on the event's grid, and moves by at most the charged
 * sensitivity (factor). It passes once through the discrete Gaussian. Running sums, quantiles and
 * intervals are functions of the result.
 *
 * A release is refused only where the noisy number of all contributors is too small (reading).
 */
export function planDistribution(
  options: DistributionOptions, facts: StudyFacts,
): Plan | Infeasible {
  const { column, edges, probabilities } = options;
  const { cohort, dimension, target } = facts;
  if (target.isPure === true) {
    return infeasible(
      'its noise is Gaussian, and the budget asks for pure epsilon',
      'ask quantile or histogram with edges, or for (epsilon, delta) with delta > 0',
    );
  }
  const cells = edges.length + 1;
  const factor = rootFactor(cells);
  const event = gaussianEvent({
    name: 'cells', cohort: wholeArm.name, dimension: cells, sensitivity: factor.sensitivity,
    rho: target.rho, grid: factorStep,
  });
  const { below, above } = runningDeviations(factor);
  const scaled = (deviation: number): number => deviation * event.sigma;
  const reading: Reading = {
    column, edges, probabilities, cohort,
    below: below.map(scaled), above: above.map(scaled), outside: scaled(outsideDeviation(factor)),
  };
  const band = bandFactor(cells) * reading.below.at(-1)!;
  const cohortNeeded = Math.ceil(band / bandMaximum);
  if (cohort < cohortNeeded) {
    return infeasible(
      `the counts may be off by ${Math.ceil(band)} contributors, more than a quarter of the `
      + `${cohort} planned for`,
      `a cohort of ${cohortNeeded}, fewer cells, or a larger epsilon`,
      cohortNeeded,
    );
  }
  const typical = Math.hypot(...reading.below) / Math.sqrt(cells);
  return makePlan({
    arms: [wholeArm],
    events: [event],
    guarantee: {
      theorem: 'the square-root factorisation of running counts with discrete Gaussian noise; '
        + 'proof in src/estimators/counts/distribution/factor and plan',
      assumptions: ['for quantiles: values within a cell are spread evenly over it'],
      corruptionMax,
    },
    outputShape: [probabilities.length + cells],
    parts: partsOf(probabilities.length, cells),
    facts: {
      errorsAreIn: 'shares of the cohort, at a typical edge',
      cells: edges.length - 1,
      noiseInContributors: reading.below.at(-1)!,
      bandInContributors: band,
    },
    expectedError: errorUpTo(
      corruptionMax, { sampling: 0, noise: typical / cohort }, (share) => share,
    ),
    summary: () => countsSummary(dimension, cells, binBetween(column, edges)),
    release: async (summaries, mechanisms) => mechanisms
      .gaussian(event.name, countsOf(summaries).map((counts) => factored(factor, counts)))
      .map((noisy) => answerOf(reading, runningSums(factor, noisy), facts)),
  });
}
