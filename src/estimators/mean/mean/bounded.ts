import type { Outcome } from '../../../base/outcome.js';
import { clippedMeanEvents, privateClippedMean } from '../../../privacy/stages/clipped-mean.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { errorUpTo } from '../../contract/planning.js';
import type { ColumnRange } from '../../contract/values.js';
import { knownCentre } from '../../pooled/centre.js';
import { answerOf } from '../../pooled/centred-mean.js';
import type { DesignRequest, PooledDesign } from '../../pooled/estimator.js';
import { honestErrorOfMean } from '../../pooled/expected-error.js';
import { rowsCohort } from '../../pooled/pool.js';

/**
 * The mean of rows with public bounds.
 *
 * Claim. rho zCDP, no delta.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the clipped mean (privacy/stages/clipped-mean), which gets the whole of rho.
 * Why. Rows are moved into the bounds, which keeps each contributor one row. The scale is half the
 * width of the bounds and the centre their middle. Both are public, and nothing else is drawn. A
 * row is within one scale of the middle in every column, so a ball of radius sqrt(columns) holds
 * them all.
 */
export function boundedDesign(
  { facts }: DesignRequest, { low, high }: ColumnRange,
): PooledDesign {
  const { dimension, cohort, target: { rho } } = facts;
  const middle = low.map((end, j) => (end + high[j]!) / (high[j]! - end));
  const radius = Math.sqrt(dimension);
  const clipped = clippedMeanEvents({
    cohort: rowsCohort, dimension, radius, rho, sumShare: sumShareOf(dimension),
  });
  const { sum, count } = clipped;
  return {
    kind: 'design',
    centre: knownCentre(middle),
    plan: {
      events: [sum, count],
      guarantee: {
        theorem: 'noisy mean of rows moved into public bounds; '
          + 'proof in src/privacy/stages/clipped-mean',
        assumptions: ['for accuracy: honest rows are inside the range'],
        corruptionMax: 0,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInScales: radius,
        noisePerCoordinateInScales: sum.sigma / cohort,
        noiseOfCount: count.sigma,
        movedByHostileShareInScales: radius,
      },
      expectedError: errorUpTo(
        1, honestErrorOfMean(dimension, cohort, sum.sigma), (share) => share * radius,
      ),
    },
    noise: { sigma: sum.sigma, rows: cohort },
    inScale: true,
    release: async ({ mechanisms }, { pool, centre, scale }) =>
      privateClippedMean(mechanisms, pool, { centre, ball: clipped.ball, cohort })
        .map((answer): Outcome => {
          if (answer.kind === 'participation-below-plan') return participationBelowPlan(facts);
          return answerOf(clipped, {
            centre: centre.map((entry, j) => entry * scale[j]!),
            scale,
            moved: answer.mean.map((entry, j) => entry - centre[j]!),
            present: answer.present,
          });
        }),
  };
}

/**
 * The mean may be at a corner of the bounds, sqrt(d) from the middle, so the noise of the count
 * moves it as well. With a share s of rho for the sum, the squared errors are 2 d^2 / s and
 * (d / 2) / (1 - s), in the same unit. Their sum is least here.
 */
function sumShareOf(dimension: number): number {
  return 1 / (1 + 0.5 / Math.sqrt(dimension));
}
