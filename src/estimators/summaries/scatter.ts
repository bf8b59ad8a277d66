import { assert } from '../../base/assert.js';
import { addToScatter, emptyScatter, mergeScatter, ScatterTable, triangleSize, type Scatter } from '../../numerics/scatter.js';
import type { Summary } from '../contract/estimator.js';
import { StateReader, StateWriter } from './codec.js';

const format = 0x4b_53_43_31;

/**
 * Count, mean and scatter of a group in O(d^2) memory, one pass: all that a group covariance needs, and nothing that
 * grows with the group. The group's own mean is taken off exactly, so rows need not be paired to be centred: where
 * one contributor changes one group and no more than a group's statistic is asked for, pairs would only halve the data.
 * Replay in the same order is bit-identical; another order agrees to 1e-9 of the spread.
 *
 * @param statistic - what the group reports, total on every count, from the scatter.
 */
export function scatterSummary(dimension: number, statistic: (scatter: Scatter) => Float64Array): Summary<Scatter> {
  return {
    untagged: true,
    empty: () => emptyScatter(dimension),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      addToScatter(state, row);
      return state;
    },
    table: (groups) => new ScatterTable(groups, dimension),
    merge: mergeScatter,
    finish: (state) => ({ kind: 'group', statistic: { count: state.count, values: statistic(state) } }),
    encode: (state) => new StateWriter().integer(format).integer(dimension).integer(state.count)
      .doubles(state.mean).doubles(state.upper).finish(),
    decode(bytes) {
      const reader = new StateReader(bytes);
      reader.expect(format, 'format');
      reader.expect(dimension, 'dimension');
      const count = reader.integer();
      const mean = reader.doubles(dimension);
      const upper = reader.doubles(triangleSize(dimension));
      reader.end();
      return { count, mean, upper };
    },
  };
}
