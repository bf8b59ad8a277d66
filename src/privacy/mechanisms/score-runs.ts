import { assert } from '../../base/assert.js';
import type { Scores } from './contract.js';
import { runsOf } from './exponential.js';

/** Candidates side by side that have one score on the left and one on the right. */
export interface SharedRun {
  readonly length: number;
  readonly left: number;
  readonly right: number;
}

/**
 * The scores of the same candidates in two data sets, whose runs need not end at the same places.
 * @throws InvariantError when one side has more candidates than the other.
 */
export function sharedRuns(one: Scores, other: Scores): readonly SharedRun[] {
  const [left, right] = [runsOf(one), runsOf(other)];
  const shared: SharedRun[] = [];
  let [i, j] = [0, 0];
  let [leftRest, rightRest] = [left.lengths[0] ?? 0, right.lengths[0] ?? 0];
  while (i < left.lengths.length && j < right.lengths.length) {
    const length = Math.min(leftRest, rightRest);
    if (length > 0) shared.push({ length, left: left.scores[i]!, right: right.scores[j]! });
    leftRest -= length;
    rightRest -= length;
    if (leftRest === 0) leftRest = left.lengths[++i] ?? 0;
    if (rightRest === 0) rightRest = right.lengths[++j] ?? 0;
  }
  const total = (lengths: Float64Array): number => lengths.reduce((sum, length) => sum + length, 0);
  assert(total(left.lengths) === total(right.lengths), 'neighbours have the same candidates');
  return shared;
}

/** The score of one candidate. */
export function scoreAt(scores: Scores, index: number): number {
  const runs = runsOf(scores);
  let before = 0;
  const at = runs.lengths.findIndex((length) => {
    before += length;
    return index < before;
  });
  return runs.scores[at]!;
}
