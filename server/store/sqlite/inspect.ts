import { StorageError } from '../../../src/base/errors.js';
import { verifyLedger } from '../rules/budgets.js';
import { newestTime } from '../rules/clock-repair.js';
import { openForReading } from './connection.js';
import type { Connection } from './driver.js';
import { asStoreError } from './failures.js';
import { readMark } from './mark.js';
import { Queries } from './query.js';

/** The facts about a data folder that can be read while its server runs. */
export interface Inspection {
  /** Faults of the database and of its ledger; empty when it is whole. */
  readonly faults: readonly string[];
  /** The newest time stamp, in Unix milliseconds; null when there is none. */
  readonly newestMs: number | null;
  /** True if the high-water mark is there. */
  readonly hasMark: boolean;
}

/**
 * Reads the whole database once and checks that its pages fit together, and that the ledger's
 * entries add up to its totals. Changes nothing.
 * Its time grows with the database: about a second for each gigabyte in memory.
 * @throws StorageError when there is no store there, or its schema is another version.
 */
export function inspectStore(directory: string): Inspection {
  let database: Connection | undefined;
  try {
    database = openForReading(directory);
    // One state of the database, whatever its server writes meanwhile.
    database.exec('BEGIN');
    const rows = database.prepare<[], { readonly quick_check: string }>('PRAGMA quick_check(20)')
      .all();
    const faults = rows.map((row) => row.quick_check).filter((text) => text !== 'ok');
    const queries = new Queries(database);
    return {
      faults: faults.length > 0 ? faults : faultsOfLedger(queries),
      newestMs: queries.perform(newestTime()),
      hasMark: readMark(directory) !== null,
    };
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database?.close();
  }
}

function faultsOfLedger(queries: Queries): string[] {
  try {
    queries.perform(verifyLedger());
    return [];
  } catch (error) {
    if (error instanceof StorageError) return [error.message];
    throw error;
  }
}
