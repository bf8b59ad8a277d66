import { tagOf } from './assignment.js';
import type { Summary, SummaryTable } from '../contract/estimator.js';

/** The table of a summary that has none of its own: one state after another. */
export function statesTable<State>(summary: Summary<State>, groups: number): SummaryTable<State> {
  const states = Array.from({ length: groups }, () => summary.empty());
  const isTagged = summary.untagged !== true;
  return {
    add(group, row, assignmentHash) {
      states[group] = summary.add(states[group]!, row, isTagged ? tagOf(assignmentHash) : 0n);
    },
    ...(summary.addRows !== undefined && {
      addRows: (group: number, values: Float64Array, count: number) =>
        summary.addRows!(states[group]!, values, count),
    }),
    state: (group) => states[group]!,
    merge(group, state) {
      states[group] = summary.merge(states[group]!, state);
    },
    put(group, state) {
      states[group] = state;
    },
  };
}
