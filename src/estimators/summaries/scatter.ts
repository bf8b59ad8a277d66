import {
  addToScatter, emptyScatter, mergeScatter, ScatterTable, triangleSize, type Scatter,
} from '../../numerics/scatter.js';
import type { Summary } from '../contract/estimator.js';
import { runningSummary } from './running.js';

/**
 * Count, mean and scatter of a group in O(d^2) memory, one pass: all that a group covariance needs.
 * The scatter is around the group's own mean, so rows need not be paired to be centred. One
 * contributor changes one group and no more than its statistic, so pairs would only halve the data.
 * Replay in the same order is bit-identical. Another order agrees to 1e-9 of the spread.
 *
 * @param statistic - what the group reports, total on every count, from the scatter.
 */
export function scatterSummary(
  dimension: number, statistic: (scatter: Scatter) => Float64Array,
): Summary<Scatter> {
  return runningSummary(dimension, statistic, {
    format: 0x4b_53_43_31,
    empty: () => emptyScatter(dimension),
    add: addToScatter,
    table: (groups) => new ScatterTable(groups, dimension),
    merge: mergeScatter,
    write: (writer, { mean, upper }) => writer.doubles(mean).doubles(upper),
    read: (reader, count) => ({
      count, mean: reader.doubles(dimension), upper: reader.doubles(triangleSize(dimension)),
    }),
  });
}
