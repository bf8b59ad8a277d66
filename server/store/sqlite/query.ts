import type Database from 'better-sqlite3';
import {
  DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Compilable,
} from 'kysely';
import type { Tables } from './tables.js';

/**
 * Kysely only writes typed SQL here. Its own SQLite driver answers through promises, so another
 * call could run inside an open transaction. better-sqlite3 is synchronous: the compiled text runs
 * on it directly, and a transaction is one uninterrupted function call.
 */
export const sql = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * Runs compiled queries on one connection. Each text is prepared once; the set of texts is fixed.
 */
export class Queries {
  readonly #statements = new Map<string, Database.Statement>();

  constructor(readonly database: Database.Database) {}

  all<Row>(query: Compilable<Row>): Row[] {
    const { sql: text, parameters } = query.compile();
    return this.#statement(text).all(...parameters) as Row[];
  }

  first<Row>(query: Compilable<Row>): Row | undefined {
    const { sql: text, parameters } = query.compile();
    return this.#statement(text).get(...parameters) as Row | undefined;
  }

  /**
   * Reads rows one at a time, because they may be large. No other call may use the connection then.
   */
  iterate<Row>(query: Compilable<Row>): IterableIterator<Row> {
    const { sql: text, parameters } = query.compile();
    return this.#statement(text).iterate(...parameters) as IterableIterator<Row>;
  }

  run(query: Compilable): Database.RunResult {
    const { sql: text, parameters } = query.compile();
    return this.#statement(text).run(...parameters);
  }

  /** One write transaction. Committed and durable on return; rolled back when `action` throws. */
  transaction<T>(action: () => T): T {
    return this.database.transaction(action).immediate();
  }

  #statement(text: string): Database.Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

/** A plain view of a blob that better-sqlite3 returned as a Buffer. */
export function plainBytes(blob: Uint8Array): Uint8Array {
  return new Uint8Array(blob.buffer, blob.byteOffset, blob.byteLength);
}
