import { assert } from '../../base/assert.js';
import type { Sensitive } from '../../base/brands.js';
import type { Finished, FinishedSummaries, GroupStatistic, PooledRows } from './estimator.js';

/** Readers of finished summaries. A summary of another form is a defect of the estimator. */

/** The finished summaries of a cohort, one for each of its `groups`. */
export function finishedOf(
  summaries: FinishedSummaries, cohort: string, groups: number,
): Sensitive<readonly Finished[]> {
  const finished = summaries.get(cohort);
  assert(finished !== undefined, 'a release gets the summaries of its plan');
  return finished.map((list) => {
    assert(list.length === groups, 'a release gets every group of its plan');
    return list;
  });
}

/** The rows of a pooled cohort. */
export function poolOf(summaries: FinishedSummaries, cohort: string): Sensitive<PooledRows> {
  return finishedOf(summaries, cohort, 1).map(([only]) => {
    assert(only?.kind === 'pooled', 'the rows come in one pool');
    return only.rows;
  });
}

/** The statistic of a cohort with one group. */
export function onlyStatistic(
  summaries: FinishedSummaries, cohort: string,
): Sensitive<GroupStatistic> {
  return finishedOf(summaries, cohort, 1).map(([only]) => {
    assert(only?.kind === 'group', 'all contributors are in one group');
    return only.statistic;
  });
}
