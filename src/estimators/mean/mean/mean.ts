import type { Outcome } from '../../../base/outcome.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import {
  clippedMeanEvents, privateClippedMean, type ClippedMeanEvents,
} from '../../../privacy/stages/clipped-mean.js';
import type { Estimator, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import {
  corruptionParameter, numberOf, optionalNumberOf, scaleParameter,
} from '../../contract/values.js';
import { centreStage } from '../../pooled/centre.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { answerOf } from '../../pooled/centred-mean.js';
import {
  definePooledEstimator, type DesignRequest, type PooledDesign,
} from '../../pooled/estimator.js';
import { honestErrorOfMean } from '../../pooled/expected-error.js';
import { centreShareParameter, radiusParameter, usualRadius } from '../../pooled/parameters.js';
import { rowsCohort } from '../../pooled/pool.js';
import { truncationBias } from '../heavy-tails/truncation.js';

/** Hostile share past which the centre itself may be theirs. */
const corruptionLimit = 0.3;
/** How far off a private centre is in each column, about, in scales. */
const centreOff = 0.1;

/**
 * The private mean that robust estimators are compared with: a private centre, rows clipped to a
 * ball about it, and the noisy sum over the noisy count.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator) and of the clipped mean
 * (privacy/stages/clipped-mean).
 * Why. The clipped mean is calibrated for every centre that the pipeline may find, so the two
 * compose.
 * Assumption. Nobody sends false rows. The mean is not robust: a share of the contributors that
 * all stand at the edge of the ball on one side moves the answer by that share of the radius.
 * Source. The clipped mean of Karwa and Vadhan (2018) and of Kamath, Singhal and Ullman (2020),
 * about the centre of privacy/stages/centre.
 */
export const mean: Estimator = definePooledEstimator({
  name: 'mean',
  title: 'Private mean, which false rows can move',
  citations: [{
    key: 'KSU20',
    text: 'G. Kamath, V. Singhal, J. Ullman. Private mean estimation of heavy-tailed '
      + 'distributions. COLT 2020.',
    place: 'the clipped mean that its section 1 starts from',
  }],
  parameters: [
    scaleParameter,
    corruptionParameter(
      corruptionLimit,
      'hostile share with which the centre must still be found; the mean itself is not robust',
    ),
    centreShareParameter(0.2, 0.8),
    radiusParameter(),
  ],
  shelf: 'recommended',
  assumption: 'Nobody sends false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, rho split between the centre and the mean.',
}, { design });

function design({ values, facts }: DesignRequest): PooledDesign {
  const { dimension, cohort, target: { rho, delta } } = facts;
  const [corruption, centreShare] = [
    numberOf(values, 'corruption'), numberOf(values, 'centre-share'),
  ];
  const centre = centreStage({ dimension, rho: shareOf(rho, centreShare), delta, corruption });
  const clipped = clippedMeanEvents({
    cohort: rowsCohort, dimension,
    radius: optionalNumberOf(values, 'radius') ?? usualRadius(dimension),
    rho: shareOf(rho, 1 - centreShare),
  });
  const { ball: { radius }, sum, count } = clipped;
  return {
    kind: 'design',
    centre,
    plan: {
      events: [...centre.events, sum, count],
      guarantee: {
        theorem: 'noisy clipped mean around a private centre; '
          + 'proofs in src/privacy/stages/centre and src/privacy/stages/clipped-mean',
        assumptions: [
          'for accuracy: scale is at least the standard deviation of a row in every column, '
          + 'and not far above it',
          'for accuracy: nearly all rows lie within the radius of the centre',
        ],
        corruptionMax: 0,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInScales: radius,
        noisePerCoordinateInScales: sum.sigma / cohort,
        noiseOfCount: count.sigma,
        movedByHostileShareInScales: radius,
        // For rows with tails as heavy as one scale allows; the expected error leaves it out.
        clippingCostsAtMostInScales:
          truncationBias({ order: 2, bound: 1 }, dimension, centreOff, radius),
      },
      expectedError: errorUpTo(
        corruptionLimit, honestErrorOfMean(dimension, cohort, sum.sigma), (share) => share * radius,
      ),
    },
    noise: { sigma: sum.sigma, rows: cohort },
    inScale: true,
    release: releaseOf(clipped, facts),
  };
}

function releaseOf(clipped: ClippedMeanEvents, facts: StudyFacts): PooledDesign['release'] {
  return async ({ mechanisms }, { pool, centre, scale }) => {
    const options = { centre, ball: clipped.ball, cohort: facts.cohort };
    return privateClippedMean(mechanisms, pool, options).map((answer): Outcome => {
      if (answer.kind === 'participation-below-plan') return participationBelowPlan(facts);
      return answerOf(clipped, {
        centre: centre.map((entry, j) => entry * scale[j]!),
        scale,
        moved: answer.mean.map((entry, j) => entry - centre[j]!),
        present: answer.present,
      });
    });
  };
}
