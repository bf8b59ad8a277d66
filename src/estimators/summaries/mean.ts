import type { Summary, SummaryTable } from '../contract/estimator.js';
import { runningSummary } from './running.js';

/** Rows and mean of a group. */
export interface GroupMean {
  count: number;
  readonly mean: Float64Array;
}

/**
 * Moves the mean at `offset` of `means` by the `count`-th row: Welford's recurrence without the
 * squares, which no group reports. Accurate far from the origin.
 */
function moveMean(means: Float64Array, offset: number, row: Float64Array, count: number): void {
  for (let j = 0; j < row.length; j++) {
    const before = means[offset + j]!;
    means[offset + j] = before + (row[j]! - before) / count;
  }
}

/**
 * The mean of both sets together, as Chan, Golub and LeVeque merge them; neither argument changes.
 */
function mergeMeans(left: GroupMean, right: GroupMean): GroupMean {
  const count = left.count + right.count;
  const share = count === 0 ? 0 : right.count / count;
  return { count, mean: left.mean.map((entry, j) => entry + (right.mean[j]! - entry) * share) };
}

/** All groups in two arrays, so that adding a row makes no object. */
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
 * Replay in the same order is bit-identical. Another order agrees to 1e-9 of spread and place.
 *
 * @param statistic - what the group reports, total on every count, from the mean.
 */
export function meanSummary(
  dimension: number, statistic: (group: GroupMean) => Float64Array,
): Summary<GroupMean> {
  return runningSummary(dimension, statistic, {
    format: 0x4b_4d_4e_32,
    empty: () => ({ count: 0, mean: new Float64Array(dimension) }),
    add(state, row) {
      state.count += 1;
      moveMean(state.mean, 0, row, state.count);
    },
    table: (groups) => meanTable(groups, dimension),
    merge: mergeMeans,
    write: (writer, { mean }) => writer.doubles(mean),
    read: (reader, count) => ({ count, mean: reader.doubles(dimension) }),
  });
}
