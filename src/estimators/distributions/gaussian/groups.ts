import type { RowBlock } from '../../../privacy/stages/rows.js';
import { slotOf } from '../../../privacy/stages/spread.js';
import { normalOfRows, type RobustNormal } from '../../../robust/normal-of-rows.js';
import type { PooledRows } from '../../contract/estimator.js';

/**
 * Robust estimates of groups of rows. A row's group is a function of its tag, and a group's
 * estimate of its rows: so a row replaced, gone or added changes one estimate, removes it or adds
 * it. Groups without an estimate are left out, and so are those with too few rows.
 * @param groups - from the public cohort, never from the rows present.
 * @param least - rows of a group: public.
 */
export function estimatesOf(
  { count, dimension, values, tags }: PooledRows, groups: number, least: number,
): readonly RobustNormal[] {
  const found: RobustNormal[] = [];
  let first = 0;
  for (let row = 1; row <= count; row++) {
    if (row < count && slotOf(tags[row]!, groups) === slotOf(tags[first]!, groups)) continue;
    const own = values.subarray(first * dimension, row * dimension);
    const estimate = row - first < least
      ? null : normalOfRows({ count: row - first, dimension, values: own });
    if (estimate !== null) found.push(estimate);
    first = row;
  }
  return found;
}

/** Group means as rows. */
export function meansOf(estimates: readonly RobustNormal[], dimension: number): RowBlock {
  const values = new Float64Array(estimates.length * dimension);
  estimates.forEach(({ mean }, i) => { values.set(mean, i * dimension); });
  return { count: estimates.length, dimension, values };
}
