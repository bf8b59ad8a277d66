import { systemClock } from '../../base/clock.js';
import { StorageError } from '../../../src/base/errors.js';
import { Connections } from '../postgres/connection.js';
import { createJournal } from '../postgres/epoch-tables.js';
import type { PostgresPlace } from '../postgres/place.js';
import { keyOfToday } from '../postgres/encryption-key-turns.js';
import { EncryptionKeys } from '../postgres/encryption-keys.js';
import type { Session } from '../postgres/session.js';
import { namePostgresStore } from '../postgres/status.js';
import { openDataFolder, openForReading } from '../sqlite/connection.js';
import type { Connection } from '../sqlite/driver.js';
import { openEngine } from '../sqlite/engine.js';
import { markMoved, movedTo } from '../sqlite/moved.js';
import { compareRows, copyRows } from './copied-rows.js';
import { movedTables, type MovedTable } from './moved-tables.js';
import { sealedTables } from './sealed-tables.js';

/** A store that was moved. */
export interface Import {
  /** Names the store in PostgreSQL, see `PostgresStatus.store`. */
  readonly store: string;
  /** Rows of each table. Null when the folder was moved before, and nothing was done. */
  readonly rows: Readonly<Record<string, number>> | null;
}

/** Tables whose numbers the database assigns, and the column of the numbers. */
const numbered = {
  budgets: 'budget_id', studies: 'study_key', epochs: 'epoch_key', ledger: 'entry_id',
  rollbacks: 'rollback',
} as const;

/** Positions and new contributors are numbered by blocks of this size: see admission.ts. */
const blockNumbers = 2n ** 26n;

/**
 * Moves the store of a data folder into PostgreSQL: budgets, ledger, studies, logs, replay windows
 * and rows. The open epoch goes on where it stands. The tables must be there, and be empty. Rows
 * and secrets are sealed on their way.
 *
 * Claim 1: either all is in the database, or nothing. It is one transaction, and each row is read
 * back and compared before it is committed.
 * Claim 2: no budget can be spent in both. The folder is marked, durably, before the transaction
 * is committed, and no server opens a marked folder. If the outcome of the commit is not known, or
 * the process dies, the folder stays marked, and the same call finds out: it says that all is
 * there, or does it again.
 * Claim 3: a server on the database does not see a part of it. A registration waits for the lock
 * that this transaction holds.
 *
 * Time: some 30 us for each row of a table, and 10 ms for each MB of rows of contributors.
 * @param encryptionKeys see `PostgresStoreOptions`.
 * @throws StorageError data-folder-in-use when a server has the folder open; storage-failed when
 *   there is no store in it, it was moved into another store, the database has a store with
 *   studies, or cannot be used.
 * @example
 * const place = { url: 'postgres://keelson@db/keelson' };
 * const { rows } = await importFolder('keelson-data', place, 'keelson-data/row-keys');
 */
export async function importFolder(
  directory: string, place: PostgresPlace, encryptionKeys: string,
): Promise<Import> {
  const keys = EncryptionKeys.open(encryptionKeys);
  const before = movedBefore(directory);
  const store = await namePostgresStore(place);
  // The checks of a start: the ledger, and that the folder was not set back.
  if (before === null) openEngine(directory, systemClock).close();
  else if (before !== store) throw new StorageError(`the studies of ${directory} were moved to the `
    + `store ${before}, and this is ${store}: give the address of that store`,
  'storage-failed', { details: { directory, store: before } });
  const folder = openDataFolder(directory, { mayBeMoved: true });
  const connections = await Connections.open(place, 1);
  let isMarked = false;
  try {
    const rows = await connections.use((session) => session.transaction('', async () => {
      if (await isImported(session, before !== null)) return null;
      const counts = await copyAll(session, folder.database, keys);
      markMoved(folder.database, store);
      isMarked = true;
      return counts;
    }));
    return { store, rows };
  } catch (error) {
    if (!isMarked) throw error;
    throw new StorageError(`${(error as Error).message}. It is not known whether all was moved: `
      + 'run the same command again. Until then no server opens the data folder',
    'storage-failed', { retryable: true, cause: error });
  } finally {
    await connections.close();
    folder.close();
  }
}

/** The store that the folder was moved to. @throws StorageError when there is no store in it. */
function movedBefore(directory: string): string | null {
  const database = openForReading(directory);
  try {
    return movedTo(database);
  } finally {
    database.close();
  }
}

/**
 * Keeps registrations out until the transaction ends.
 * @returns whether an import of this folder is already there.
 * @throws StorageError when the store is in use.
 */
async function isImported(session: Session, wasTried: boolean): Promise<boolean> {
  await session.text('SELECT pg_advisory_xact_lock(gate_class(), 0)');
  const [found] = await session.text<{ readonly imported: boolean; readonly used: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'imported') AS imported,
      EXISTS (SELECT 1 FROM budgets) OR EXISTS (SELECT 1 FROM contributors) AS used`);
  if (wasTried && found!.imported) return true;
  if (found!.used) throw new StorageError('the database has a store with studies: a data folder is '
    + 'moved into an empty one. Make one with keelson store init and another store.schema of '
    + '--settings');
  return false;
}

async function copyAll(
  session: Session, database: Connection, keys: EncryptionKeys,
): Promise<Readonly<Record<string, number>>> {
  const { row_key: encryptionKey, name } = await keyOfToday(session, keys);
  const key = keys.read(name);
  const tables = sealedTables(movedTables(database), database, { encryptionKey, key });
  const counts: Record<string, number> = {};
  for (const table of tables) {
    await createIfJournal(session, table);
    counts[table.name] = await copyRows(session, table);
  }
  await continueNumbers(session, tables);
  for (const table of tables) await compareRows(session, table);
  await session.text("INSERT INTO meta (name, value) VALUES ('imported', 1)");
  return counts;
}

async function createIfJournal(session: Session, { name }: MovedTable): Promise<void> {
  const epochKey = /^journal_(\d+)$/.exec(name)?.[1];
  if (epochKey !== undefined) await session.perform(createJournal(BigInt(epochKey)));
}

/** The next numbers that the database assigns are larger than the moved ones. */
async function continueNumbers(session: Session, tables: readonly MovedTable[]): Promise<void> {
  for (const [table, column] of Object.entries(numbered)) {
    await session.text(`SELECT setval(pg_get_serial_sequence($1, $2), max(${column}))
      FROM ${table} HAVING max(${column}) > 0`, [table, column]);
  }
  let last = 0n;
  for (const { name, key: [column] } of tables) {
    if (name !== 'contributors' && !name.startsWith('journal_')) continue;
    const [row] = await session.text<{ readonly last: bigint | null }>(
      `SELECT max(${column}) AS last FROM ${name}`);
    if ((row!.last ?? 0n) > last) last = row!.last!;
  }
  await session.text("SELECT setval('list_numbers', $1)", [last / blockNumbers + 1n]);
}
