import { assert } from '../../base/assert.js';
import { sharedDoubles } from '../../numerics/kernels/shared.js';
import type { PointSet } from '../../numerics/points.js';
import type { Finished, PooledRows, Summary } from '../contract/estimator.js';
import { ChunkedRows } from './chunks.js';
import { readState, writerOf } from './codec.js';
import { sortedCopy, sortInPlace, type TaggedRows } from './tag-order.js';

/** Rows as they arrived, in buffers that double. */
export interface RowsState extends TaggedRows {
  /**
   * For rows that were taken over: fills in tags when they are needed. Such a state is finished
   * once.
   */
  draw?: (into: BigUint64Array) => void;
}

const format = 0x4b_52_4f_31;
const firstCapacity = 4;

/** Shared when the platform allows it, so that workers read large epochs without a copy. */
function doublesOfSize(length: number): Float64Array {
  return length >= 1 << 14 ? sharedDoubles(length) : new Float64Array(length);
}

function grow(state: RowsState, rows: number, dimension: number): void {
  if (rows <= state.tags.length) return;
  const capacity = Math.max(rows, 2 * state.tags.length, firstCapacity);
  const values = doublesOfSize(capacity * dimension);
  values.set(state.values.subarray(0, state.count * dimension));
  const tags = new BigUint64Array(capacity);
  tags.set(state.tags.subarray(0, state.count));
  state.values = values;
  state.tags = tags;
}

/**
 * The rows in order of tag, and of value among equal tags, so that arrival order does not matter.
 */
function sortedRows(state: RowsState, dimension: number): PooledRows {
  return { count: state.count, dimension, ...sortedCopy(state, dimension, doublesOfSize) };
}

/**
 * Which pools of rows come in order of arrival, for releases that do not depend on it. They need no
 * sorted copy.
 */
export interface Unsorted {
  /** Pools of at most this many rows. */
  readonly upTo: number;
  /** True if they have tags. Those of rows that were taken over are drawn when they are needed. */
  readonly tagged: boolean;
}

function pooledRows(state: RowsState, dimension: number, unsorted: Unsorted): PooledRows {
  const { count, draw } = state;
  const isScratch = draw !== undefined;
  const values = state.values.subarray(0, count * dimension);
  const isSorted = count > unsorted.upTo;
  if (!isSorted) {
    const tags = unsorted.tagged && !isScratch
      ? state.tags.subarray(0, count)
      : new BigUint64Array(0);
    const drawTags = unsorted.tagged ? draw : undefined;
    return {
      count, dimension, values, tags, isScratch, ...(drawTags === undefined ? {} : { drawTags }),
    };
  }
  if (!isScratch) return sortedRows(state, dimension);
  const tags = new BigUint64Array(count);
  draw(tags);
  sortInPlace(values, dimension, tags);
  return { count, dimension, values, tags, isScratch };
}

const noRows = (): RowsState => ({
  count: 0, values: new Float64Array(0), tags: new BigUint64Array(0),
});

function appendRow(state: RowsState, row: Float64Array, tag: bigint, dimension: number): RowsState {
  assert(row.length === dimension, 'a row has the dimension of its summary');
  grow(state, state.count + 1, dimension);
  state.values.set(row, state.count * dimension);
  state.tags[state.count] = tag;
  state.count += 1;
  return state;
}

/** The rows of both; neither argument changes. */
function mergeRows(left: RowsState, right: RowsState, dimension: number): RowsState {
  const merged: RowsState = { count: left.count, values: left.values, tags: left.tags };
  grow(merged, left.count + right.count, dimension);
  if (merged.values === left.values) {
    merged.values = left.values.slice();
    merged.tags = left.tags.slice();
  }
  merged.values.set(right.values.subarray(0, right.count * dimension), left.count * dimension);
  merged.tags.set(right.tags.subarray(0, right.count), left.count);
  merged.count = left.count + right.count;
  return merged;
}

/** The methods that summaries which keep their rows have in common. */
function keepsRows(
  dimension: number,
): Pick<Summary<RowsState>, 'empty' | 'add' | 'merge' | 'encode' | 'decode'> {
  const form = { format, dimension };
  return {
    empty: noRows,
    add: (state, row, tag) => appendRow(state, row, tag, dimension),
    merge: (left, right) => mergeRows(left, right, dimension),
    encode: ({ count, tags, values }) => writerOf(form).integer(count)
      .words(tags.subarray(0, count)).doubles(values.subarray(0, count * dimension)).finish(),
    decode: (bytes) => readState(bytes, form, (reader) => {
      const count = reader.integer();
      const tags = reader.words(count);
      return { count, tags, values: reader.doubles(count * dimension) };
    }),
  };
}

/**
 * Keeps every row, for pooled arms. O(n d) memory. `finish` sorts by tag. Rows that were taken
 * over are sorted in place, and the release may overwrite them.
 * @param unsorted - default: all pools come in order of tag, with their tags.
 */
export function rowsSummary(
  dimension: number, unsorted: Unsorted = { upTo: -1, tagged: true },
): Summary<RowsState> {
  return {
    ...keepsRows(dimension),
    adopt: (values, count, draw) => ({ count, values, tags: new BigUint64Array(0), draw }),
    finish: (state) => ({ kind: 'pooled', rows: pooledRows(state, dimension, unsorted) }),
  };
}

/**
 * Keeps the rows of small groups, all in one table, and reduces each to one vector at the end.
 * @param statistic - deterministic and total: any rows, also none, give a finite vector of a fixed
 *   length.
 */
export function groupRowsSummary(
  dimension: number, statistic: (rows: PointSet) => Float64Array,
): Summary<TaggedRows> {
  return {
    ...keepsRows(dimension),
    table: (groups) => new ChunkedRows(groups, dimension),
    finish(state): Finished {
      const rows = sortedRows(state, dimension);
      return { kind: 'group', statistic: { count: rows.count, values: statistic(rows) } };
    },
  };
}
