import { afterAll, beforeAll, describe } from 'vitest';
import {
  databaseName, noPostgres, programs, psql, startPrivatePostgres, type PostgresServer,
  type PrivatePostgres,
} from '../../cli/demo/cluster/private-postgres.js';

export { psql, startPrivatePostgres, type PostgresServer, type PrivatePostgres };

/**
 * The address of a running server, for machines where none can be started. `none`: there is no
 * PostgreSQL, whatever is installed.
 */
const given = process.env['KEELSON_TEST_POSTGRES'];

const remedy = `${noPostgres}. Or put the address of a running server into KEELSON_TEST_POSTGRES: `
  + 'postgres://user:password@host/db';

/** Set by `npm run test:postgres`. */
const isAsked = process.env['KEELSON_TEST_NEEDS_POSTGRES'] === '1';

/** True if suites on PostgreSQL can run here. */
export const hasPostgres = given !== 'none' && (given !== undefined || programs !== null);
const canStart = given !== 'none' && programs !== null;

if (!hasPostgres && !isAsked) {
  process.stdout.write(`suites on PostgreSQL are skipped: ${remedy}\n`);
}

/**
 * A suite with a server of its own. It is skipped where there is no PostgreSQL; under
 * `npm run test:postgres` it fails there.
 */
export function describePostgres(
  name: string, suite: (server: () => PostgresServer) => void, tags: string[] = [],
): void {
  describeServer(name, suite, startPostgres, hasPostgres, tags);
}

/** The same for suites that kill the server. A running server that was given does not do. */
export function describePrivatePostgres(
  name: string, suite: (server: () => PrivatePostgres) => void, tags: string[] = [],
): void {
  describeServer(name, suite, startPrivatePostgres, canStart, tags);
}

function describeServer<T extends PostgresServer>(
  name: string, suite: (server: () => T) => void, start: () => Promise<T>, isPossible: boolean,
  tags: string[],
): void {
  if (!hasPostgres && isAsked) throw new Error(remedy);
  describe.skipIf(!isPossible)(name, { tags }, () => {
    let server: T | undefined;
    beforeAll(async () => { server = await start(); });
    afterAll(async () => { await server?.stop(); });
    suite(() => server!);
  });
}

/** Starts a private server, or takes the one that the environment names. */
export function startPostgres(): Promise<PostgresServer> {
  return given === undefined ? startPrivatePostgres() : Promise.resolve(new GivenPostgres(given));
}

class GivenPostgres implements PostgresServer {
  readonly #databases: string[] = [];

  constructor(private readonly address: string) {}

  url(database: string): string {
    const url = new URL(this.address);
    url.pathname = database;
    return url.href;
  }

  async createDatabase(): Promise<string> {
    const name = databaseName();
    await psql(this.address, `create database ${name}`);
    this.#databases.push(name);
    return this.url(name);
  }

  async stop(): Promise<void> {
    for (const name of this.#databases.splice(0)) {
      await psql(this.address, `drop database ${name} with (force)`);
    }
  }
}
