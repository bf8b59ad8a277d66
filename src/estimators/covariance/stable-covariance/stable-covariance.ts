import { describeCovariance } from '../../contract/describe.js';
import type { Estimator } from '../../contract/estimator.js';
import { kmv22 } from '../../contract/papers.js';
import { tooManyColumns } from '../../contract/planning.js';
import { corruptionParameter, numberOf } from '../../contract/values.js';
import {
  definePooledEstimator, pooledDesign, type DesignRequest, type PooledDesign, type TooFew,
} from '../../pooled/estimator.js';
import { assumptions } from '../../pooled/plan.js';
import { mapHidden } from '../moments/mapped-rows.js';
import { covarianceOutput, errorsOfCovariance } from '../moments/outcomes.js';
import { conditionParameter } from '../moments/parameters.js';
import { covarianceDesign, covarianceErrorOf, reach } from './design.js';
import { releaseCovariance } from './release.js';

/**
 * A private covariance that a share of hostile rows cannot move far. Rows are put in spreads about
 * a private centre and mapped so that all directions vary alike, hostile rows included. A direction
 * in which a few rows stand far out then has large fourth moments. These are released, their
 * locally largest axes found, and along each axis a noisy histogram tells which rows no normal
 * shape explains. Those rows are removed, the covariance of the rest is released, and it is
 * corrected for the normal rows that were removed.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the map, of the fourth moments, the histograms
 * and the last moments (`design` has their sensitivities), composed adaptively.
 * Why. Whether a row is left at any time, and what it is mapped to, is a function of this row and
 * of released numbers alone: centre, spread, map, axes and thresholds. Two neighbouring sets see
 * the same released numbers when their releases are compared, so they differ at any time in the one
 * row at most.
 * Assumption. There are at most 16 columns, and honest rows have tails like those of a normal
 * distribution: heavier tails are removed as hostile ones are. Rows that lie more than 5 spreads
 * off in some column are left out. Where more rows are gone than the corruption explains, the
 * release refuses (removal). Where some are, a finding says so and the intervals are open, since
 * these may be honest rows with heavier tails. Accuracy is relative to the variance in every
 * direction, as that of `covariance`.
 * Source. The task is that of P. Kothari, P. Manurangsi, A. Velingker, Private robust estimation by
 * stabilizing convex relaxations (2022), Algorithm 5.4; the means are this project's own. Weights
 * that make fourth moments small, as the source has it, would not do: rows at three standard
 * deviations look like a slightly larger legitimate fourth moment, and a bound that honest rows
 * keep lets a twentieth of them widen a direction by .44. A histogram along the direction separates
 * them at once; the fourth moments need only say where.
 */
export const stableCovariance: Estimator = definePooledEstimator({
  name: 'stable-covariance',
  title: 'Private robust covariance by axes of large fourth moments',
  citations: [kmv22('the task of its section 5')],
  parameters: [
    corruptionParameter(
      0.1,
      'fraction of false rows that the error is promised for; what is removed does not depend '
      + 'on it',
    ),
    conditionParameter,
    {
      name: 'axes', type: 'integer', default: 10, minimum: 1, maximum: 64,
      description: 'number of axes of large fourth moments along which a histogram is taken',
    },
  ],
  maturity: 'recommended',
  describe: describeCovariance,
  assumption: 'There are at most 16 columns, and honest rows have tails like those of a normal '
    + 'distribution.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, rho split between the centre, the map, fourth moments, '
    + 'histograms along axes and second moments.',
}, {
  // Fourth moments of more columns have too many entries for their noise.
  refuse: (_, { dimension }) => tooManyColumns(
    dimension, 16, `the fourth moments of ${dimension} columns drown in noise`,
    '; covariance takes more, without resisting hostile rows',
  ),
  design: designFor,
});

function designFor({ values, facts }: DesignRequest): PooledDesign | TooFew {
  const [corruption, condition] = [numberOf(values, 'corruption'), numberOf(values, 'condition')];
  const design = covarianceDesign({ facts, corruption, condition, axes: numberOf(values, 'axes') });
  if (design === null || facts.cohort < design.centre.cohortNeeded) return mapHidden;
  return pooledDesign(design, {
    plan: {
      guarantee: {
        theorem: 'none for accuracy, only measurements: what hostile rows can do is estimated. '
          + 'Privacy has proofs in src/estimators/covariance/stable-covariance',
        assumptions: [
          'for accuracy: honest rows are about normal, and vary at most '
          + `${condition} times more in one direction than in another, in spreads`,
          assumptions.corruption,
        ],
        corruptionMax: corruption,
      },
      ...covarianceOutput(facts.dimension),
      facts: {
        errorsAreIn: errorsOfCovariance,
        rounds: design.preconditioner.rounds,
        axes: design.histograms.length,
        rowsAreLeftOutBeyondSpreads: reach,
        clipRadiusAfterTheMap: design.ball.radius,
        rowsCountedAtMost: design.rowsMax,
      },
      expectedError: covarianceErrorOf(design, corruption),
    },
    release: (draws, centred) => releaseCovariance({ design, ...draws }, centred),
  });
}
