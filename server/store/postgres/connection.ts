import { Socket } from 'node:net';
import type { Pool, PoolClient, PoolConfig } from 'pg';
import { InvalidParameterError, KeelsonError, StorageError } from '../../../src/base/errors.js';
import { asStoreError, isStalePlan, PostgresFailure } from './failures.js';
import type { PostgresPlace } from './place.js';
import { Session, StatementNames } from './session.js';

type Pg = { readonly Pool: new (config: PoolConfig) => Pool };

/**
 * Settings of every connection. All queries of the store find few rows by an index. While a table
 * is new the planner does not know yet that it is large, so these settings disable other plans. A
 * transaction that waits for a dead or frozen client is ended, since it may hold the gate, or keep
 * others from its lease.
 */
const settings = [
  'enable_hashjoin=off', 'enable_mergejoin=off', 'enable_seqscan=off', 'jit=off',
  'idle_in_transaction_session_timeout=5s', 'client_min_messages=warning', 'DateStyle=ISO',
];

const connectTimeoutMs = 10_000;
/** A query without an answer for this long counts as lost: a cut network reports nothing. */
const queryTimeoutMs = 60_000;

/**
 * Loads the optional package.
 * @throws StorageError when it is not installed.
 */
async function loadPg(): Promise<Pg> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    throw new StorageError('a store in PostgreSQL needs the package pg, which is not installed: '
      + 'run npm install pg', 'storage-failed', { cause });
  }
}

/** The connections of one store. */
export class Connections {
  readonly #names = new StatementNames();
  /** Connections that `#check` has passed. */
  readonly #checked = new WeakSet<PoolClient>();
  #check: ((session: Session) => Promise<void>) | undefined;
  #isCut = false;

  /** @param hearing where news are heard. */
  private constructor(
    private readonly pool: Pool, private readonly hearing: Pool, readonly schema: string,
    private readonly sockets: ReadonlySet<Socket>,
  ) {
    // A connection that breaks is replaced. Its user gets the error from its query, and would get
    // it a second time as an event, which ends the process if there is no listener.
    for (const each of new Set([pool, hearing])) {
      each.on('error', () => undefined);
      each.on('connect', (client) => { client.on('error', () => undefined); });
    }
  }

  /**
   * Connects nothing yet.
   * @param most connections at once.
   */
  static async open({ url, direct, schema = 'keelson' }: PostgresPlace, most: number):
  Promise<Connections> {
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
      throw new InvalidParameterError('the name of a schema has up to 63 lower-case '
        + 'letters, digits and _, and does not begin with a digit');
    }
    const { Pool: PoolOf } = await loadPg();
    const sockets = new Set<Socket>();
    const stream = (): Socket => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    };
    const options = [`search_path=${schema}`, ...settings].map((each) => `-c ${each}`).join(' ');
    try {
      const poolAt = (connectionString: string, max: number): Pool => new PoolOf({
        connectionString, max, options, application_name: 'keelson',
        connectionTimeoutMillis: connectTimeoutMs, query_timeout: queryTimeoutMs, keepAlive: true,
        stream,
      });
      const pool = poolAt(url, most);
      return new Connections(pool, direct === undefined ? pool : poolAt(direct, 1), schema,
        sockets);
    } catch {
      // The text of the cause could hold the password.
      throw new InvalidParameterError('the address of the store cannot be read: write '
        + 'postgres://user@host/database');
    }
  }

  /**
   * Checks each connection before it is used next. An action on a connection that does not pass
   * rejects with the error of the check.
   */
  checkEach(check: (session: Session) => Promise<void>): void {
    this.#check = check;
  }

  /**
   * Runs an action on a connection of its own. A connection with an open transaction is closed, so
   * that no other action finds it.
   * @throws KeelsonError: errors of the database are typed.
   */
  async use<T>(action: (session: Session) => Promise<T>): Promise<T> {
    if (this.#isCut) {
      throw new KeelsonError('closed', 'the server ended while its database did not answer');
    }
    let client: PoolClient;
    try {
      client = await this.pool.connect();
    } catch (error) {
      throw asStoreError(error);
    }
    const session = new Session(client, this.#names);
    try {
      if (this.#check !== undefined && !this.#checked.has(client)) {
        await this.#check(session);
        this.#checked.add(client);
      }
      const result = await action(session);
      client.release();
      return result;
    } catch (error) {
      if (isStalePlan(error)) this.#names.renew();
      const typed = asStoreError(error);
      const isLost = typed instanceof PostgresFailure && typed.kind === 'lost';
      client.release(session.isDirty || isLost);
      throw typed;
    }
  }

  /**
   * Listens to news_channel() on a connection of its own. A first message is sent to it, so that
   * `onNews` is called at least once wherever news arrive.
   * @param onLost called once when the connection ends by itself.
   * @returns a function that ends it.
   */
  async hear(onNews: () => void, onLost: () => void): Promise<() => void> {
    const client = await this.hearing.connect();
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      client.release(true);
    };
    client.on('error', () => {
      if (!isOver) onLost();
      end();
    });
    try {
      const { rows } = await client.query<{ channel: string }>('SELECT news_channel() AS channel');
      client.on('notification', onNews);
      await client.query(`LISTEN ${rows[0]!.channel}`);
      // By another connection: a pooler may deliver a connection's own messages.
      await this.use((session) => session.text("SELECT pg_notify(news_channel(), '')"));
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** Ends every connection, with the queries that wait on it, and makes no other. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  /** The number of bytes that have come on each connection so far. */
  heard(): ReadonlyMap<Socket, number> {
    return new Map([...this.sockets].map((socket) => [socket, socket.bytesRead]));
  }

  /**
   * Ends each connection on which nothing has come since `heard`, with the queries that wait on it.
   */
  cutSilent(heard: ReadonlyMap<Socket, number>): void {
    for (const [socket, bytes] of heard) {
      if (socket.bytesRead === bytes) socket.destroy();
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
    if (this.hearing !== this.pool) await this.hearing.end();
    // A farewell on a connection that is silent would keep the process for minutes.
    for (const socket of this.sockets) socket.unref();
  }
}

/** A connection to a database, and the name of the schema in it. */
export interface Connected {
  readonly session: Session;
  readonly schema: string;
}

/** Runs an action on one connection. @throws KeelsonError: errors of the database are typed. */
export async function connected<T>(
  place: PostgresPlace, action: (context: Connected) => Promise<T>,
): Promise<T> {
  const connections = await Connections.open(place, 1);
  try {
    return await connections.use((session) => action({ session, schema: connections.schema }));
  } finally {
    await connections.close();
  }
}
