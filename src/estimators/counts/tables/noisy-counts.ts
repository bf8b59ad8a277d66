import { runningDeviation } from '../../../base/running-totals.js';
import { factorStep, runningLimits } from '../../../base/root-factor.js';
import { bandFor, runningFactor } from '../../../privacy/running/running-factor.js';
import type { Infeasible, Plan, Reach, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo, infeasible, makePlan } from '../../contract/planning.js';
import { countNoise, type CountNoise, type CountNoiseOptions } from './count-noise.js';
import { countsOf, countsSummary, wholeArm, type BinOf } from './counts.js';

/** Past this corruption, the answer says more about the hostile than about the honest. */
export const corruptionMax = 0.5;

/** One contributor more adds at most 1 to a count. */
export const ofCounts: readonly Reach[] = [{ down: 0, up: 1 }];

/** A release that is a list of counts with noise. */
export interface NoisyCountsOptions extends Omit<CountNoiseOptions, 'target'> {
  /** Bins from 0 to counts - 1. */
  readonly binOf: BinOf;
  readonly theorem: string;
  /** First of the plan's facts. */
  readonly facts: Plan['facts'];
  /** Euclidean error of all counts that one hostile contributor causes. */
  readonly bias: number;
  /** Shape of the counts, row-major. Default: one axis. */
  readonly shape?: readonly number[];
}

/**
 * The plan of a list of counts, which is published with the noise of `countNoise`: its claim and
 * cost. Nothing is divided by, compared with or refused because of who came. A count of zero is an
 * answer like any other. A noisy count may be below zero: cutting it there would make sums over
 * epochs too large.
 */
export function planNoisyCounts(options: NoisyCountsOptions, study: StudyFacts): Plan | Infeasible {
  if (study.running !== undefined) return planRunningCounts(options, study, study.running);
  return planOf(options, study, countNoise({ ...options, target: study.target }));
}

/**
 * Totals of counts over epochs. What noise is added to mixes the counts of the newest epochs; see
 * privacy/running/running-factor and running-inputs for the claim and the proof.
 *
 * Why the noise meets it: D, by which a contributor moves the counts of one epoch, is `l2`. The
 * event has the sensitivity |c| D, so it costs |c|^2 D^2 / (2 sigma^2), the charge of the claim for
 * each epoch. The rounding of |c| D is below the margin in `norm`. Counts are whole numbers and c
 * is whole in steps of 2^-20, so what is mixed is on the event's grid.
 */
function planRunningCounts(
  options: NoisyCountsOptions, study: StudyFacts, { separation }: { readonly separation: number },
): Plan | Infeasible {
  if (study.target.isPure === true) {
    return infeasible(
      'a running total has Gaussian noise, and the budget\'s rule is pure',
      'leave the rule of the budget out, or leave running out',
    );
  }
  const { counts, name } = options;
  if (counts * separation > runningLimits.kept) {
    return infeasible(
      `a running total keeps ${counts * separation} exact numbers, ${counts} for each of `
      + `${separation} epochs, and ${runningLimits.kept} are the most`,
      'use fewer groups or bins, or a smaller separation',
    );
  }
  const { norm } = runningFactor(bandFor(separation));
  const noise = countNoise({
    ...options, l2: norm * options.l2, grid: factorStep, target: study.target,
  });
  const plan = planOf(options, study, noise, runningDeviation(separation, separation));
  const sigma = noise.standardDeviation;
  const alone = countNoise({ ...options, target: study.target }).standardDeviation;
  return {
    ...plan,
    running: { separation, event: name, entries: counts, sigma },
    facts: {
      ...plan.facts,
      separation,
      ...Object.fromEntries([separation, 365].flatMap((epochs) => [
        [`noiseOfTotalOver${epochs}Epochs`, sigma * runningDeviation(separation, epochs)],
        [`noiseOfSeparateReleasesOver${epochs}Epochs`, alone * Math.sqrt(epochs)],
      ])),
    },
  };
}

/** @param spread - of the noise that the plan states, in deviations of `noise`. */
function planOf(
  options: NoisyCountsOptions, study: StudyFacts, noise: CountNoise, spread = 1,
): Plan {
  const { counts, binOf, theorem, bias, shape = [counts] } = options;
  const { cohort, dimension } = study;
  const { event, uncertainty } = noise;
  const standardDeviation = spread * noise.standardDeviation;
  return makePlan({
    arms: [wholeArm],
    events: [event],
    guarantee: { theorem, assumptions: [], corruptionMax },
    outputShape: shape,
    reach: ofCounts,
    noise: noise.stated.map((sigma) => spread * sigma),
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
