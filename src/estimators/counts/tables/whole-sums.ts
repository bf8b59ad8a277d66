import { assert } from '../../../base/assert.js';
import type { Sensitive } from '../../../base/brands.js';
import type { FinishedSummaries, Summary } from '../../contract/estimator.js';
import { onlyStatistic } from '../../contract/finished.js';
import { readState, writerOf } from '../../summaries/codec.js';
import { cohortName } from './counts.js';

/** Sums of whole numbers, and the number of rows that were added. */
export interface WholeSumsState {
  readonly sums: Float64Array;
  rows: number;
}

/** Adds a finite row's whole numbers to the sums. It reads nothing but the row. */
export type AddWhole = (row: ArrayLike<number>, sums: Float64Array) => void;

/**
 * Sums of whole numbers, `entries` of them. The statistic is the vector of sums.
 *
 * Whole numbers add up exactly in doubles up to 2^53. So a sum does not depend on the order of rows
 * or on how summaries are merged, and one contributor changes it by exactly what it added. A sum of
 * floating-point numbers has neither property. An entry that adds at most 2^20 stays exact for
 * 8e9 contributors.
 */
export function wholeSumsSummary(
  dimension: number, entries: number, addWhole: AddWhole,
): Summary<WholeSumsState> {
  const form = { format: 0x4b_57_53_31, dimension };
  return {
    untagged: true,
    exact: true,
    empty: () => ({ sums: new Float64Array(entries), rows: 0 }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      addWhole(row, state.sums);
      state.rows += 1;
      return state;
    },
    addRows(state, values, count) {
      const row = new Float64Array(dimension);
      for (let i = 0, at = 0; i < count; i++) {
        for (let j = 0; j < dimension; j++) row[j] = values[at++]!;
        addWhole(row, state.sums);
      }
      state.rows += count;
    },
    merge: (left, right) => ({
      sums: left.sums.map((sum, i) => sum + right.sums[i]!), rows: left.rows + right.rows,
    }),
    finish: ({ sums, rows }) =>
      ({ kind: 'group', statistic: { count: rows, values: sums.slice() } }),
    encode: ({ sums, rows }) =>
      writerOf(form).integer(rows).integer(entries).doubles(sums).finish(),
    decode: (bytes) => readState(bytes, form, (reader) => {
      const rows = reader.integer();
      reader.expect(entries, 'number of sums');
      const sums = reader.doubles(entries);
      if (!sums.every(Number.isSafeInteger)) reader.fail('holds a sum that is not a whole number');
      return { sums, rows };
    }),
  };
}

/** The vector of sums of `wholeSumsSummary`. */
export function wholeSumsOf(summaries: FinishedSummaries): Sensitive<Float64Array> {
  return onlyStatistic(summaries, cohortName).map(({ values }) => values);
}
