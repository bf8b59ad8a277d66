import { Released } from '../../src/base/brands.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import {
  chooseRadius, distanceBins, distanceCounts, readDistances,
} from '../../src/estimators/pooled/radius.js';
import { clipBall } from '../../src/privacy/stages/clip.js';
import { clippedSum } from '../../src/privacy/stages/clipped-mean.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, tightGaussian } from './build.js';

/**
 * A mean of rows clipped to a radius that true counts decided. One far row then changes the unit of
 * the sum, so it changes every row in it.
 */
export const trueCountsRadius: PlantedBug = {
  name: 'radius chosen from true counts',
  epsilon: 1,
  delta: 0.05,
  dimension: 1,
  cohort: 40,
  trials: 10_000,
  inSensitivity: true,
  make(facts, planted) {
    const { dimension, cohort, target } = facts;
    const half = { epsilon: target.epsilon / 2, deltaTotal: target.deltaTotal / 2 };
    const bins = tightGaussian('distance', distanceBins, Math.SQRT2, half);
    // Most rows of an audit stand at 0: all on one side of this centre, inside the ball.
    const centre = new Float64Array(dimension).fill(-0.9);
    const ball = clipBall(1, { sums: true });
    const radiusOf = (counts: Float64Array, sigma: number): number => chooseRadius(
      readDistances({ counts, sigma, dimension, rows: cohort }),
      { dimension, least: 1, noise: 1e-3, corruption: 0 },
    );
    const plan = smallPlan({
      facts,
      length: 2,
      events: [bins, tightGaussian('sum', dimension, 2, half)],
      async release(rows, mechanisms) {
        const pool = rows('rows');
        const counted = (block: RowBlock): Promise<Float64Array> =>
          distanceCounts(inlineCompute(), block, centre);
        const noisy = mechanisms.gaussian('distance', await pool.mapAsync(counted));
        const sums = await pool.mapAsync(async (block) => {
          const unit = planted
            ? radiusOf(await counted(block), 0.1) : radiusOf(noisy.value, bins.sigma);
          return clippedSum(block, centre, ball, unit).sum;
        });
        const sum = mechanisms.gaussian('sum', sums);
        return Released.all<readonly [Float64Array, Float64Array]>([noisy, sum])
          .map(([released, [total]]) => [radiusOf(released, bins.sigma), total!]);
      },
    });
    return { plan, dimension };
  },
};
