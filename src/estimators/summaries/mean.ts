import { assert } from '../../base/assert.js';
import type { Summary, SummaryTable } from '../contract/estimator.js';
import { StateReader, StateWriter } from './codec.js';

/** Rows and mean of a group. */
export interface GroupMean {
  count: number;
  readonly mean: Float64Array;
}

const format = 0x4b_4d_4e_32;

/**
 * Moves the mean at `offset` of `means` by a row that is the `count`-th: Welford's recurrence without the squares, which
 * no group reports. Accurate far from the origin.
 */
function moveMean(means: Float64Array, offset: number, row: Float64Array, count: number): void {
  for (let j = 0; j < row.length; j++) {
    const before = means[offset + j]!;
    means[offset + j] = before + (row[j]! - before) / count;
  }
}

/** The mean of both sets together, as Chan, Golub and LeVeque merge them; neither argument changes. */
function mergeMeans(left: GroupMean, right: GroupMean): GroupMean {
  const count = left.count + right.count;
  const share = count === 0 ? 0 : right.count / count;
  return { count, mean: left.mean.map((entry, j) => entry + (right.mean[j]! - entry) * share) };
}

/** All groups in two arrays: a row touches its group's count and mean, and no object on the way. */
function meanTable(groups: number, dimension: number): SummaryTable<GroupMean> {
  const counts = new Uint32Array(groups);
  const means = new Float64Array(groups * dimension);
  const state = (group: number): GroupMean =>
    ({ count: counts[group]!, mean: means.slice(group * dimension, (group + 1) * dimension) });
  const put = (group: number, { count, mean }: GroupMean): void => {
    counts[group] = count;
    means.set(mean, group * dimension);
  };
  return {
    add(group, row) {
      const count = counts[group]! + 1;
      counts[group] = count;
      moveMean(means, group * dimension, row, count);
    },
    state,
    merge: (group, other) => put(group, mergeMeans(state(group), other)),
    put,
  };
}

/**
 * Count and mean of a group in O(d) memory, one pass.
 * Replay in the same order is bit-identical; another order agrees to 1e-9 of the spread and place.
 *
 * @param statistic - what the group reports, total on every count, from the mean.
 */
export function meanSummary(
  dimension: number,
  statistic: (group: GroupMean) => Float64Array,
): Summary<GroupMean> {
  return {
    untagged: true,
    empty: () => ({ count: 0, mean: new Float64Array(dimension) }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      state.count += 1;
      moveMean(state.mean, 0, row, state.count);
      return state;
    },
    table: (groups) => meanTable(groups, dimension),
    merge: mergeMeans,
    finish: (state) => ({ kind: 'group', statistic: { count: state.count, values: statistic(state) } }),
    encode: (state) => new StateWriter().integer(format).integer(dimension).integer(state.count).doubles(state.mean).finish(),
    decode(bytes) {
      const reader = new StateReader(bytes);
      reader.expect(format, 'format');
      reader.expect(dimension, 'dimension');
      const count = reader.integer();
      const mean = reader.doubles(dimension);
      reader.end();
      return { count, mean };
    },
  };
}
