import type { Store } from '../contract.js';
import { ledgerEntries, readBalance, readBalances } from './budgets.js';
import { openForReading } from './connection.js';
import { readEpoch, unfinishedEpochs } from './epochs.js';
import { asStoreError } from './failures.js';
import { Queries } from './query.js';
import { readReleases, readStudies, readStudy } from './studies.js';

/** What may be read beside a running server: public records and epoch states; never rows, contributors or secrets. */
export type SqliteReader = Pick<Store,
  'study' | 'studies' | 'epoch' | 'unfinishedEpochs' | 'balance' | 'balances' | 'ledgerEntries' | 'releases' | 'close'>;

const noSecrets = () => ({ assignmentKey: new Uint8Array(0), workSeed: new Uint8Array(0) });

/**
 * Opens a data folder for reading, whether or not a server has it open. Each call sees one consistent
 * state; the secrets in epoch records are left empty.
 * @throws StorageError when there is no store there, or its schema is another version.
 */
export async function openSqliteReader(directory: string): Promise<SqliteReader> {
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
    balance: (key) => read(() => readBalance(queries, key)),
    balances: () => read(() => readBalances(queries)),
    ledgerEntries: (key, limit) => read(() => ledgerEntries(queries, key, limit)),
    releases: (studyId, from, limit) => read(() => readReleases(queries, studyId, from, limit)),
    close: async () => { database.close(); },
  };
}
