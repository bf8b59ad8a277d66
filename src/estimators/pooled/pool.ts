import { sharedDoubles } from '../../numerics/kernels/shared.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import type { PooledRows } from '../contract/estimator.js';
import type { ColumnRange } from '../contract/values.js';

/** The cohort of estimators that keep all rows in one pool. */
export const rowsCohort = 'rows';

/** How many times the nominal cohort is counted exactly; of more, the smallest tags are taken. */
export const surplus = 4;

/**
 * The rows with every entry moved into its range; one contributor stays one row. Scratch rows are
 * moved where they are.
 */
export function rowsInRange(rows: PooledRows, { low, high }: ColumnRange): PooledRows {
  const { dimension, count, isScratch = false } = rows;
  const values = isScratch ? rows.values : rows.values.slice(0, count * dimension);
  for (let at = 0; at < count * dimension;) {
    for (let j = 0; j < dimension; j++, at++) {
      // A row with an entry that is not a number stays the null row.
      values[at] = Math.max(low[j]!, Math.min(high[j]!, values[at]!));
    }
  }
  return { ...rows, values };
}

/**
 * The rows divided by a spread. One contributor stays one row. An entry that leaves the range of
 * doubles makes its row the null row.
 * @param isScratch - the quotients take the place of the values, which nobody reads again.
 */
export function rowsInSpreads(
  { count, dimension, values }: RowBlock, spread: Float64Array, isScratch = false,
): RowBlock {
  const scaled = isScratch ? values : sharedDoubles(count * dimension);
  if (dimension === 1) {
    const unit = spread[0]!;
    for (let at = 0; at < count; at++) scaled[at] = values[at]! / unit;
    return { count, dimension, values: scaled };
  }
  for (let at = 0; at < count * dimension;) {
    for (let j = 0; j < dimension; j++, at++) scaled[at] = values[at]! / spread[j]!;
  }
  return { count, dimension, values: scaled };
}
