import { initialSchema } from './0001-initial.js';
import { nodesSchema } from './0002-nodes.js';
import { askedLeasesSchema } from './0003-asked-leases.js';
import { keyRoomsSchema } from './0004-key-rooms.js';
import { rowKeysSchema } from './0005-row-keys.js';
import { epochSlicesSchema } from './0006-epoch-slices.js';
import { columnComments } from './column-comments.js';

/**
 * Schema steps in order. Step i raises the schema version in `meta` from i to i + 1. A released
 * step is never edited: a change is a new numbered file at the end. A step that changes the
 * parameters of a function drops it; the functions of today come after all steps.
 */
export const migrations: readonly string[] =
  [initialSchema, nodesSchema, askedLeasesSchema, keyRoomsSchema, rowKeysSchema,
    epochSlicesSchema]
    .map((schema) => `${schema}${columnComments(schema)}`);
