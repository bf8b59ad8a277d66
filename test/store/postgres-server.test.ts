import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { LiveCommand, Stage } from '../support/live-command.js';
import {
  describePostgres, describePrivatePostgres, psql, startPrivatePostgres,
} from '../support/postgres.js';
import { root } from '../support/sources.js';
import { until } from '../support/until.js';

describePostgres('a PostgreSQL server for tests', (server) => {
  it('has databases that are apart', async () => {
    const [one, two] = [await server().createDatabase(), await server().createDatabase()];
    await psql(one, 'create table facts (n int); insert into facts values (7)');
    expect(await psql(one, 'select n from facts')).toBe('7');
    await expect(psql(two, 'select n from facts')).rejects.toThrow(/"facts" does not exist/);
  });

  it('syncs every commit', async () => {
    const url = await server().createDatabase();
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      expect([setting, await psql(url, `show ${setting}`)]).toEqual([setting, 'on']);
    }
  });
});

/** The processes of a server end a moment after it. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const pidIn = (folder: string): number =>
  Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);

describePrivatePostgres('a private PostgreSQL server', (server) => {
  it('keeps what was committed when it is killed', async () => {
    const url = await server().createDatabase();
    await psql(url, 'create table facts (n int); insert into facts values (7)');
    const pid = pidIn(server().folder);
    await server().crash();
    expect(isRunning(pid)).toBe(false);
    await expect(psql(url, 'select n from facts')).rejects.toThrow(/connection to server/);
    await server().restart();
    expect(await psql(url, 'select n from facts')).toBe('7');
  });

  it('asks for a password', async () => {
    const url = new URL(server().url('postgres'));
    url.password = 'wrong';
    await expect(psql(url.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  });

  it('takes settings, and leaves nothing behind', async () => {
    const own = await startPrivatePostgres({ settings: { fsync: 'off' } });
    expect(await psql(own.url('postgres'), 'show fsync')).toBe('off');
    const pid = pidIn(own.folder);
    await own.stop();
    expect([existsSync(own.folder), isRunning(pid)]).toEqual([false, false]);
    await own.stop();
  });

  it('says why a server does not start', async () => {
    await expect(startPrivatePostgres({ settings: { max_connections: 'many' } })).rejects
      .toThrow(/does not start: .*"max_connections"/s);
  });

  it('goes when the process that started it is killed', async () => {
    const stage = new Stage();
    try {
      const bundle = stage.path('cluster.mjs');
      buildSync({
        entryPoints: [`${root}cli/demo/cluster/private-postgres.ts`], outfile: bundle, bundle: true,
        platform: 'node', format: 'esm',
      });
      const program = `const { startPrivatePostgres } = await import(${JSON.stringify(bundle)});
        const server = await startPrivatePostgres();
        console.log(server.folder);
        setInterval(() => {}, 1000);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [folder] = await once(createInterface(child.stdout), 'line') as [string];
      const pid = pidIn(folder);
      child.kill('SIGKILL');
      await until(() => !existsSync(folder) && !isRunning(pid));
    } finally {
      await stage.end();
    }
  });
});

describe('a machine without PostgreSQL', () => {
  it('is told how to get one', { tags: ['slow'] }, async () => {
    const file = 'test/store/postgres-server.test.ts';
    const run = (command: string, words: string[]) => new LiveCommand(words, {
      command: `${root}${command}`,
      environment: {
        KEELSON_TEST_POSTGRES: 'none', KEELSON_TEST_NEEDS_POSTGRES: '', NO_COLOR: '1',
        KEELSON_TEST_SKIP_BUILD: '1',
      },
    }).ended;
    const title = ['--testNamePattern', 'PostgreSQL server'];
    const some = await run('node_modules/vitest/vitest.mjs', ['run', file, ...title]);
    expect(some.status, some.stderr).toBe(0);
    expect(some.stdout).toMatch(/^suites on PostgreSQL are skipped: .*apt-get install postgresql/m);
    const asked = await run('scripts/test-postgres.js', [file, ...title]);
    expect(asked.status).toBe(1);
    expect(asked.stderr).toMatch(/there is no PostgreSQL here.*apt-get install postgresql/);
  });
});
