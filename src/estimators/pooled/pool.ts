import type { RowBlock } from '../../privacy/stages/rows.js';

/** The cohort of estimators that keep all rows in one pool. */
export const rowsCohort = 'rows';

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
