import type { AdmissionRequest, AdmissionResult, Store } from '../contract.js';
import { openEngine, type Engine } from './engine.js';
import type { Caller } from './caller.js';
import { storeOver } from './facade.js';
import type { NamedMethod } from './messages.js';
import type { SqliteStoreOptions } from './open.js';

/**
 * Opens the store on the calling thread, for tests and simulation. Every `admit` is its own commit,
 * and there are no timers.
 * @throws StorageError as openSqliteStore.
 */
export async function openInlineSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const engine = openEngine(options.directory, options.clock, options.acceptRollback);
  return storeOver(new InlineCaller(engine), options.clock);
}

/** The engine on the calling thread, behind promises. */
class InlineCaller implements Caller {
  constructor(readonly engine: Engine) {}

  async call(method: NamedMethod, args: readonly unknown[]): Promise<unknown> {
    return (this.engine[method] as (...args: readonly unknown[]) => unknown)(...args);
  }

  async admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> {
    return this.engine.admit(batches);
  }

  async close(): Promise<void> {
    this.engine.close();
  }
}
