import { clipAllRows, momentsOfRows, scoresOfRows, sharedBytes, sharedDoubles } from '../../numerics/kernels/shards.js';
import type { ClipBall } from '../../privacy/clip.js';
import type { Compute, PooledRows } from '../contract.js';

/** Rows of a cohort inside a ball about a centre, as whole steps of its grid, and which of them are left. */
export interface ClippedRows {
  readonly count: number;
  readonly dimension: number;
  /** Row-major, in steps; zeros for a row that is not there. */
  readonly steps: Float64Array;
  /** 0 for rows that were removed, or were never there. Changed by `removeRows`. */
  readonly alive: Uint8Array;
  /** Room for a score of each row; a later look takes it back. */
  readonly scores: Float64Array;
}

/** What one look takes of the rows that are left, in units of the ball's grid. Whole numbers, exactly. */
export interface Moments {
  readonly count: number;
  readonly sums: Float64Array;
  /** Sum of z z^T, d x d. */
  readonly products: Float64Array;
}

/**
 * Clips rows about a released centre. Of more than `rowsMax` rows those with the smallest tags are taken, so that sums
 * stay exact: one contributor more or less then changes at most one row for another.
 * @param scale - units of the columns.
 * @param isScratch - the steps take the place of the pool's values, which nobody reads again.
 */
export async function clippedRows(
  compute: Compute, pool: PooledRows, centre: Float64Array, scale: Float64Array, ball: ClipBall, rowsMax: number,
  isScratch = false,
): Promise<ClippedRows> {
  const { dimension, values } = pool;
  const count = Math.min(pool.count, rowsMax);
  const steps = isScratch ? values : sharedDoubles(count * dimension);
  const alive = sharedBytes(count);
  const { grid, steps: radius } = ball;
  await clipAllRows(compute, { values, dimension, count }, { grid, steps: radius, centre, unit: scale }, steps, alive);
  return { count, dimension, steps, alive, scores: sharedDoubles(count) };
}

/** Count, sums and products of the rows that are left. O(n d^2). */
export function momentsOf(compute: Compute, { count, dimension, steps, alive }: ClippedRows): Promise<Moments> {
  return momentsOfRows(compute, { values: steps, dimension, count }, { mask: alive });
}

/** How far out each row is: (z - mean)^T weights (z - mean), with `mean` in steps. A function of each row alone. Valid until the next look. */
export async function scoresOf(
  compute: Compute, { count, dimension, steps, scores }: ClippedRows, mean: Float64Array, weights: Float64Array,
): Promise<Float64Array> {
  await scoresOfRows(compute, { values: steps, dimension, count }, mean, weights, scores);
  return scores;
}

/** Removes the rows whose score is at least `least`. */
export function removeRows(rows: ClippedRows, scores: Float64Array, least: number): void {
  for (let i = 0; i < rows.count; i++) if (scores[i]! >= least) rows.alive[i] = 0;
}

/** How many of the rows that are left have a score in each bin [edges[j], edges[j + 1]), the last one open-ended. */
export function countScores(
  { count, alive }: ClippedRows, scores: Float64Array, edges: readonly number[],
): Float64Array {
  const counts = new Float64Array(edges.length);
  for (let i = 0; i < count; i++) {
    if (alive[i] === 0 || !(scores[i]! >= edges[0]!)) continue;
    let bin = edges.length - 1;
    while (scores[i]! < edges[bin]!) bin -= 1;
    counts[bin]! += 1;
  }
  return counts;
}
