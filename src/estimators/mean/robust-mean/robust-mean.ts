import type { Estimator } from '../../contract/estimator.js';
import { lkko21 } from '../../contract/papers.js';
import {
  corruptionParameter, numberOf, optionalNumberOf, scaleParameter,
} from '../../contract/values.js';
import {
  definePooledEstimator, type DesignRequest, type PooledDesign,
} from '../../pooled/estimator.js';
import {
  centreShareParameter, demandShares, finalShareParameter, radiusParameter, roundsParameter,
  usualRadius,
} from '../../pooled/parameters.js';
import { assumptions } from '../../pooled/plan.js';
import { robustDesign, robustErrorOf } from './design.js';
import { releaseRobust } from './release.js';

/** Largest hostile share that can be promised. */
const corruptionLimit = 0.2;

/**
 * The default robust private mean. Noisy second moments tell along which axes rows are wider than
 * honest ones can be. Along these axes, and no others, a noisy histogram tells how: it stays sharp
 * where second moments do not, since one row changes two of its counts by 1 however far out it is.
 * A normal shape is fitted to the histogram, tails that hold far more than the shape are removed,
 * and what that does to the mean of a normal shape is corrected. Where the mean of what is left is
 * still away from the median of the shape, the median is the answer.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), and of every round, histogram and the final mean
 * (`design` has their sensitivities), composed adaptively.
 * Why. Whether a row is left at any time is a function of this row and of released numbers alone:
 * its clipped entries, and for every histogram the axis (or the mean that distances are from) and
 * the thresholds. Two neighbouring sets see the same released numbers when their releases are
 * compared, so they differ at any time in the one row at most. Axes, thresholds and the corrections
 * at the end are functions of released numbers. So is which events the rounds did not need: those
 * carry sums of the rows left instead, within their sensitivities (`reallocation`).
 * Assumption. Honest rows are at most one scale wide in every direction, and not strongly skewed.
 * What is not detected widens no axis beyond the detection threshold t, and moves the mean by at
 * most sqrt(c t), c its share. What is detected moves a median by at most about 1.25 c in each
 * axis. Both are small where second moments alone must allow whatever honest tails could hide. The
 * price is an assumption: along axes wider than `scale` allows, and only there, honest rows are
 * taken for about normal. Skewed rows wider than that are answered by their median, not their mean.
 * Source. The second moments are those of X. Liu, W. Kong, S. Kakade, S. Oh, Robust and
 * differentially private mean estimation (2021), Algorithms 10 to 13, with corrected noise.
 * Histograms, thresholds and corrections are this project's own.
 */
export const robustMean: Estimator = definePooledEstimator({
  name: 'robust-mean',
  title: 'Private robust mean by histograms along the widest axes',
  citations: [lkko21('Algorithms 10 to 13, for the second moments')],
  parameters: [
    scaleParameter,
    corruptionParameter(
      corruptionLimit,
      'hostile share that the error is promised for; what is removed does not depend on it',
    ),
    roundsParameter(2, 20),
    {
      name: 'axes', type: 'integer', default: 2, minimum: 1, maximum: 50,
      description: 'number of widest axes along which each filter round takes a histogram',
    },
    centreShareParameter(0.2, 0.6),
    finalShareParameter(0.4, 0.9),
    radiusParameter(),
  ],
  shelf: 'recommended',
  assumption:
    'Honest rows are at most one scale wide in every direction, and not strongly skewed.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, rho split between the centre, a fixed number of filter '
    + 'rounds and histograms, and the mean of what is left.',
}, { demand: demandShares, design: designFor });

function designFor({ values, facts }: DesignRequest): PooledDesign {
  const { dimension, cohort } = facts;
  const corruption = numberOf(values, 'corruption');
  const design = robustDesign({
    facts, corruption,
    centreShare: numberOf(values, 'centre-share'), finalShare: numberOf(values, 'final-share'),
    radius: optionalNumberOf(values, 'radius') ?? usualRadius(dimension),
    rounds: numberOf(values, 'rounds'), axes: numberOf(values, 'axes'),
  });
  const { rounds, sum } = design;
  return {
    kind: 'design',
    centre: design.centre,
    plan: {
      events: design.events,
      guarantee: {
        theorem: 'thresholds by released histograms; proofs in src/estimators/mean/robust-mean',
        assumptions: [
          'for accuracy: honest rows have at most about one scale of spread in every direction, '
          + 'and light tails',
          'for accuracy: along axes in which hostile rows make the whole wider, honest ones are '
          + 'about normal',
          assumptions.hostileShare,
        ],
        corruptionMax: corruption,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInScales: design.ball.radius,
        noisePerCoordinateInScales: sum.sigma / cohort,
        rounds: rounds.length,
        axesAtMost: Math.min(dimension, rounds.length * (rounds[0]?.histograms.length ?? 0)),
        varianceDetectedAbove: 1 + design.excessMax,
        rowsCountedAtMost: design.rowsMax,
      },
      expectedError: robustErrorOf(design, corruption),
    },
    noise: { sigma: sum.sigma, rows: cohort },
    release: (draws, centred) => releaseRobust({ design, ...draws }, centred),
  };
}
