import type { Compilable } from 'kysely';
import type { Steps } from '../rules/steps.js';
import { transaction, type Connection, type Statement } from './driver.js';

/**
 * Runs compiled queries on one connection. Each text is prepared once; the set of texts is fixed.
 * Kysely's own SQLite driver answers through promises, so another call could run inside an open
 * transaction. The connections here are synchronous: a transaction is one uninterrupted function
 * call.
 */
export class Queries {
  readonly #statements = new Map<string, Statement>();

  constructor(readonly database: Connection) {}

  /** Runs a part of a transaction. Outside of one, each of its queries is its own. */
  perform<T>(steps: Steps<T>): T {
    let step = steps.next();
    while (step.done !== true) step = steps.next(this.#rows(step.value));
    return step.value;
  }

  all<Row>(query: Compilable<Row>): Row[] {
    return this.#rows(query) as Row[];
  }

  first<Row>(query: Compilable<Row>): Row | undefined {
    return this.#rows(query)[0] as Row | undefined;
  }

  run(query: Compilable): void {
    this.#rows(query);
  }

  /**
   * Reads rows one at a time, because they may be large. No other call may use the connection then.
   */
  iterate<Row>(query: Compilable<Row>): IterableIterator<Row> {
    const { sql: text, parameters } = query.compile();
    return this.#statement(text).iterate(...parameters) as IterableIterator<Row>;
  }

  /** One write transaction. Committed and durable on return; rolled back when `action` throws. */
  transaction<T>(action: () => T): T {
    return transaction(this.database, action);
  }

  #rows(query: Compilable): unknown[] {
    const { sql: text, parameters } = query.compile();
    const statement = this.#statement(text);
    if (statement.reader) return statement.all(...parameters);
    statement.run(...parameters);
    return [];
  }

  #statement(text: string): Statement {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}
