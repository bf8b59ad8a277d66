import { systemClock, type Clock } from '../../base/clock.js';
import type { LedgerEntry, Store } from '../contract.js';
import { lastDeclined, ledgerEntries, readBalance, readBalances } from './budgets.js';
import { openForReading } from './connection.js';
import { leftOutCount, readEpoch, unfinishedEpochs } from './epochs.js';
import { asStoreError } from './failures.js';
import { readQuarantines } from './quarantines.js';
import { Queries } from './query.js';
import { readRollbacks } from './rollback.js';
import { readReleases, readStudies, readStudy } from './studies.js';

/**
 * What the operator may read beside a running server: records and counts. It never reads rows or
 * secrets. Of contributors it reads only the quarantined keys.
 */
export interface SqliteReader extends Pick<Store,
  'study' | 'studies' | 'epoch' | 'unfinishedEpochs' | 'balance' | 'balances' | 'ledgerEntries'
    | 'leftOutCount'
  | 'releases' | 'close'>, Required<Pick<Store, 'quarantines' | 'rollbacks'>> {
  /** The newest epoch that did not fit the budget; null when all did. */
  lastDeclined(budgetKey: string): Promise<LedgerEntry | null>;
}

const noSecrets = () => ({ assignmentKey: new Uint8Array(0), workSeed: new Uint8Array(0) });

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
    study: (studyId) => read(() => readStudy(queries, studyId)),
    studies: () => read(() => readStudies(queries)),
    epoch: (studyId, epoch) => read(() => readEpoch(queries, studyId, epoch, noSecrets)),
    unfinishedEpochs: () => read(() => unfinishedEpochs(queries, noSecrets)),
    balance: (key) => read(() => readBalance(queries, key, clock.nowMs())),
    balances: () => read(() => readBalances(queries, clock.nowMs())),
    ledgerEntries: (key, limit) => read(() => ledgerEntries(queries, key, limit)),
    lastDeclined: (key) => read(() => lastDeclined(queries, key)),
    rollbacks: () => read(() => readRollbacks(queries)),
    leftOutCount: (studyId, epoch) => read(() => leftOutCount(queries, studyId, epoch)),
    quarantines: (studyId, limit) => read(() => readQuarantines(queries, studyId, limit)),
    releases: (...which) => read(() => readReleases(queries, ...which)),
    close: async () => { database.close(); },
  };
}
