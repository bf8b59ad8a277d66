import {
  clipAllRows, momentsOfRows, scoresOfRows, sharedBytes, sharedDoubles,
} from '../../../numerics/kernels/shards.js';
import type { ClipBall } from '../../../privacy/stages/clip.js';
import type { Compute, PooledRows } from '../../contract/estimator.js';

/**
 * Weights are whole numbers of 1 / 64, rounded down: then sums of weighted rows are exact. Rounding
 * shrinks weights of rows on either side of the centre alike, so it moves no mean.
 */
export const weightSteps = 64;

/** Rows inside a ball about a centre, as whole steps of its grid. */
export interface StepRows {
  readonly count: number;
  readonly dimension: number;
  /** Row-major; zeros for a null row. */
  readonly steps: Float64Array;
  /** 0 for null rows. */
  readonly present: Uint8Array;
}

/** The sums of the weighted rows, in whole steps and weight steps. Exact. */
export interface WeightedMoments {
  readonly weight: number;
  readonly sums: Float64Array;
  /** d x d. */
  readonly products: Float64Array;
}

/**
 * Clips rows about a released centre. Of more than `rowsMax` rows those with the smallest tags are
 * taken, so that sums stay exact: one contributor more or less then changes at most one row for
 * another.
 * @param unit - width of each column, public or released.
 */
export async function stepRows(
  compute: Compute, pool: PooledRows, rowsMax: number, ball: ClipBall, centre: Float64Array,
  unit: Float64Array,
): Promise<StepRows> {
  const { dimension } = pool;
  const count = Math.min(pool.count, rowsMax);
  const steps = sharedDoubles(count * dimension);
  const present = sharedBytes(count);
  const { grid, steps: radius } = ball;
  await clipAllRows(
    compute, { values: pool.values, dimension, count }, { grid, steps: radius, centre, unit },
    steps, present,
  );
  return { count, dimension, steps, present };
}

/**
 * Weighs each row by max(0, 1 - z^T dual z) and adds up. A row's weight is a function of this row
 * and `dual` alone: a kernel's score of a row does not depend on the other rows, and the rest is
 * arithmetic on this one number.
 * @param dual - released, for rows in steps.
 */
export async function weightedMoments(
  compute: Compute, { count, dimension, steps, present }: StepRows, dual: Float64Array,
): Promise<WeightedMoments> {
  const rows = { values: steps, dimension, count };
  const weights = sharedDoubles(count);
  await scoresOfRows(compute, rows, new Float64Array(dimension), dual, weights);
  let weight = 0;
  for (let i = 0; i < count; i++) {
    const score = weights[i]!;
    // A score that is not a number weighs nothing; one below 0 by rounding weighs as 0 does.
    weights[i] = present[i] !== 0 && score < 1
      ? Math.floor(weightSteps * (1 - Math.max(0, score))) : 0;
    weight += weights[i]!;
  }
  const { sums, products } = await momentsOfRows(compute, rows, { weights });
  return { weight, sums, products };
}
