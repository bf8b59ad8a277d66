import { assert } from '../../base/assert.js';
import type { Summary } from '../contract/estimator.js';
import { readState, writerOf, type StateReader, type StateWriter } from './codec.js';

/** How rows of a group are added up in memory that does not grow with the group. */
export interface RunningState<State extends { readonly count: number }>
  extends Pick<Required<Summary<State>>, 'empty' | 'table' | 'merge'> {
  /** Format of the encoded state. */
  readonly format: number;
  /** Changes the state. */
  add(state: State, row: Float64Array): void;
  /** Writes everything but the count. */
  write(writer: StateWriter, state: State): void;
  read(reader: StateReader, count: number): State;
}

/**
 * The summary of a group that is one vector of running numbers. It does not look at tags.
 * @param statistic - what the group reports, total on every count.
 */
export function runningSummary<State extends { readonly count: number }>(
  dimension: number, statistic: (state: State) => Float64Array, running: RunningState<State>,
): Summary<State> {
  const { format, empty, table, merge } = running;
  const form = { format, dimension };
  return {
    untagged: true,
    empty,
    table,
    merge,
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      running.add(state, row);
      return state;
    },
    finish: (state) =>
      ({ kind: 'group', statistic: { count: state.count, values: statistic(state) } }),
    encode(state) {
      const writer = writerOf(form).integer(state.count);
      running.write(writer, state);
      return writer.finish();
    },
    decode: (bytes) => readState(bytes, form, (reader) => running.read(reader, reader.integer())),
  };
}
