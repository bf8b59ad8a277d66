import { assert } from '../../../base/assert.js';
import type { Sensitive } from '../../../base/brands.js';
import type { ArmPlan, FinishedSummaries, Summary } from '../../contract/estimator.js';
import { onlyStatistic } from '../../contract/finished.js';
import { readState, writerOf, type StateReader } from '../../summaries/codec.js';

/**
 * A counting query keeps how many contributors of an epoch are in which bin. Memory is O(bins). A
 * contributor is one row (after reduction), and a row is in at most one bin, whatever it holds.
 * Every sensitivity of this folder rests on these two facts.
 */
export const cohortName = 'contributors';

/** One summary of everybody. Counts add up, so groups would gain nothing. */
export const wholeArm: ArmPlan = {
  name: cohortName, share: 1, unit: 'row', mode: 'disjoint', groups: 1,
};

/** Public and pure: the bin of a finite row, a whole number; null when the row is in no bin. */
export type BinOf = (row: ArrayLike<number>) => number | null;

/** Rows per bin; whole numbers, exact in doubles. */
export interface CountsState {
  readonly counts: Float64Array;
}

/** Counts of a public list of bins, 0..bins-1. The statistic is the vector of counts. */
export function countsSummary(dimension: number, bins: number, binOf: BinOf): Summary<CountsState> {
  const form = { format: 0x4b_43_4e_31, dimension };
  return {
    untagged: true,
    exact: true,
    empty: () => ({ counts: new Float64Array(bins) }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      const bin = binOf(row);
      if (bin === null) return state;
      assert(Number.isInteger(bin) && bin >= 0 && bin < bins, 'a row is in one of the bins');
      state.counts[bin]! += 1;
      return state;
    },
    addRows({ counts }, values, count) {
      const row = new Float64Array(dimension);
      for (let i = 0, at = 0; i < count; i++) {
        for (let j = 0; j < dimension; j++) row[j] = values[at++]!;
        const bin = binOf(row);
        if (bin === null) continue;
        assert(Number.isInteger(bin) && bin >= 0 && bin < bins, 'a row is in one of the bins');
        counts[bin]! += 1;
      }
    },
    merge: (left, right) =>
      ({ counts: left.counts.map((count, bin) => count + right.counts[bin]!) }),
    finish: ({ counts }) =>
      ({ kind: 'group', statistic: { count: totalOf(counts), values: counts.slice() } }),
    encode: ({ counts }) => writerOf(form).integer(bins).doubles(counts).finish(),
    decode: (bytes) => readState(bytes, form, (reader) => {
      reader.expect(bins, 'number of bins');
      return { counts: checked(reader, reader.doubles(bins)) };
    }),
  };
}

/** Rows per bin that anybody is in. */
export type OpenCountsState = Map<number, number>;

/**
 * Counts of bins that are not listed beforehand. The statistic lists bin, count, bin, count ... in
 * order of the bins. Its length depends on the data, so it stays inside `Sensitive` until a stable
 * histogram has drawn.
 */
export function openCountsSummary(dimension: number, binOf: BinOf): Summary<OpenCountsState> {
  const form = { format: 0x4b_43_4f_31, dimension };
  return {
    untagged: true,
    exact: true,
    empty: () => new Map(),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      const bin = binOf(row);
      return bin === null ? state : countInto(state, bin, 1);
    },
    merge(left, right) {
      const merged = new Map(left);
      for (const [bin, count] of right) countInto(merged, bin, count);
      return merged;
    },
    finish(state) {
      const count = totalOf(Float64Array.from(state.values()));
      return { kind: 'group', statistic: { count, values: flattened(state) } };
    },
    encode: (state) => writerOf(form).integer(state.size).doubles(flattened(state)).finish(),
    decode: (bytes) => readState(bytes, form, (reader) => {
      const state = pairsOf(reader.doubles(2 * reader.integer()));
      checked(reader, [...state.values()]);
      return state;
    }),
  };
}

/** The vector of counts of `countsSummary`. */
export function countsOf(summaries: FinishedSummaries): Sensitive<Float64Array> {
  return onlyStatistic(summaries, cohortName).map(({ values }) => values);
}

/** The counts of `openCountsSummary` by bin. */
export function openCountsOf(summaries: FinishedSummaries): Sensitive<ReadonlyMap<number, number>> {
  return countsOf(summaries).map(pairsOf);
}

function countInto(state: OpenCountsState, bin: number, count: number): OpenCountsState {
  return state.set(bin, (state.get(bin) ?? 0) + count);
}

function flattened(state: OpenCountsState): Float64Array {
  return Float64Array.from([...state].sort(([left], [right]) => left - right).flat());
}

function pairsOf(values: Float64Array): Map<number, number> {
  const state = new Map<number, number>();
  for (let i = 0; i < values.length; i += 2) state.set(values[i]!, values[i + 1]!);
  return state;
}

function totalOf(counts: Float64Array): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function checked<Counts extends Iterable<number>>(reader: StateReader, counts: Counts): Counts {
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  if ([...counts].every(isCount)) return counts;
  return reader.fail('holds a count that is not a whole number');
}
