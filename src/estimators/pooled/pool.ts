import { assert } from '../../base/assert.js';
import type { Sensitive } from '../../base/brands.js';
import type { RowBlock } from '../../privacy/stages/rows.js';
import type { CohortPlan, FinishedSummaries, PooledRows } from '../contract/estimator.js';

/** The cohort of estimators that keep all rows in one pool. */
export const rowsCohort = 'rows';

/** A cohort whose rows are kept until the release. @param share - of the contributors. */
export function pooledCohort(name = rowsCohort, share = 1): CohortPlan {
  return { name, share, unit: 'row', mode: 'pooled', groups: 1 };
}

/** The rows of a pooled cohort. */
export function poolOf(summaries: FinishedSummaries, cohort = rowsCohort): Sensitive<PooledRows> {
  const finished = summaries.get(cohort);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  return finished.map(([only, ...more]) => {
    assert(only?.kind === 'pooled' && more.length === 0, 'the rows come in one pool');
    return only.rows;
  });
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
