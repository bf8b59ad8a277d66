import { sharedBytes, sharedDoubles } from '../../../numerics/kernels/shards.js';
import { clipBall } from '../../../privacy/stages/clip.js';
import type { Compute, PooledRows } from '../../contract/estimator.js';
import { rowsOfSteps, type ClippedRows } from '../../pooled/clipped-rows.js';

/** A cube around a centre, whose points are held as whole steps. */
export interface Box {
  /** A power of two, in spreads. */
  readonly grid: number;
  /** Half the side, in steps. */
  readonly half: number;
  /** Longest distance within the box, in spreads, rounded up. */
  readonly diagonal: number;
}

/**
 * The cube of half-side `half` in spreads, on a grid on which sums of products over `rowsMax` rows
 * are exact: the squared norm of a row is at most half^2 d steps, which the grid of the ball around
 * the cube allows for.
 */
export function boxOf(half: number, dimension: number, rowsMax: number): Box {
  const { grid } = clipBall(half * Math.sqrt(dimension), { products: true, rowsMax });
  const steps = Math.floor(half / grid);
  return { grid, half: steps, diagonal: 2 * steps * grid * Math.sqrt(dimension) * (1 + 2 ** -50) };
}

/**
 * Moves every entry into the box, rounded toward the centre to whole steps. A row with an entry
 * that is not finite is not there. Of more than `rowsMax` rows those with the smallest tags are
 * taken. A function of each row alone, so that one contributor changes one row. O(n d^2).
 * @param spread - units of the columns.
 */
export function boxedRows(
  compute: Compute, pool: PooledRows, centre: Float64Array, spread: Float64Array, box: Box,
  rowsMax: number,
): Promise<ClippedRows> {
  const { dimension, values } = pool;
  const count = Math.min(pool.count, rowsMax);
  const steps = sharedDoubles(count * dimension);
  const alive = sharedBytes(count);
  for (let i = 0; i < count; i++) {
    const isThere = values.subarray(i * dimension, (i + 1) * dimension)
      .every((entry) => Number.isFinite(entry));
    if (!isThere) continue;
    alive[i] = 1;
    for (let j = 0; j < dimension; j++) {
      const entry = Math.trunc((values[i * dimension + j]! - centre[j]!) / spread[j]! / box.grid);
      steps[i * dimension + j] = Math.min(box.half, Math.max(-box.half, entry)) + 0;
    }
  }
  return rowsOfSteps(compute, { count, dimension, steps, alive });
}

/** The nearest point of the box, in steps. */
export function insideBox(point: Float64Array, { half }: Box): Float64Array {
  return point.map((entry) => Math.min(half, Math.max(-half, entry)));
}
