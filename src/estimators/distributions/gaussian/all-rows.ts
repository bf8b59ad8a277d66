import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { Infeasible, ParameterValues, Plan, StudyFacts } from '../../contract/estimator.js';
import { finiteValue } from '../../contract/outcomes.js';
import { errorUpTo } from '../../contract/planning.js';
import { centredDesign, type CentredDesign } from '../../covariance/covariance/centred-design.js';
import {
  entryOfOneValue, outcomeOfMoments, privateMomentsOfAll, withFindings, type MomentsOfAll,
} from '../../covariance/covariance/centred-release.js';
import { assumedCondition, conditionOf } from '../../covariance/covariance/variance-bounds.js';
import { congruence, multipleOfUnit } from '../../covariance/moments/matrices.js';
import type { Draws } from '../../pooled/centre.js';
import {
  planPooled, pooledDesign, type CentredPool, type DesignRequest, type PooledDesign, type TooFew,
} from '../../pooled/estimator.js';
import { distanceOf, type Distance } from './distance.js';
import { partsOf } from './outcome.js';
import type { GaussianChoice } from './parameters.js';

/**
 * A normal distribution from every row: the moments of covariance/centred with a larger part of rho
 * for the last sum of the rows, which is the mean. A sum of third moments tells whether the rows
 * are skewed.
 *
 * Claim. (rho, delta), delta-approximate zCDP; delta is for the spread and the centre alone.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the covariance from every row (`designCentred`), and of the third moments.
 * Why. Nothing but the parts of rho differs from the covariance, and its claim holds for all of
 * them. Third moments are a sum of vectors no longer than R, so they cost what `sumEvent` says.
 * They are drawn after the map, of which a row's image is a function. The mean is made of the
 * released sum, and so are findings and intervals.
 *
 * Not robust. Hostile rows move mean and covariance as they do in `covariance`.
 */
export function planAllRows(
  values: ParameterValues, facts: StudyFacts, choice: GaussianChoice,
): Plan | Infeasible {
  return planPooled({ design: (request) => designFor(request, choice) }, values, facts);
}

function designFor(
  { facts, values }: DesignRequest, choice: GaussianChoice,
): PooledDesign | TooFew {
  const condition = conditionOf(values);
  const design = centredDesign({ facts, condition, answersMean: true });
  const distance = design === null ? null : distanceFor(design);
  if (design === null || distance === null || distance.total > choice.accuracy) {
    return {
      kind: 'too-few',
      hidden: `the normal distribution to within ${choice.accuracy} in total variation`,
      others: 'closer bounds variance-low and variance-high, fewer columns, a larger accuracy or a '
        + 'larger epsilon',
    };
  }
  const { dimension } = facts;
  return pooledDesign(design, {
    answersOneValue: true,
    plan: {
      guarantee: {
        theorem: 'noisy moments of all rows after a private map; proofs in '
          + 'src/estimators/covariance/covariance and src/estimators/covariance/moments',
        assumptions: [
          'for accuracy: rows are Gaussian, and nobody sends false ones; mean and covariance alone '
          + 'need no Gaussian rows',
          assumedCondition(condition),
        ],
        corruptionMax: 0,
      },
      outputShape: [dimension + dimension ** 2],
      parts: partsOf(dimension),
      facts: {
        errorsAreIn: 'total variation distance between the normal distribution answered and the '
          + 'true one, at most',
        local: 'empirical',
        arms: 'one',
        madeFrom: 'all rows',
        rounds: design.rounds.length,
        rowsNeeded: design.rowsNeeded,
        covarianceErrorExpected: Math.hypot(design.sampling, design.noise),
        meanErrorExpectedInDeviations: Math.hypot(...Object.values(meanErrorOf(design))),
        clipRadiusAfterTheMap: design.ball.radius,
      },
      expectedError: (share) => ({ ...distance, ...errorUpTo(0, distance)(share) }),
    },
    release: (draws, centred) => releaseAllRows(design, draws, centred),
  });
}

function meanErrorOf({ facts: { dimension, cohort }, final }: CentredDesign) {
  return {
    sampling: Math.sqrt(dimension / cohort),
    noise: (final.sum.sigma * Math.sqrt(dimension)) / cohort,
  };
}

function distanceFor(design: CentredDesign): Distance {
  const { sampling, noise } = design;
  return distanceOf({ ...meanErrorOf(design), bias: 0 }, { sampling, noise, bias: 0 });
}

async function releaseAllRows(
  design: CentredDesign, draws: Draws, centred: CentredPool,
): Promise<Released<Outcome>> {
  const found = await privateMomentsOfAll(design, draws, centred);
  return found.map((answer) => {
    if (answer.kind === 'refused') return answer;
    const outcome = outcomeOf(design, answer);
    return outcome.kind === 'refused' ? outcome : withFindings(outcome, answer, (place) =>
      (place < answer.oneValue.length ? answer.oneValue[place]?.value ?? null
        : entryOfOneValue(answer, place - answer.oneValue.length)));
  });
}

/** Mean and covariance with intervals, in data units. Made of released numbers only. */
function outcomeOf(design: CentredDesign, answer: MomentsOfAll): Outcome {
  const covariance = outcomeOfMoments(design, answer);
  if (covariance.kind !== 'value') return covariance;
  const { facts: { dimension }, final } = design;
  const { inverse, mean, centre, present, tails } = answer;
  const spread = congruence(inverse, multipleOfUnit(dimension, 1), dimension);
  const at = (i: number, j = i): number => i * dimension + j;
  const means = Array.from(centre, (entry, i) =>
    mean.reduce((sum, own, k) => sum + inverse[at(i, k)]! * own, entry));
  const half = means.map((_, i) => halfWidthOfMean(
    { variance: covariance.estimate[at(i)]!, spread: spread[at(i)]! },
    { noise: final.sum.sigma / present, present, tails },
  ));
  const deviation = [
    ...means.map((_, i) => (final.sum.sigma / present) * Math.sqrt(spread[at(i)]!)),
    ...Array.from(spread, (entry, place) => {
      const product = spread[at(Math.floor(place / dimension))]! * spread[at(place % dimension)]!;
      return (final.products.sigma / present) * Math.sqrt((product + entry ** 2) / 2);
    }),
  ];
  const { low, high } = covariance.interval95!;
  const estimate = [...means, ...covariance.estimate];
  return finiteValue({
    estimate, shape: [estimate.length], parts: partsOf(dimension),
    uncertainty: { kind: 'gaussian', standardDeviation: deviation },
    interval95: {
      low: [...means.map((entry, i) => entry - half[i]!), ...low],
      high: [...means.map((entry, i) => entry + half[i]!), ...high],
    },
  }, 'mean or covariance is');
}

/**
 * Half of the 95 % interval of one column's mean: noise, sampling of rows whose variance may be
 * larger by what was clipped off, and what the clipping may have moved.
 * @param entry - the variance, and the squared length of the column's row of the map back.
 */
function halfWidthOfMean(
  entry: { readonly variance: number; readonly spread: number },
  { noise, present, tails: { moved, lost, widen } }: Pick<MomentsOfAll, 'present' | 'tails'>
  & { readonly noise: number },
): number {
  const variance = entry.variance + (lost / widen ** 2) * entry.spread;
  return deviations95 * Math.sqrt(noise ** 2 * entry.spread + variance / present)
    + (moved / widen) * Math.sqrt(entry.spread);
}
