import { systemClock, type Clock } from '../../base/clock.js';
import type { LedgerEntry, Store } from '../contract.js';
import { lastDeclined, ledgerEntries, readBalance, readBalances } from '../rules/budgets.js';
import { noSecrets, type GroupSecrets } from '../rules/epoch-tables.js';
import type { Steps } from '../rules/steps.js';
import { openForReading } from './connection.js';
import { leftOutCount, readEpoch, unfinishedEpochs } from '../rules/epochs.js';
import { asStoreError } from './failures.js';
import { readQuarantines } from '../rules/quarantines.js';
import { Queries } from './query.js';
import { readReleases } from './releases.js';
import { readRollbacks } from './rollback.js';
import { readStudies, readStudy } from '../rules/studies.js';

/**
 * Reads for the operator beside a running server: records and counts. It never reads rows or
 * secrets. Of contributors it reads only the quarantined keys.
 */
export interface SqliteReader extends Pick<Store,
  'study' | 'studies' | 'epoch' | 'unfinishedEpochs' | 'balance' | 'balances' | 'ledgerEntries'
    | 'leftOutCount'
  | 'releases' | 'close'>, Required<Pick<Store, 'quarantines' | 'rollbacks'>> {
  /** The newest epoch that did not fit the budget; null when all did. */
  lastDeclined(budgetKey: string): Promise<LedgerEntry | null>;
}

// eslint-disable-next-line require-yield -- A reader reads no secrets.
function* withoutSecrets(): Steps<GroupSecrets> { return noSecrets; }

/**
 * Opens a data folder for reading, whether or not a server has it open. Each call sees one
 * consistent state; the secrets in epoch records are left empty.
 * @throws StorageError when there is no store there, or its schema is another version.
 */
export async function openSqliteReader(
  directory: string, clock: Clock = systemClock,
): Promise<SqliteReader> {
  const database = openForReading(directory);
  const queries = new Queries(database);
  const read = async <T>(action: () => T): Promise<T> => {
    try {
      return action();
    } catch (error) {
      throw asStoreError(error);
    }
  };
  return {
    study: (studyId) => read(() => queries.perform(readStudy(studyId))),
    studies: () => read(() => queries.perform(readStudies())),
    epoch: (...which) => read(() => queries.perform(readEpoch(...which, withoutSecrets))),
    unfinishedEpochs: () => read(() => queries.perform(unfinishedEpochs(withoutSecrets))),
    balance: (key) => read(() => queries.perform(readBalance(key, clock.nowMs()))),
    balances: () => read(() => queries.perform(readBalances(clock.nowMs()))),
    ledgerEntries: (...which) => read(() => queries.perform(ledgerEntries(...which))),
    lastDeclined: (key) => read(() => queries.perform(lastDeclined(key))),
    rollbacks: () => read(() => readRollbacks(queries)),
    leftOutCount: (studyId, epoch) => read(() => queries.perform(leftOutCount(studyId, epoch))),
    quarantines: (studyId, limit) => read(() => queries.perform(readQuarantines(studyId, limit))),
    releases: (...which) => read(() => readReleases(queries, ...which)),
    close: async () => { database.close(); },
  };
}
