import { assert } from '../../base/assert.js';
import { addToMoments, emptyMoments, mergeMoments, type Moments } from '../../numerics/moments.js';
import type { Summary } from '../contract.js';
import { StateReader, StateWriter } from './codec.js';

const format = 0x4b_4d_4e_31;

/**
 * Count, mean and squared deviations of a group in O(d) memory, one pass.
 * Replay in the same order is bit-identical; another order agrees to 1e-9 of the spread and place.
 *
 * @param statistic - what the group reports, total on every count, from the moments.
 */
export function meanSummary(
  dimension: number,
  statistic: (moments: Moments) => Float64Array,
): Summary<Moments> {
  return {
    untagged: true,
    empty: () => emptyMoments(dimension),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      addToMoments(state, row);
      return state;
    },
    merge: mergeMoments,
    finish: (state) => ({ kind: 'group', statistic: { count: state.count, values: statistic(state) } }),
    encode: (state) => new StateWriter().integer(format).integer(dimension).integer(state.count)
      .doubles(state.mean).doubles(state.squares).finish(),
    decode(bytes) {
      const reader = new StateReader(bytes);
      reader.expect(format, 'format');
      reader.expect(dimension, 'dimension');
      const count = reader.integer();
      const mean = reader.doubles(dimension);
      const squares = reader.doubles(dimension);
      reader.end();
      return { count, mean, squares };
    },
  };
}
