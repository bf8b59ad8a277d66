import { initialSchema } from './0001-initial.js';
import { nodesSchema } from './0002-nodes.js';
import { askedLeasesSchema } from './0003-asked-leases.js';
import { keyRoomsSchema } from './0004-key-rooms.js';
import { rowKeysSchema } from './0005-row-keys.js';
import { epochSlicesSchema } from './0006-epoch-slices.js';
import { nodeProgramsSchema } from './0007-node-programs.js';
import { peopleSchema } from './0008-people.js';
import { pureSchema } from './0009-pure.js';
import { gaussianRuleSchema } from './0010-gaussian-rule.js';
import { columnComments } from './column-comments.js';

/** One step of the schema. */
export interface Migration {
  readonly sql: string;
  /**
   * The oldest version whose programs may run on the result, beside newer ones. It is below the
   * version of the step only if the step, and the functions that come with it, leave alone what
   * these programs call, read and write, and if newer programs can use what these ones write.
   */
  readonly leastProgram: number;
}

const step = (schema: string, leastProgram: number): Migration =>
  ({ sql: `${schema}${columnComments(schema)}`, leastProgram });

/**
 * Schema steps in order. Step i raises the schema version in `meta` from i to i + 1. A released
 * step is never edited: a change is a new numbered file at the end. A step that changes the
 * parameters of a function drops it; the functions of today come after all steps. Programs from
 * before version 7 start on their own version only. Those that run already go on.
 */
export const migrations: readonly Migration[] = [
  step(initialSchema, 1),
  // The right to lead moves from the whole database to budgets, and functions are dropped.
  step(nodesSchema, 2),
  // A column that older programs do not fill: they never ask for a lease.
  step(askedLeasesSchema, 2),
  // admit_list has other parameters.
  step(keyRoomsSchema, 4),
  // Rows are sealed. Older programs would write and read them in the clear.
  step(rowKeysSchema, 5),
  // Older programs would purge an epoch and leave the summaries of its slices.
  step(epochSlicesSchema, 6),
  // A column that older programs leave at its default.
  step(nodeProgramsSchema, 6),
  // admit_list has other parameters.
  step(peopleSchema, 8),
  // Older programs would charge without the pure sum, so it would be too small.
  step(pureSchema, 9),
  // Older programs do not know the rule, nor what its amounts are.
  step(gaussianRuleSchema, 10),
];

/** The version of the schema that this program writes, and its own number in `nodes.program`. */
export const ownVersion = migrations.length;
