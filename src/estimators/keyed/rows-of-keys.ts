import type { PooledRows } from '../contract/estimator.js';

/** The rows of each key, without the place of the key, in order of tag. */
export interface RowsOfKeys {
  /** Rows of each key. */
  readonly counts: Float64Array;
  /** The rows of each key, by its place. */
  readonly rows: readonly PooledRows[];
}

/** @param rows sorted by tag; the first entry of each is the place of its key, below `keys`. */
export function rowsOfKeys(
  { count, dimension, values, tags }: PooledRows, keys: number,
): RowsOfKeys {
  const counts = new Float64Array(keys);
  for (let row = 0; row < count; row++) counts[values[row * dimension]!]! += 1;
  const own = dimension - 1;
  const rows = Array.from(counts, (size) => ({
    count: size, dimension: own, values: new Float64Array(size * own),
    tags: new BigUint64Array(size),
  }));
  const filled = new Float64Array(keys);
  for (let row = 0; row < count; row++) {
    const from = row * dimension;
    const key = values[from]!;
    const at = filled[key]!;
    rows[key]!.values.set(values.subarray(from + 1, from + dimension), at * own);
    rows[key]!.tags[at] = tags[row]!;
    filled[key] = at + 1;
  }
  return { counts, rows };
}
