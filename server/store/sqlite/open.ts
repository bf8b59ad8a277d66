import type { Clock } from '../../base/clock.js';
import type { Store } from '../contract.js';
import { storeOver } from './facade.js';
import { GroupCommit } from '../group-commit.js';
import { WhileFull } from './while-full.js';
import { WorkerCaller } from './worker-caller.js';

/** The folder that a store opens, and its clock. */
export interface SqliteStoreOptions {
  /** The data folder; created with mode 0700 when absent. One writer at a time. */
  readonly directory: string;
  readonly clock: Clock;
  /**
   * Also opens a database that lacks charges or releases of this folder, so that `acceptRollback`
   * can be called on it. Default: such a folder is refused.
   */
  readonly acceptRollback?: boolean;
  /**
   * The store stays while the disk is full (while-full.ts), and calls this when that begins, with
   * the cause, and with null when it has room again. Default: a call that finds no room fails.
   */
  readonly onFull?: (why: string | null) => void;
}

/**
 * Opens the store on a thread of its own, with group commit, as `serve` does.
 * @throws StorageError data-folder-in-use, data-folder-rolled-back, schema-too-new, or
 *   storage-failed when the folder cannot be written.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, clock, acceptRollback = false, onFull } = options;
  const worker = await WorkerCaller.open(directory, acceptRollback);
  const caller = onFull === undefined
    ? worker : new WhileFull(worker, { clock, onChange: onFull });
  return storeOver(
    caller, clock, new GroupCommit(clock, (batches) => caller.admit(batches)),
  );
}
