import { assert } from '../../../base/assert.js';
import type { Sensitive } from '../../../base/brands.js';
import type { FinishedSummaries, Summary } from '../../contract/estimator.js';
import { onlyStatistic } from '../../contract/finished.js';
import { readState, writerOf } from '../../summaries/codec.js';
import { cohortName } from '../tables/counts.js';

/** The values of one column as they arrived, in a buffer that doubles. */
export interface ValuesState {
  count: number;
  values: Float64Array;
}

const firstCapacity = 16;

/**
 * Keeps the values of one column. The statistic lists them in ascending order: which contributor a
 * value is of, and when it arrived, is gone. Memory: 8 bytes a contributor.
 */
export function valuesSummary(dimension: number, column: number): Summary<ValuesState> {
  const form = { format: 0x4b_56_41_31, dimension };
  const sorted = ({ count, values }: ValuesState): Float64Array => values.slice(0, count).sort();
  return {
    untagged: true,
    // Values are kept, not added, so no sum is rounded.
    exact: true,
    empty: () => ({ count: 0, values: new Float64Array(firstCapacity) }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      if (state.count === state.values.length) {
        const larger = new Float64Array(2 * state.count);
        larger.set(state.values);
        state.values = larger;
      }
      state.values[state.count] = row[column]!;
      state.count += 1;
      return state;
    },
    merge(left, right) {
      const count = left.count + right.count;
      const values = new Float64Array(Math.max(firstCapacity, count));
      values.set(left.values.subarray(0, left.count));
      values.set(right.values.subarray(0, right.count), left.count);
      return { count, values };
    },
    finish: (state) =>
      ({ kind: 'group', statistic: { count: state.count, values: sorted(state) } }),
    encode: (state) => writerOf(form).integer(state.count).doubles(sorted(state)).finish(),
    decode: (bytes) => readState(bytes, form, (reader) => {
      const count = reader.integer();
      const values = reader.doubles(count);
      if (!values.every(Number.isFinite)) reader.fail('holds a value that is not finite');
      return { count, values: count === 0 ? new Float64Array(firstCapacity) : values };
    }),
  };
}

/** The values of `valuesSummary`, ascending. */
export function valuesOf(summaries: FinishedSummaries): Sensitive<Float64Array> {
  return onlyStatistic(summaries, cohortName).map(({ values }) => values);
}
