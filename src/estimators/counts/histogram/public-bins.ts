import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { Plan, StudyFacts } from '../../contract/estimator.js';
import { errorOf } from '../tables/common.js';
import { countInterval, countNoise } from '../tables/count-noise.js';
import { countsOf, countsSummary, wholeCohort, type BinOf } from '../tables/counts.js';
import { neighbours } from '../../contract/planning.js';

/** What a histogram of public bins asks. */
export interface PublicBinsAsked {
  readonly column: number;
  /** Ascending, at least one. */
  readonly edges: readonly number[];
}

/** Past it the answer says more about the hostile than about the honest. */
const corruptionMax = 0.5;

/**
 * A histogram over public bins: (-inf, e1), [e1, e2), ..., [ek, inf).
 *
 * Claim: rho zCDP, no delta, for one row replaced by any other row, or by nothing, or added; or pure epsilon, where the
 * budget asks for it.
 * Why: the bins are fixed before any data and every row is in exactly one. A row that moves takes 1 from one count and
 * adds 1 to another: L2 distance sqrt 2 and L1 distance 2, whatever the number of bins. A row that goes or comes changes one count by 1.
 * Counts are whole numbers, hence on the event's grid, and are released once as a vector by the discrete Gaussian, or
 * Laplace, of that sensitivity (Math.SQRT2 is the double above sqrt 2). Empty bins get noise like all others: nothing tells them.
 * As for `count`, nothing is refused and no count is cut at zero.
 */
export function planPublicBins({ column, edges }: PublicBinsAsked, facts: StudyFacts): Plan {
  const bins = edges.length + 1;
  const { target, cohort, dimension } = facts;
  const noise = countNoise({ name: 'bins', counts: bins, l1: 2, l2: Math.SQRT2, target });
  const { event, deviation } = noise;
  const noiseShare = (deviation * Math.sqrt(bins)) / cohort;
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [wholeCohort],
    cost: costOfEvents([event], { disjoint: [] }),
    events: [event],
    guarantee: {
      neighbours,
      theorem: 'a vector of counts of L2 sensitivity sqrt 2, L1 sensitivity 2, with discrete noise; '
        + 'proof in src/estimators/counts/histogram/public-bins',
      assumptions: [],
      corruptionMax,
    },
    outputShape: [bins],
    noise: noise.stated,
    facts: {
      errorsAreIn: 'shares of the cohort, over all bins',
      bins,
      noiseInContributors: deviation,
      cohortForNoiseOfOnePercent: Math.ceil(100 * deviation),
    },
    // A hostile contributor leaves one bin for another: over all bins, sqrt 2 of its share.
    expectedError: (corruption) =>
      errorOf({ sampling: 0, noise: noiseShare, bias: Math.SQRT2 * corruption }, corruption, corruptionMax),
    summary: () => countsSummary(dimension, bins, binBetween(column, edges)),
    release: async (summaries, mechanisms) => noise.draw(mechanisms, countsOf(summaries)).map((noisy) => {
      const estimate = Array.from(noisy);
      return {
        kind: 'value',
        estimate,
        shape: [bins],
        uncertainty: noise.uncertainty,
        interval95: countInterval(estimate, noise),
      };
    }),
  });
}

/** The number of edges at or below the value, by bisection. */
function binBetween(column: number, edges: readonly number[]): BinOf {
  return (row) => {
    const value = row[column]!;
    let low = 0;
    let high = edges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (edges[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
