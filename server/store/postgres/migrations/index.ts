import { initialSchema } from './0001-initial.js';
import { columnComments } from './column-comments.js';
import { initialFunctions } from './functions.js';

/**
 * Schema steps in order. Step i raises the schema version in `meta` from i to i + 1. A released
 * step is never edited: a change is a new numbered file at the end.
 */
export const migrations: readonly string[] =
  [`${initialSchema}${columnComments(initialSchema)}${initialFunctions}`];
