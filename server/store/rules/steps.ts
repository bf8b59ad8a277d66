import {
  DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, type Compilable,
} from 'kysely';
import type { Tables } from './tables.js';

/**
 * A part of a transaction: it yields queries, gets the rows of each, and returns a result. It has
 * no connection, so one text is the rule of every store. SQLite runs it in one uninterrupted call,
 * PostgreSQL waits for each query.
 */
export type Steps<T> = Generator<Compilable, T, readonly unknown[]>;

/**
 * Builds typed queries. Each store compiles them for its own dialect; no driver runs behind this.
 */
export const sql = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

export function* all<Row>(query: Compilable<Row>): Steps<Row[]> {
  return (yield query) as Row[];
}

export function* first<Row>(query: Compilable<Row>): Steps<Row | undefined> {
  return (yield query)[0] as Row | undefined;
}

/** For a query whose rows are not read. */
export function* run(query: Compilable): Steps<void> {
  yield query;
}

/** A plain view of bytes that a driver returned as a Buffer. */
export function plainBytes(blob: Uint8Array): Uint8Array {
  return new Uint8Array(blob.buffer, blob.byteOffset, blob.byteLength);
}
