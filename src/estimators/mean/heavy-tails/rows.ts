import type { Sensitive } from '../../../base/brands.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { FinishedSummaries } from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';

/** Which columns of a row are used, and in which units. */
export interface Units {
  readonly columns: readonly number[];
  /** One per used column. */
  readonly spread: Float64Array;
}

/** All columns of rows of this length. */
export function allColumns(spread: Float64Array): Units {
  return { columns: Array.from(spread, (_, j) => j), spread };
}

/**
 * The rows of a pooled cohort in units of spread. One contributor stays one row. An entry that
 * leaves the range of doubles makes it a null row.
 */
export function cohortRows(
  summaries: FinishedSummaries, cohort: string, { columns, spread }: Units,
): Sensitive<RowBlock> {
  return poolOf(summaries, cohort).map(({ count, dimension, values }) => {
    const scaled = new Float64Array(count * columns.length);
    for (let row = 0; row < count; row++) {
      columns.forEach((column, j) => {
        scaled[row * columns.length + j] = values[row * dimension + column]! / spread[j]!;
      });
    }
    return { count, dimension: columns.length, values: scaled };
  });
}
