import type { ClientBase, QueryConfig } from 'pg';
import { PostgresQueryCompiler, type Compilable, type OperationNodeSource } from 'kysely';
import { all, type Steps } from '../rules/steps.js';

const int8 = 20;
const int4 = 23;
const int2 = 21;
const bytea = 17;

/** Integers are read as bigint, as the rules expect; amounts as text, so that none is rounded. */
const textTypes = {
  getTypeParser: (type: number) => (value: string): unknown => {
    if (type === int8 || type === int4 || type === int2) return BigInt(value);
    if (type === bytea) return Buffer.from(value.slice(2), 'hex');
    if (type === 701) return Number(value);
    return type === 16 ? value === 't' : value;
  },
};

const compiler = new PostgresQueryCompiler();

/** Names of prepared statements, by their texts. The set of texts is fixed. */
export class StatementNames {
  readonly #names = new Map<string, string>();
  #count = 0;

  of(text: string): string {
    let name = this.#names.get(text);
    if (name === undefined) {
      this.#count += 1;
      name = `k${this.#count}`;
      this.#names.set(text, name);
    }
    return name;
  }

  /** A migration has added columns: every statement is prepared again, under another name. */
  renew(): void {
    this.#names.clear();
  }
}

/** One connection, for one action. */
export class Session {
  /** True if a transaction is open. */
  isDirty = false;

  constructor(
    private readonly client: ClientBase, private readonly names: StatementNames,
  ) {}

  /** Rows of a query that the rules wrote. */
  query<Row>(query: Compilable<Row>): Promise<Row[]> {
    const node = (query as unknown as OperationNodeSource).toOperationNode();
    const { sql: text, parameters } =
      compiler.compileQuery(node as Parameters<typeof compiler.compileQuery>[0], { queryId: '0' });
    return this.text<Row>(text, parameters);
  }

  /** Runs a part of a transaction. Outside of one, each of its queries is its own. */
  async perform<T>(steps: Steps<T>): Promise<T> {
    let step = steps.next();
    while (step.done !== true) step = steps.next(await this.query(step.value));
    return step.value;
  }

  /** Rows of a prepared statement. The same text is parsed once on each connection. */
  text<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#rows({ text, name: this.#nameOf(text), values: [...values], types: textTypes });
  }

  /** Statements without rows or values, separated by semicolons. */
  async execute(text: string): Promise<void> {
    await this.client.query(text);
  }

  /** A transaction; rolled back when the action throws. @param mode the words after BEGIN. */
  async transaction<T>(mode: string, action: () => Promise<T>): Promise<T> {
    this.isDirty = true;
    await this.execute(`BEGIN ${mode}`);
    try {
      const result = await action();
      await this.execute('COMMIT');
      this.isDirty = false;
      return result;
    } catch (error) {
      await this.execute('ROLLBACK').then(() => { this.isDirty = false; }, () => undefined);
      throw error;
    }
  }

  async #rows<Row>(config: unknown): Promise<Row[]> {
    return (await this.client.query(config as QueryConfig)).rows as Row[];
  }

  #nameOf(text: string): string | undefined {
    // Each epoch has its own journal, and with it its own text: none is kept.
    return text.includes('journal_') ? undefined : this.names.of(text);
  }
}

/** A query of this store's own text, as a step. */
export function* statement(text: RawText): Steps<unknown[]> {
  return yield* all(text as unknown as Compilable<unknown>);
}

/** The result of the builder's template for whole statements. */
export type RawText = OperationNodeSource;
