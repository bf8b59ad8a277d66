import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bindSecrets } from '../../server/keys/bound-secrets.js';
import { ownVersion } from '../../server/store/postgres/migrations/index.js';
import { asStoreError, PostgresFailure } from '../../server/store/postgres/failures.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { keelson } from '../support/command.js';
import { Stage } from '../support/live-command.js';
import { memoryFolder } from '../support/memory-folder.js';
import {
  describePostgres, describePrivatePostgres, psql, startPrivatePostgres,
} from '../support/postgres.js';
import { epochOf, registration } from '../support/store-fixtures.js';
import { meanStudy } from '../support/study-files.js';

/** What a command says to a person: one line, and how to go on. */
async function refusal(words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await keelson(words);
  expect([status, stdout]).toEqual([2, '']);
  return stderr.replace(/\n {2}usage: .*\n$/, '').trimEnd();
}

describePostgres('keelson store', (server) => {
  it('makes the tables once, and says what stands there', async () => {
    const url = await server().createDatabase();
    const before = await keelson(['store', 'status', url, '--json']);
    expect(JSON.parse(before.stdout)).toMatchObject({
      schema: 'keelson', version: 0, store: null, nodes: [],
    });
    const made = await keelson(['store', 'init', url]);
    expect(made.stderr).toBe('');
    expect(made.stdout).toMatch(/^the tables are made\nPostgreSQL {3}\d+/);
    const status = await keelson(['store', 'status', url, '--json']);
    const state = JSON.parse(status.stdout) as Record<string, unknown>;
    expect(state['version']).toBe(state['needed']);
    expect(state['store']).toMatch(/^[0-9a-f]{1,16}$/);
    expect(state).toMatchObject({ refusal: null, standbys: 0, missingKeys: [] });
    expect(made.stdout).toContain('no synchronous standby');
    expect((await keelson(['store', 'init', url])).stdout).toContain('nothing changed');
    const again = JSON.parse((await keelson(['store', 'status', url, '--json'])).stdout) as object;
    expect({ ...again, nowMs: 0 }).toEqual({ ...state, nowMs: 0 });
  });

  it('keeps schemas of one database apart', async () => {
    const stage = new Stage();
    const url = await server().createDatabase();
    const nameOf = async (schema: string): Promise<unknown> => {
      const settings = stage.write(`${schema}.yaml`, `store: { schema: ${schema} }\n`);
      const words = [url, '--settings', settings];
      expect((await keelson(['store', 'init', ...words])).status).toBe(0);
      const { stdout } = await keelson(['store', 'status', ...words, '--json']);
      return (JSON.parse(stdout) as { store: unknown }).store;
    };
    const [one, two] = [await nameOf('one'), await nameOf('two')];
    expect(one).not.toBe(two);
    await stage.end();
  });

  it('makes the tables once when two commands run at once', async () => {
    const url = await server().createDatabase();
    const both = await Promise.all([0, 1].map(() => keelson(['store', 'init', url])));
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
  });

  it('tells an older and a newer version from this one', async () => {
    const url = await server().createDatabase();
    expect(await refusal(['store', 'migrate', url]))
      .toMatch(/has no store in this schema: make one with keelson store init/);
    await keelson(['store', 'init', url]);
    expect((await keelson(['store', 'migrate', url])).stdout).toContain('nothing changed');
    await psql(url, `update keelson.meta set value = ${ownVersion + 1} where name != 'store_id'`);
    for (const words of [['store', 'init', url], ['store', 'migrate', url],
      ['ledger', '--store', url]]) {
      expect(await refusal(words)).toMatch(new RegExp(`schema ${ownVersion + 1}, .* `
        + `${ownVersion + 1} and later.* of ${ownVersion}: install the newer`));
    }
  });

  it('says what is wrong with an address, and never repeats its password', async () => {
    const url = await server().createDatabase();
    const changed = (change: (url: URL) => void): string => {
      const other = new URL(url);
      change(other);
      return other.href;
    };
    const wrong = changed((other) => { other.password = 'not-this-secret'; });
    const faults: readonly (readonly [string, RegExp])[] = [
      ['mysql://db/keelson', /does not begin with postgres:\/\//],
      ['postgres://user:not-this-secret@[/db', /cannot be read: .*%XX/],
      [wrong, /password authentication failed.*; check the user and the password/],
      [changed((other) => { other.pathname = '/nowhere'; }), /"nowhere" does not exist.*create/],
    ];
    for (const [address, text] of faults) {
      const said = await refusal(['store', 'status', address]);
      expect(said).toMatch(text);
      expect(said.split('\n')).toHaveLength(1);
      expect(said).not.toContain('not-this-secret');
    }
    expect(await refusal(['store', 'drop', url])).toContain('unknown command "store drop"');
  });

  it('says that nobody answers', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    const { port } = listener.address() as { port: number };
    await new Promise((resolve) => listener.close(resolve));
    const folder = mkdtempSync(join(memoryFolder, 'keelson-no-socket-'));
    try {
      for (const address of [
        `postgres://user@127.0.0.1:${port}/db`,
        `postgres://user@localhost/db?host=${encodeURIComponent(folder)}`,
      ]) {
        expect(await refusal(['store', 'status', address]))
          .toMatch(/the database cannot be reached .*: check that it runs, and the address/);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('refuses a database that takes no writes, and reads the ledger of one', async () => {
    const url = await server().createDatabase();
    const made = await server().createDatabase();
    await keelson(['store', 'init', made]);
    await psql(made, `alter database ${new URL(made).pathname.slice(1)} set
      default_transaction_read_only = on`);
    expect(await keelson(['ledger', '--store', made])).toMatchObject({
      status: 0, stdout: 'no budget yet: no study was ever served from here\n',
    });
    await psql(url, `alter database ${new URL(url).pathname.slice(1)} set
      default_transaction_read_only = on`);
    expect(await refusal(['store', 'init', url])).toMatch(/read-only.*: name the primary|read-only transaction.*; the database is read-only: name the primary/);
  });
});

describePostgres('keelson serve --store', (server) => {
  it('refuses what excludes each other, and a database without a store', async () => {
    const stage = new Stage();
    try {
      const url = await server().createDatabase();
      const study = stage.write('mean.yaml', meanStudy('mean'));
      const secrets = stage.path('secrets');
      const serve = (...words: string[]): Promise<string> =>
        refusal(['serve', study, '--port', '0', ...words]);
      expect(await serve('--store', url, '--data', 'd')).toMatch(/exclude each other.*--secrets/);
      expect(await serve('--secrets', secrets)).toMatch(/--secrets belongs to --store/);
      expect(await serve('--roles', 'ingest')).toMatch(/--roles belongs to --store/);
      expect(await serve('--store', url, '--roles', 'lead, tea'))
        .toMatch(/write one or more of ingest, lead, work/);
      expect(await serve('--encryption-keys', secrets)).toMatch(/--encryption-keys belongs to --store/);
      expect(await serve('--store', url, '--accept-rollback')).toMatch(/is for a data folder/);
      const settings = stage.write('settings.yaml', 'store: { lease: 60s }\n');
      expect(await serve('--settings', settings)).toMatch(/"store", which belongs to --store/);
      expect(await serve('--store', url, '--secrets', secrets))
        .toMatch(/has no store yet: run keelson store init/);
      const wrong = new URL(url);
      wrong.password = 'not-this-secret';
      const said = await serve('--store', wrong.href, '--secrets', secrets);
      expect(said).toMatch(/password authentication failed.*; check the user and the password/);
      expect(said).not.toContain('not-this-secret');
      expect(await serve('--store', 'mysql://db/keelson', '--secrets', secrets))
        .toMatch(/does not begin with postgres:\/\//);
      expect(existsSync(secrets)).toBe(false);
    } finally {
      await stage.end();
    }
  });

  it('refuses a folder that lacks a key, and names key, epochs and remedy', async () => {
    const stage = new Stage();
    try {
      const url = await server().createDatabase();
      const study = stage.write('mean.yaml', meanStudy('mean'));
      expect((await keelson(['store', 'init', url])).status).toBe(0);
      const store = await openPostgresStore({ url, encryptionKeys: stage.path('rows') });
      await store.registerStudy(registration());
      await store.openEpoch(epochOf(1));
      await store.close();
      const words = ['--store', url, '--secrets', stage.path('secrets')];
      expect(await refusal(['serve', study, '--port', '0', ...words])).toMatch(new RegExp(
        'the encryption key [0-9a-f-]{27} is not in the folder.*the rows of epoch 1 of s are '
        + 'sealed under it.*--encryption-keys.*secrets/row-keys/.*key from a copy'));
      const shownWith = (keys: string) =>
        keelson(['store', 'status', url, '--encryption-keys', stage.path(keys)]);
      const shown = await shownWith('secrets');
      expect(shown.stdout).toMatch(/encryption key [0-9a-f-]{27}: epoch 1 of s\n/);
      expect(shown.stdout).toMatch(/warning {6}the encryption key [0-9a-f-]{27} is not in the folder\n/);
      expect((await shownWith('rows')).stdout).not.toMatch(/is not in/);
    } finally {
      await stage.end();
    }
  });

  it('refuses keys that belong to another store', async () => {
    const stage = new Stage();
    try {
      const url = await server().createDatabase();
      await keelson(['store', 'init', url]);
      const study = stage.write('mean.yaml', meanStudy('mean'));
      const secrets = stage.path('secrets');
      bindSecrets(secrets, 'beef');
      bindSecrets(secrets, 'beef');
      const words = ['serve', study, '--port', '0', '--store', url, '--secrets', secrets];
      expect(await refusal(words)).toMatch(/belong to the store beef, .*another folder of secrets/);
    } finally {
      await stage.end();
    }
  });
});

const losses = ['EPIPE', 'ECONNRESET', '57P01', '25P03'];
it.each(losses)('%s is a lost connection to PostgreSQL', (code) => {
  const failure = asStoreError(Object.assign(new Error('gone'), { code }));
  expect(failure).toBeInstanceOf(PostgresFailure);
  expect(failure).toMatchObject({ kind: 'lost', retryable: true });
});

describePrivatePostgres('a PostgreSQL server that could lose commits', () => {
  it.each(['fsync', 'full_page_writes', 'synchronous_commit'])('is refused: %s', async (name) => {
    const server = await startPrivatePostgres({ settings: { [name]: 'off' } });
    try {
      const url = await server.createDatabase();
      const text = new RegExp(`the database has ${name} = off, so it may lose .*: set it to on`);
      expect(await refusal(['store', 'init', url])).toMatch(text);
      expect((await keelson(['store', 'status', url])).stdout).toMatch(text);
    } finally {
      await server.stop();
    }
  });
});
