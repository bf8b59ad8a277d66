import { createRequire } from 'node:module';
import process from 'node:process';
import type BetterSqlite from 'better-sqlite3';
import { codeOf, StorageError } from '../../../src/base/errors.js';

/*
 * Newer versions of Node come with SQLite (`node:sqlite`: 22.16, 24 and later), so no compiler is
 * needed there. Older ones take the package better-sqlite3, which users add. Both are synchronous
 * and hold the same SQLite. The store uses them through `Connection`.
 */

/** Parameters by place, or an object with parameters by name. */
type Parameters = readonly unknown[] | object;

/** The arguments of a statement: by place or by name. */
type Arguments<Bound extends Parameters> = Bound extends readonly unknown[] ? Bound : [Bound];

/** A prepared statement. Integers are read as bigint. */
export interface Statement<Bound extends Parameters = readonly unknown[], Row = unknown> {
  /** True if the statement returns rows. */
  readonly reader: boolean;
  all(...parameters: Arguments<Bound>): Row[];
  get(...parameters: Arguments<Bound>): Row | undefined;
  iterate(...parameters: Arguments<Bound>): IterableIterator<Row>;
  run(...parameters: Arguments<Bound>): {
    readonly changes: number | bigint; readonly lastInsertRowid: number | bigint;
  };
}

/** An open database. */
export interface Connection {
  prepare<Bound extends Parameters = readonly unknown[], Row = unknown>(
    text: string,
  ): Statement<Bound, Row>;
  exec(text: string): unknown;
  close(): unknown;
}

/** Options for opening a database. */
export interface ConnectionOptions {
  readonly readonly?: boolean;
  /** The time that a statement waits for a lock, in milliseconds; default 5,000. */
  readonly timeout?: number;
}

/** Opens a database file, and makes it if it is absent and may be written. */
type Open = (path: string, options: ConnectionOptions) => Connection;

/** Node's own module, as far as it is used here. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: object) => {
    prepare(text: string): NodeStatement;
    exec(text: string): void;
    close(): void;
  };
  readonly StatementSync: { readonly prototype: Partial<NodeStatement> };
}

type NodeStatement = Omit<Statement, 'reader'> & {
  columns(): readonly unknown[];
  setReadBigInts(are: boolean): void;
};

const require = createRequire(import.meta.url);
let open: Open | undefined;

/**
 * Opens a database file.
 * @throws StorageError storage-failed when this Node has no SQLite and better-sqlite3 is not
 *   installed.
 */
export function connect(path: string, options: ConnectionOptions = {}): Connection {
  open ??= nodeSqlite() ?? betterSqlite();
  return open(path, options);
}

function betterSqlite(): Open {
  let Database: typeof BetterSqlite;
  try {
    Database = require('better-sqlite3') as typeof BetterSqlite;
    // Only this loads the compiled code.
    new Database(':memory:').close();
  } catch (cause) {
    const isMissing = codeOf(cause) === 'MODULE_NOT_FOUND';
    throw new StorageError(
      `Node ${process.versions.node} has no SQLite of its own that Keelson can use, and `
      + `better-sqlite3 ${isMissing ? 'is not installed' : 'does not load in it'}: use Node 24, or `
      + 'run `npm install better-sqlite3` where Keelson is installed, which may need a C++ '
      + 'compiler', 'storage-failed', { cause });
  }
  return (path, { readonly = false, timeout = 5_000 }) => {
    const database = new Database(path, { readonly, fileMustExist: readonly, timeout });
    database.defaultSafeIntegers(true);
    return database as Connection;
  };
}

/** Undefined where Node has none, or an early one that cannot tell which statements return rows. */
function nodeSqlite(): Open | undefined {
  let module: NodeSqlite;
  try {
    module = withoutWarning(() => require('node:sqlite') as NodeSqlite);
  } catch {
    return undefined;
  }
  if (module.StatementSync.prototype.columns === undefined) return undefined;
  return (path, { readonly = false, timeout = 5_000 }) => {
    const database = new module.DatabaseSync(path, {
      readOnly: readonly, enableForeignKeyConstraints: false,
    });
    database.exec(`PRAGMA busy_timeout = ${timeout}`);
    return {
      prepare: (text: string) => bindable(database.prepare(text)),
      exec: (text: string) => database.exec(text),
      close: () => database.close(),
    } as Connection;
  };
}

/** No bytes, at an address. Node binds bytes without an address as NULL. */
const noBytes = new Uint8Array(new ArrayBuffer(1), 0, 0);

const bound = (parameter: unknown): unknown =>
  (parameter instanceof Uint8Array && parameter.length === 0 ? noBytes : parameter);

function bindable(statement: NodeStatement): Statement {
  statement.setReadBigInts(true);
  return {
    reader: statement.columns().length > 0,
    all: (...parameters) => statement.all(...parameters.map(bound)),
    get: (...parameters) => statement.get(...parameters.map(bound)),
    iterate: (...parameters) => statement.iterate(...parameters.map(bound)),
    run: (...parameters) => statement.run(...parameters.map(bound)),
  };
}

/** Node prints on standard error that the module is new. The log there has other readers. */
function withoutWarning<T>(action: () => T): T {
  const warn = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return action();
  } finally {
    process.emitWarning = warn;
  }
}

/**
 * Sets or reads a setting of the connection.
 * @returns the first value of the first row; undefined when there is none.
 */
export function pragma(connection: Connection, text: string): unknown {
  const statement = connection.prepare<[], Record<string, unknown>>(`PRAGMA ${text}`);
  const row = statement.reader ? statement.get() : void statement.run();
  return row === undefined ? undefined : Object.values(row)[0];
}

const inTransaction = new WeakSet<Connection>();

/**
 * One write transaction. Committed and durable on return; rolled back when `action` throws. Within
 * another transaction it is a part of that one, and can be rolled back alone.
 */
export function transaction<T>(connection: Connection, action: () => T): T {
  const isPart = inTransaction.has(connection);
  connection.exec(isPart ? 'SAVEPOINT part' : 'BEGIN IMMEDIATE');
  inTransaction.add(connection);
  try {
    const result = action();
    connection.exec(isPart ? 'RELEASE part' : 'COMMIT');
    return result;
  } catch (error) {
    // After some errors SQLite has ended the transaction itself: then this does nothing.
    try {
      connection.exec(isPart ? 'ROLLBACK TO part; RELEASE part' : 'ROLLBACK');
    } catch {
      // The first error names the cause.
    }
    throw error;
  } finally {
    if (!isPart) inTransaction.delete(connection);
  }
}

/** The names of SQLite's primary result codes that the store distinguishes. */
const names: Readonly<Record<number, string>> = {
  1: 'ERROR', 5: 'BUSY', 6: 'LOCKED', 7: 'NOMEM', 8: 'READONLY', 10: 'IOERR', 11: 'CORRUPT',
  13: 'FULL', 14: 'CANTOPEN', 17: 'SCHEMA', 18: 'TOOBIG', 19: 'CONSTRAINT', 20: 'MISMATCH',
  21: 'MISUSE', 25: 'RANGE', 26: 'NOTADB',
};

/** SQLite's code of an error of either driver, such as `SQLITE_BUSY`; undefined for others. */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number') {
    // The low byte is the primary code.
    return `SQLITE_${names[errcode & 0xff] ?? errcode}`;
  }
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}
