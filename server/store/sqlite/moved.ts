import { StorageError } from '../../../src/base/errors.js';
import type { Connection } from './driver.js';

/*
 * A data folder whose store was moved into PostgreSQL has the name of that store in `meta`. Its
 * budgets and logs go on there. If a server went on here as well, each budget could be spent twice.
 */

/** The store that a folder was moved to; null when it was not. */
export function movedTo(database: Connection): string | null {
  const row = database.prepare<[], { readonly value: bigint }>(
    "SELECT value FROM meta WHERE name = 'moved_to'").get();
  return row === undefined ? null : BigInt.asUintN(64, row.value).toString(16);
}

/** Durable on return. @param store the name, up to 16 hexadecimal digits. */
export function markMoved(database: Connection, store: string): void {
  database.prepare("INSERT OR REPLACE INTO meta (name, value) VALUES ('moved_to', ?)")
    .run(BigInt.asIntN(64, BigInt(`0x${store}`)));
}

/** @throws StorageError when the folder was moved. */
export function refuseMoved(database: Connection, directory: string): void {
  const store = movedTo(database);
  if (store === null) return;
  throw new StorageError(`the studies of ${directory} were moved to the PostgreSQL store ${store}: `
    + 'serve them with --store. If keelson store import was interrupted, run it again first',
  'storage-failed', { details: { directory, store } });
}
