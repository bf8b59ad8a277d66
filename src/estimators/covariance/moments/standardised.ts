import { ownKernels } from '../../../numerics/kernels/index.js';
import { sharedDoubles } from '../../../numerics/kernels/shards.js';
import type { PooledRows } from '../../contract/estimator.js';
import { transposed } from './matrices.js';
import type { LeftRows } from '../../pooled/thresholds.js';

/** Rows that are transformed at a time. */
const chunkRows = 4096;

/** Rows in spreads about a centre; zeros for those that are not there. */
export interface StandardisedRows {
  readonly count: number;
  readonly dimension: number;
  readonly values: Float64Array;
  /** 0 for rows that are not there, or are out of reach in some column. */
  readonly present: Uint8Array;
}

/**
 * Rows in spreads about a released centre. A row out of reach in some column is left out whole:
 * pulled in, it would still be far. Of more than `rowsMax` rows those with the smallest tags are
 * taken, so that sums stay exact: one contributor more or less then changes at most one row for
 * another. Each is a function of its own row and of released numbers.
 * @param reach - in spreads.
 */
export function standardisedRows(
  pool: PooledRows, centre: Float64Array, spread: Float64Array, rowsMax: number, reach: number,
): StandardisedRows {
  const { dimension } = pool;
  const count = Math.min(pool.count, rowsMax);
  const values = sharedDoubles(count * dimension);
  const present = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const offset = i * dimension;
    let isWithin = true;
    for (let j = 0; j < dimension; j++) {
      const entry = (pool.values[offset + j]! - centre[j]!) / spread[j]!;
      values[offset + j] = entry;
      isWithin &&= Math.abs(entry) <= reach;
    }
    present[i] = isWithin ? 1 : 0;
    if (!isWithin) values.fill(0, offset, offset + dimension);
  }
  return { count, dimension, values, present };
}

/**
 * The rows' images under a released map. An entry is a sum over the columns of its own row, in
 * their order.
 */
export function imagesOf(
  rows: StandardisedRows, matrix: Float64Array,
): LeftRows {
  const { count, dimension, present } = rows;
  return { count, dimension, steps: imagesAbout(rows, matrix, null), alive: present.slice() };
}

/** matrix (x - mean) for each row, row-major: O(n d^2). @param mean - null: 0. */
export function imagesAbout(
  { count, dimension, values }: StandardisedRows, matrix: Float64Array, mean: Float64Array | null,
): Float64Array {
  const images = sharedDoubles(count * dimension);
  const columns = transposed(matrix, dimension);
  const origin = mean ?? new Float64Array(dimension);
  for (let first = 0; first < count; first += chunkRows) {
    const size = Math.min(chunkRows, count - first);
    const [from, to] = [first * dimension, (first + size) * dimension];
    const chunk = images.subarray(from, to);
    for (let i = 0, at = 0; i < size; i++) {
      for (let j = 0; j < dimension; j++, at++) {
        chunk[at] = values[from + at]! - origin[j]!;
      }
    }
    ownKernels().product(chunk, columns, size, dimension, dimension, chunk);
  }
  return images;
}
