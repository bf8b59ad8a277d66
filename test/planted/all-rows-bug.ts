import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { allRowsDesign, releaseAllRows } from '../../src/estimators/pooled/all-rows.js';
import { distanceCounts } from '../../src/estimators/pooled/radius.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan } from './build.js';

/**
 * The mean of all rows, without the clip to the released radius: one far row then moves it by more
 * than was charged.
 */
export const allRowsUnclipped: PlantedBug = {
  name: 'mean of all rows without a clip',
  epsilon: 1,
  delta: 0.05,
  dimension: 1,
  cohort: 40,
  trials: 10_000,
  inSensitivity: true,
  make(facts, planted) {
    const { dimension } = facts;
    const { events, distance, clipped, ...rest } = allRowsDesign(facts);
    const [centre, spread] = [new Float64Array(dimension), new Float64Array(dimension).fill(1)];
    const plan = smallPlan({
      facts,
      length: dimension,
      events: [...events],
      async release(rows, mechanisms) {
        const pool = rows('rows');
        const draws = { mechanisms, compute: inlineCompute() };
        if (!planted) {
          const all = await releaseAllRows(
            draws, { ...rest, events, distance, clipped }, pool, centre, spread,
          );
          return all.map(({ moved }) => [...moved]);
        }
        mechanisms.gaussian(distance.name, await pool.mapAsync((block) =>
          distanceCounts(draws.compute, block, centre)));
        const sum = mechanisms.gaussian(clipped.sum.name, pool.map((block) => {
          const total = new Float64Array(dimension);
          for (let i = 0; i < block.count * dimension; i++) {
            const entry = block.values[i]!;
            const whole = Math.trunc(entry / clipped.ball.grid) * clipped.ball.grid;
            if (Number.isFinite(whole)) total[i % dimension]! += whole;
          }
          return total;
        }));
        return sum.map((total) => [...total]);
      },
    });
    return { plan, dimension };
  },
};
