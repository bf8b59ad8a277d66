import type { RowBlock } from '../../privacy/stages/rows.js';
import type { ColumnRange } from '../contract/values.js';

/** The cohort of estimators that keep all rows in one pool. */
export const rowsCohort = 'rows';

/** How many times the nominal cohort is counted exactly; of more, the smallest tags are taken. */
export const surplus = 4;

/** The rows with every entry moved into its range; one contributor stays one row. */
export function rowsInRange<Rows extends RowBlock>(rows: Rows, { low, high }: ColumnRange): Rows {
  const { dimension, count } = rows;
  const values = rows.values.slice(0, count * dimension);
  for (let i = 0; i < values.length; i++) {
    const j = i % dimension;
    // A row with an entry that is not a number stays the null row.
    values[i] = Math.max(low[j]!, Math.min(high[j]!, values[i]!));
  }
  return { ...rows, values };
}

/**
 * The rows divided by a scale. One contributor stays one row. An entry that leaves the range of
 * doubles makes its row the null row.
 */
export function rowsInScale(
  { count, dimension, values }: RowBlock, scale: Float64Array,
): RowBlock {
  const scaled = new Float64Array(count * dimension);
  for (let i = 0; i < scaled.length; i++) scaled[i] = values[i]! / scale[i % dimension]!;
  return { count, dimension, values: scaled };
}
