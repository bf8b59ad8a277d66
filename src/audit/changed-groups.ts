import type { Finished, FinishedSummaries } from '../estimators/contract/estimator.js';
import { itemsApart } from '../privacy/mechanisms/observed.js';

/**
 * How many groups of one plan differ between two sets of made-up contributors. Of neighbours it is
 * one at most: that is why the costs of disjoint groups do not add up.
 * @param textOf - a finished group as text: equal texts are equal groups.
 */
export function changedGroups(
  before: FinishedSummaries, after: FinishedSummaries, textOf: (group: Finished) => string,
): number {
  return [...before].reduce((sum, [arm, groups]) =>
    sum + itemsApart(groups, after.get(arm)!, textOf), 0);
}
