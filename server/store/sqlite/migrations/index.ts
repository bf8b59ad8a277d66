import { initialSchema } from './0001-initial.js';
import { windowsSchema } from './0002-windows.js';
import { quarantineSchema } from './0003-quarantine.js';
import { keyRotationsSchema } from './0004-key-rotations.js';
import { newKeysSchema } from './0005-new-keys.js';
import { withdrawalsSchema } from './0006-withdrawals.js';
import { rollbacksSchema } from './0007-rollbacks.js';
import { newKeyPeriodsSchema } from './0008-new-key-periods.js';
import { runningSchema } from './0009-running.js';
import { keyRoomsSchema } from './0010-key-rooms.js';
import { peopleSchema } from './0011-people.js';
import { pureSchema } from './0012-pure.js';
import { gaussianRuleSchema } from './0013-gaussian-rule.js';

/** The step after which `fillPure` runs, in its transaction. */
export const pureStep = pureSchema;

/**
 * Schema steps in order. Step i raises `user_version` from i to i + 1. A released step is never
 * edited: a change is a new numbered file at the end.
 */
export const migrations: readonly string[] = [
  initialSchema, windowsSchema, quarantineSchema, keyRotationsSchema, newKeysSchema,
  withdrawalsSchema, rollbacksSchema, newKeyPeriodsSchema, runningSchema, keyRoomsSchema,
  peopleSchema, pureSchema, gaussianRuleSchema,
];
