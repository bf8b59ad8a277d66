import type { Sensitive } from '../../src/base/brands.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import {
  clusterAbove, type ClusterLimits,
} from '../../src/estimators/mean/robust-mean/clusters.js';
import { axisBins } from '../../src/estimators/pooled/valleys.js';
import {
  axisCounts, mapRows, removeAlong, sumOfRows, thirdMoments, type MappedRows,
} from '../../src/estimators/mean/robust-mean/mapped.js';
import { clipBall } from '../../src/privacy/stages/clip.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import type { PlantedBug } from './bugs.js';
import { smallPlan, tightGaussian } from './build.js';

/** Mistakes in what a robust mean of rows of any shape does with one column. */
const shape = {
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 40, trials: 10_000, inSensitivity: true,
} as const;
const ball = clipBall(1, { products: true, rowsMax: 100 });

/** Rows times `factor`, as a release maps them. */
function mappedRows(pool: Sensitive<RowBlock>, factor: number): Sensitive<MappedRows> {
  return pool.map((block) => {
    const rows = {
      count: block.count, dimension: 1, entries: new Float64Array(block.count),
      present: new Uint8Array(block.count), alive: new Uint8Array(block.count).fill(1),
    };
    const frame = {
      mean: new Float64Array(1), map: Float64Array.of(factor), inverse: Float64Array.of(1 / factor),
    };
    const whole = { ...block, tags: new BigUint64Array(0) };
    mapRows(whole, frame.mean, Float64Array.of(1), frame, rows.entries, rows.present);
    return rows;
  });
}

/** A plan of one noisy sum, in grid steps of the ball. */
function sumPlan(
  facts: StudyFacts, sensitivity: number, sumsOf: (pool: Sensitive<RowBlock>) =>
    Sensitive<Float64Array>,
) {
  const plan = smallPlan({
    facts,
    length: 1,
    events: [tightGaussian('sum', 1, sensitivity, facts.target)],
    release: (rows, mechanisms) => mechanisms.gaussian(
      'sum', sumsOf(rows('rows')).map((sums) => sums.map((steps) => steps * ball.grid)),
    ).map((sum) => Array.from(sum)),
  });
  return { plan, dimension: 1 };
}

const unclippedMap: PlantedBug = {
  name: 'rows mapped and not clipped after it',
  ...shape,
  make: (facts, planted) => sumPlan(facts, 2, (pool) => (planted
    ? mappedRows(pool, 1).map((rows) => sumOfRows(rows, ball, 1).map((sum) => 4 * sum))
    : mappedRows(pool, 4).map((rows) => sumOfRows(rows, ball, 1)))),
};

const halfThird: PlantedBug = {
  name: 'third moments charged half their sensitivity',
  ...shape,
  make: (facts, planted) => sumPlan(facts, planted ? 1 : 2, (pool) =>
    mappedRows(pool, 1).map((rows) => thirdMoments(rows, ball))),
};

/** One person more decides whether the cluster at 0 is small enough to go. */
const trueCluster: PlantedBug = {
  name: 'cluster cut by true counts',
  ...shape,
  make(facts, planted) {
    const half = { epsilon: facts.target.epsilon / 2, deltaTotal: facts.target.deltaTotal / 2 };
    const bins = tightGaussian('axis', axisBins, Math.SQRT2, half);
    const limits: ClusterLimits = {
      noise: bins.sigma, most: facts.cohort - 0.5, least: 2, openAfter: axisBins / 4,
    };
    const axis = Float64Array.of(1);
    /** Public rows that the cluster stands apart from. */
    const background = new Float64Array(axisBins);
    background[20] = 500;
    const highOf = (counts: Float64Array, noise: number): number =>
      clusterAbove(counts.map((count, bin) => count + background[bin]!), { ...limits, noise })
        ?? axisBins;
    const plan = smallPlan({
      facts,
      length: 1,
      events: [bins, tightGaussian('count', 1, 1, half)],
      release(rows, mechanisms) {
        const pool = mappedRows(rows('rows'), 1);
        const noisy = mechanisms.gaussian('axis', pool.map((left) => axisCounts(left, axis)));
        const counts = pool.map((left) => {
          const high = planted
            ? highOf(axisCounts(left, axis), 0.1) : highOf(noisy.value, bins.sigma);
          removeAlong(left, axis, 0, high);
          return Float64Array.of(left.alive.reduce((sum, one) => sum + one, 0));
        });
        return mechanisms.gaussian('count', counts).map((count) => Array.from(count));
      },
    });
    return { plan, dimension: 1 };
  },
};

export const shapeBugs: readonly PlantedBug[] = [unclippedMap, halfThird, trueCluster];
