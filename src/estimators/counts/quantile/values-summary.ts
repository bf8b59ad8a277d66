import { assert } from '../../../base/assert.js';
import type { Sensitive } from '../../../base/brands.js';
import { sortNumbers } from '../../../numerics/sorting.js';
import type { FinishedSummaries, Summary } from '../../contract/estimator.js';
import { onlyStatistic } from '../../contract/finished.js';
import { readState, writerOf } from '../../summaries/codec.js';
import { cohortName } from '../tables/counts.js';

/** The values of some columns as they arrived, each in a buffer that doubles. */
export interface ValuesState {
  count: number;
  values: Float64Array[];
}

const firstCapacity = 16;

/**
 * Keeps the values of some columns. The statistic lists those of one column after the other, each
 * in ascending order: which contributor a value is of, and when it arrived, is gone. Memory: 8
 * bytes a contributor and column.
 */
export function valuesSummary(
  dimension: number, columns: readonly number[],
): Summary<ValuesState> {
  const form = { format: 0x4b_56_41_31, dimension };
  const sorted = ({ count, values }: ValuesState): Float64Array => {
    const all = new Float64Array(columns.length * count);
    for (const [j, own] of values.entries()) {
      const part = all.subarray(j * count, (j + 1) * count);
      part.set(own.subarray(0, count));
      sortNumbers(part);
    }
    return all;
  };
  return {
    untagged: true,
    // Values are kept, not added, so no sum is rounded.
    exact: true,
    empty: () => ({ count: 0, values: columns.map(() => new Float64Array(firstCapacity)) }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      const { count, values } = state;
      for (let j = 0; j < columns.length; j++) {
        if (count === values[j]!.length) values[j] = enlarged(values[j]!, 2 * count);
        values[j]![count] = row[columns[j]!]!;
      }
      state.count += 1;
      return state;
    },
    addRows(state, rows, count) {
      const due = state.count + count;
      for (const [j, column] of columns.entries()) {
        let room = state.values[j]!.length;
        while (room < due) room *= 2;
        if (room > state.values[j]!.length) state.values[j] = enlarged(state.values[j]!, room);
        const own = state.values[j]!;
        for (let i = 0, at = column; i < count; i++, at += dimension) {
          own[state.count + i] = rows[at]!;
        }
      }
      state.count = due;
    },
    merge(left, right) {
      const count = left.count + right.count;
      const values = columns.map((_, j) => {
        const own = new Float64Array(Math.max(firstCapacity, count));
        own.set(left.values[j]!.subarray(0, left.count));
        own.set(right.values[j]!.subarray(0, right.count), left.count);
        return own;
      });
      return { count, values };
    },
    finish: (state) =>
      ({ kind: 'group', statistic: { count: state.count, values: sorted(state) } }),
    encode: (state) => writerOf(form).integer(state.count).doubles(sorted(state)).finish(),
    decode: (bytes) => readState(bytes, form, (reader) => {
      const count = reader.integer();
      const all = reader.doubles(columns.length * count);
      if (!all.every(Number.isFinite)) reader.fail('holds a value that is not finite');
      const values = columns.map((_, j) =>
        enlarged(all.subarray(j * count, (j + 1) * count), Math.max(firstCapacity, count)));
      return { count, values };
    }),
  };
}

function enlarged(values: Float64Array, capacity: number): Float64Array {
  const larger = new Float64Array(capacity);
  larger.set(values);
  return larger;
}

/** The values of `valuesSummary`: of each column in turn, ascending. */
export function valuesOf(
  summaries: FinishedSummaries, columns: number,
): Sensitive<readonly Float64Array[]> {
  return onlyStatistic(summaries, cohortName).map(({ count, values }) =>
    Array.from({ length: columns }, (_, j) => values.subarray(j * count, (j + 1) * count)));
}
