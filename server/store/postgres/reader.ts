import { systemClock, type Clock } from '../../base/clock.js';
import type { LedgerEntry, Store } from '../contract.js';
import { lastDeclined, ledgerEntries, readBalances } from '../rules/budgets.js';
import { readQuarantines } from '../rules/quarantines.js';
import type { Steps } from '../rules/steps.js';
import { readStudies } from '../rules/studies.js';
import { Connections } from './connection.js';
import type { PostgresPlace } from './place.js';
import { checkDatabase } from './schema.js';
import { leftOutTally } from './tallies.js';

/**
 * Reads for the operator beside running servers: records and counts. It never reads rows or
 * secrets. Of contributors it reads only the quarantined keys.
 */
export interface PostgresReader extends Pick<Store,
  'studies' | 'balances' | 'ledgerEntries' | 'leftOutCount' | 'close'>,
  Required<Pick<Store, 'quarantines' | 'rollbacks'>> {
  /** The newest epoch that did not fit the budget; null when all did. */
  lastDeclined(budgetKey: string): Promise<LedgerEntry | null>;
}

/**
 * Opens a store for reading, whether or not servers have it open. A standby will do.
 * @throws StorageError when the database cannot be reached, has no store, or one of another
 *   version.
 */
export async function openPostgresReader(
  place: PostgresPlace, clock: Clock = systemClock,
): Promise<PostgresReader> {
  const connections = await Connections.open(place, 2);
  try {
    await connections.use((session) => checkDatabase(session, 'read'));
  } catch (error) {
    await connections.close();
    throw error;
  }
  const read = <T>(steps: () => Steps<T>): Promise<T> =>
    connections.use((session) =>
      session.transaction('ISOLATION LEVEL REPEATABLE READ READ ONLY', () =>
        session.perform(steps())));
  return {
    studies: () => read(readStudies),
    balances: () => read(() => readBalances(clock.nowMs())),
    ledgerEntries: (...which) => read(() => ledgerEntries(...which)),
    lastDeclined: (key) => read(() => lastDeclined(key)),
    quarantines: (studyId, limit) => read(() => readQuarantines(studyId, limit)),
    // A store in PostgreSQL has no mark to be behind of.
    rollbacks: async () => [],
    leftOutCount: (studyId, epoch) => read(() => leftOutTally(studyId, epoch)),
    close: () => connections.close(),
  };
}
