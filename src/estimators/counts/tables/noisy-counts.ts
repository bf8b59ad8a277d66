import type { Plan, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo, makePlan } from '../../contract/planning.js';
import { countNoise, type CountNoiseOptions } from './count-noise.js';
import { countsOf, countsSummary, wholeCohort, type BinOf } from './counts.js';

/** Past it the answer says more about the hostile than about the honest. */
export const corruptionMax = 0.5;

/** A release that is a list of counts with noise. */
export interface NoisyCountsOptions extends Omit<CountNoiseOptions, 'target'> {
  /** Bins from 0 to counts - 1. */
  readonly binOf: BinOf;
  readonly theorem: string;
  /** First of the plan's facts. */
  readonly facts: Plan['facts'];
  /** Euclidean error of all counts that one hostile contributor makes. */
  readonly bias: number;
  /** Of the counts, row-major. Default: one axis. */
  readonly shape?: readonly number[];
}

/**
 * The plan of a list of counts, which is published with the noise of `countNoise`: its claim and
 * cost. Nothing is divided by, compared with or refused because of who came. A count of zero is an
 * answer like any other. A noisy count may be below zero: cutting it there would make sums over
 * epochs too large.
 */
export function planNoisyCounts(options: NoisyCountsOptions, study: StudyFacts): Plan {
  const { counts, binOf, theorem, bias, shape = [counts] } = options;
  const { cohort, dimension, target } = study;
  const noise = countNoise({ ...options, target });
  const { event, standardDeviation, uncertainty } = noise;
  return makePlan({
    cohorts: [wholeCohort],
    events: [event],
    guarantee: { theorem, assumptions: [], corruptionMax },
    outputShape: shape,
    noise: noise.stated,
    facts: {
      ...options.facts,
      noiseInContributors: standardDeviation,
      cohortForNoiseOfOnePercent: Math.ceil(100 * standardDeviation),
    },
    expectedError: errorUpTo(
      corruptionMax,
      { sampling: 0, noise: (standardDeviation * Math.sqrt(counts)) / cohort },
      (share) => bias * share,
    ),
    summary: () => countsSummary(dimension, counts, binOf),
    release: async (summaries, mechanisms) =>
      noise.draw(mechanisms, countsOf(summaries)).map((noisy) => {
        const estimate = Array.from(noisy);
        const interval95 = noise.interval95(estimate);
        return { kind: 'value', estimate, shape, uncertainty, interval95 };
      }),
  });
}
