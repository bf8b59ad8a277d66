// @module-tag slow
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createContributor } from '../../client/contribute.js';
import { toHex } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import { keelson } from '../support/command.js';
import { ClusterRun } from '../support/durability/cluster-run.js';
import { forms } from '../support/durability/load.js';
import { Stage } from '../support/live-command.js';
import { CuttingProxy } from '../support/postgres/cutting-proxy.js';
import { describePostgres, describePrivatePostgres, psql } from '../support/postgres.js';
import { smallSlices } from '../support/small-slices.js';
import { meanStudy } from '../support/study-files.js';
import { requestPauseMs, until } from '../support/until.js';

interface Ready {
  readonly status: string;
  readonly leads: readonly string[];
  readonly follows: readonly string[];
}

const ready = async (address: string): Promise<Ready> =>
  await (await fetch(`${address}/readyz`)).json() as Ready;

/** Starts `keelson serve` with one study over a database. */
const serve = (stage: Stage, store: string, level: string) => stage.start([
  'serve', stage.write('mean.yaml', meanStudy('mean')), '--store', store,
  '--secrets', stage.path('secrets'), '--port', '0', '--log-level', level, '--json',
]);

describePrivatePostgres('several servers on one PostgreSQL', () => {
  it('lose nothing and count nothing twice when leaders die, freeze or are cut off',
    { timeout: 900_000 }, async () => {
      const stage = new Stage();
      try {
        const report = await new ClusterRun(stage, {
          nodes: 3, people: 30, leaseSeconds: 2, kills: 2, databaseKills: 1, cuts: 1, freezes: 2,
          slices: 2, seed: 19,
        }).run();
        const { verdict, acknowledged, failovers, frozen, slices, broken } = report;
        expect(broken).toEqual([]);
        expect(verdict).toMatchObject({ lost: [], twice: [], faults: [] });
        const rows = Object.values(acknowledged);
        expect(rows).toHaveLength(forms.length);
        expect(rows.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(100);
        expect(verdict.releases).toBeGreaterThan(20);
        expect(slices.byOthers).toBeGreaterThan(0);
        expect(slices.takenOver).toBeGreaterThan(0);
        expect([...frozen].sort()).toEqual(['after charge', 'in charge']);
        expect(failovers).toHaveLength(1);
        // Most of it is the lease, after which the database lets another server lead.
        expect(failovers[0]).toBeGreaterThan(1);
      } finally {
        await stage.end();
      }
    });
});

describePrivatePostgres('keelson demo --cluster', () => {
  it('kills a server, and shows that nothing was lost', { timeout: 300_000 },
    async () => {
      const stage = new Stage();
      try {
        const command = stage.start([
          'demo', '--cluster', '--contributors', '20', '--every', '2', '--json',
        ]);
        const { dashboard } = await command.line(({ type }) => type === 'started');
        expect((await fetch(String(dashboard))).status).toBe(200);
        const killed = await command.line(({ type }) => type === 'killed');
        const { status, stderr } = await command.ended;
        expect([status, stderr]).toEqual([0, '']);
        expect(command.lines.map(({ type }) => type)).toEqual([
          'started', 'leaders', 'killed', 'replaced', 'released', 'returned', 'account',
        ]);
        const [, leaders, , replaced] = command.lines;
        expect((leaders!['servers'] as { leads: unknown[] }[]).map(({ leads }) => leads.length))
          .toEqual([1, 1, 1]);
        expect(replaced).toMatchObject({ study: killed['study'] });
        expect(replaced!['server']).not.toBe(killed['server']);
        const account = command.lines.at(-1)!;
        expect(account).toMatchObject({
          lost: 0, twice: 0, lostReleases: 0, chargedTwice: 0, whole: true,
        });
        expect(Number(account['acknowledged'])).toBeGreaterThan(Number(killed['acknowledged']));
        expect(Number(account['releases'])).toBeGreaterThan(6);
      } finally {
        await stage.end();
      }
    });
});

describePrivatePostgres('keelson serve without its database', (server) => {
  it('says so, takes nothing, and goes on when it is back',
    { timeout: 300_000 }, async () => {
      const stage = new Stage();
      try {
        const url = await server().createDatabase();
        await keelson(['store', 'init', url]);
        const command = serve(stage, url, 'info');
        const listening = await command.line(({ type }) => type === 'listening');
        const address = String(listening['address']);
        const status = async (path: string): Promise<string> => {
          const answer = await fetch(`${address}${path}`);
          return `${answer.status} ${(await answer.json() as { status: string }).status}`;
        };
        const releases = async (): Promise<number> => {
          const answer = await fetch(`${address}/v1/studies`);
          return (await answer.json() as { studies: { releases: number }[] }).studies[0]!.releases;
        };
        expect(await status('/healthz')).toBe('200 ok');
        await server().crash();
        await command.says('the database does not answer');
        expect(await status('/healthz')).toBe('503 database-away');
        expect(await status('/readyz')).toBe('503 database-away');
        const before = await releases();
        await server().restart();
        await command.says('the database answers again');
        await until(async () => await releases() > before + 1, requestPauseMs);
        expect(await status('/readyz')).toBe('200 ok');
        expect((await command.interrupt()).status).toBe(0);
      } finally {
        await stage.end();
      }
    });
});

describePrivatePostgres('keelson serve at SIGTERM without its database', (server) => {
  it.each(['crashed', 'silent', 'back on new connections only'] as const)('ends within 20 s: %s',
    { timeout: 120_000 }, async (how) => {
      const stage = new Stage();
      const url = await server().createDatabase();
      const { proxy, url: through } = await CuttingProxy.start(url);
      try {
        await keelson(['store', 'init', url]);
        const command = serve(stage, through, 'info');
        await command.line(({ type }) => type === 'listening');
        if (how === 'crashed') await server().crash();
        else if (how === 'silent') proxy.silence();
        else proxy.freeze();
        await command.says('the database does not answer');
        const beganMs = performance.now();
        command.child.kill('SIGTERM');
        // In order, and not because nothing kept the process.
        expect(await command.ended).toMatchObject({
          status: 0, stderr: expect.stringContaining('the server has stopped') as string,
        });
        expect(performance.now() - beganMs).toBeLessThan(20_000);
      } finally {
        await stage.end();
        if (how === 'crashed') await server().restart();
        await proxy.stop();
      }
    });
});

describePostgres('keelson serve whose database goes away while it starts', (server) => {
  it.each([18, 24, 30])('waits for it and listens, or says why not: after %i messages',
    { timeout: 120_000 }, async (messages) => {
      const stage = new Stage();
      const url = await server().createDatabase();
      const { proxy, url: through } = await CuttingProxy.start(url);
      try {
        await keelson(['store', 'init', url]);
        proxy.cutAfter(messages, 3);
        const command = serve(stage, through, 'warn');
        const listens = await command.line(({ type }) => type === 'listening')
          .then(() => true, () => false);
        if (listens) expect((await command.interrupt()).status).toBe(0);
        // Before it has entered itself in the database nothing waits.
        else expect(await command.ended).toMatchObject({
          status: 2, stderr: expect.stringContaining('the database cannot be reached') as string,
        });
      } finally {
        await stage.end();
        await proxy.stop();
      }
    });
});

describePostgres('keelson serve --store', (server) => {
  it('ends when its database went back, and does not start on it',
    { timeout: 300_000 }, async () => {
      const stage = new Stage();
      try {
        const url = await server().createDatabase();
        expect((await keelson(['store', 'init', url])).status).toBe(0);
        const study = stage.write('mean.yaml', meanStudy('mean'));
        const serve = () => stage.start(['serve', study, '--store', url, '--secrets',
          stage.path('secrets'), '--port', '0', '--log-level', 'warn', '--json']);
        const running = serve();
        await running.line(({ type }) => type === 'listening');
        const seen = (): string => readFileSync(stage.path('secrets/seen.json'), 'utf8');
        await until(() => existsSync(stage.path('secrets/seen.json'))
          && /"releases": [1-9]/.test(seen()), requestPauseMs);
        // The first release and all later ones are gone, and a server that is new connects to it.
        await psql(url, `delete from keelson.releases;
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid != pg_backend_pid()`);
        for (const command of [running, serve()]) {
          const { status, stderr } = await command.ended;
          expect(status).not.toBe(0);
          expect(stderr).toMatch(/lacks charges or releases that this server has seen \(mean\)/);
        }
      } finally {
        await stage.end();
      }
    });

  it('goes on with the studies of a data folder that was moved into its database',
    { timeout: 300_000 }, async () => {
      const stage = new Stage();
      try {
        const url = await server().createDatabase();
        expect((await keelson(['store', 'init', url])).status).toBe(0);
        const study = stage.write('mean.yaml', meanStudy('mean'));
        const data = stage.path('data');
        const serve = (...words: string[]) =>
          stage.start(['serve', study, ...words, '--port', '0', '--log-level', 'warn', '--json']);
        const releasesOf = async (address: string): Promise<number> => {
          const answer = await fetch(`${address}/v1/studies`);
          return (await answer.json() as { studies: { releases: number }[] }).studies[0]!.releases;
        };
        const before = serve('--data', data);
        const listening = await before.line(({ type }) => type === 'listening');
        await until(async () => await releasesOf(String(listening['address'])) > 0, requestPauseMs);
        expect((await keelson(['store', 'import', url, data])).stderr).toContain('in use');
        expect((await before.interrupt()).status).toBe(0);
        const moved = await keelson(['store', 'import', url, data]);
        expect([moved.status, moved.stderr]).toEqual([0, '']);
        expect(moved.stdout).toMatch(/^budgets +1\nstudies +1\n[^]*each row was read back/);
        const count = Number(/^releases +(\d+)$/m.exec(moved.stdout)![1]);
        const refused = await serve('--data', data).ended;
        expect(refused.status).toBe(2);
        expect(refused.stderr).toContain('were moved');
        const after = serve('--store', url, '--secrets', data);
        const second = String((await after.line(({ type }) => type === 'listening'))['address']);
        await until(async () => await releasesOf(second) > count, requestPauseMs);
        // The log is one chain, by one key, over the move.
        const log = await fetch(`${second}/v1/releases?study=mean`);
        const verified = await stage.run(['verify', stage.write('log.json', await log.text()),
          '--server-key', String(listening['serverKey'])]);
        expect([verified.status, verified.stderr]).toEqual([0, '']);
        expect((await after.interrupt()).status).toBe(0);
      } finally {
        await stage.end();
      }
    });

  it('refuses a sealed study, whose servers have a data folder each',
    async () => {
      const stage = new Stage();
      try {
        const url = await server().createDatabase();
        expect((await keelson(['store', 'init', url])).status).toBe(0);
        const servers = ['north', 'east', 'west'].map((name, i) => {
          const { publicKey } = signing.createSigner(new Uint8Array(32).fill(i));
          return `    - { name: ${name}, url: 'ws://127.0.0.1:1', key: '${toHex(publicKey)}' }\n`;
        });
        const study = stage.write('sealed.yaml', 'study: sealed\ncolumns: [minutes]\ncohort: 1000\n'
          + 'epoch: { every: 1h }\nestimator: count\nprivacy: { epsilon: 1, delta: 1e-6 }\n'
          + 'budget: { epsilon: 8, delta: 1e-5 }\nsealed:\n  against: reading\n  servers:\n'
          + servers.join(''));
        const { status, stderr } = await stage.run(['serve', study, '--store', url, '--secrets',
          stage.path('secrets'), '--port', '0', '--as', 'north']);
        expect([status, stderr]).toEqual([2, expect.stringContaining('leave --store out')]);
      } finally {
        await stage.end();
      }
    });

  it('shares the studies with other servers, hands them over, and refuses other keys',
    { timeout: 300_000 }, async () => {
      const stage = new Stage();
      try {
        const url = await server().createDatabase();
        expect((await keelson(['store', 'init', url])).status).toBe(0);
        const names = ['mean', 'second', 'third'];
        const studies = names.map((name) => stage.write(`${name}.yaml`, meanStudy(name)));
        const settings = stage.write('settings.yaml', 'store: { lease: 60s }\n');
        const serve = (secrets: string) => stage.start(['serve', ...studies, '--store', url,
          '--secrets', stage.path(secrets), '--encryption-keys', stage.path('row-keys'),
          '--port', '0', '--log-level', 'warn', '--json',
          '--settings', settings]);
        const first = serve('secrets');
        const one = String((await first.line(({ type }) => type === 'listening'))['address']);
        const second = serve('secrets');
        const two = String((await second.line(({ type }) => type === 'listening'))['address']);
        // The first one led all. It hands one over, and no more.
        await until(async () => (await ready(two)).leads.length === 1, requestPauseMs);
        const [moved] = (await ready(two)).leads;
        const rest = names.filter((name) => name !== moved);
        expect(await ready(one)).toEqual({ status: 'ok', leads: rest, follows: [moved] });
        expect(await ready(two)).toEqual({ status: 'ok', leads: [moved], follows: rest });
        const other = await serve('others').ended;
        expect(other.status).toBe(2);
        // Before the first release another key is refused, and afterwards none is made.
        expect(other.stderr).toMatch(/server\.key (in \S+ is not the one of|is missing)/);
        const status = JSON.parse((await keelson(['store', 'status', url, '--json'])).stdout) as {
          nodes: { studies: number }[];
        };
        expect(status.nodes.map(({ studies }) => studies)).toEqual([2, 1]);
        // In good order it gives the lease back, so nobody waits for its end.
        expect((await first.interrupt()).status).toBe(0);
        await until(async () => (await ready(two)).leads.length === 3, requestPauseMs);
        expect((await second.interrupt()).status).toBe(0);
      } finally {
        await stage.end();
      }
    });

  it('divides the work by roles, and leads contributors to a server that takes batches',
    { timeout: 300_000 }, async () => {
      const stage = new Stage();
      const relay = new Relay();
      const closers: (() => Promise<void>)[] = [];
      try {
        const url = await server().createDatabase();
        await keelson(['store', 'init', url]);
        const study = stage.write('sum.yaml', meanStudy('sum', {
          columns: '[minutes]', estimator: 'sum', parameters: '{ range: 0..300 }',
        }));
        const secrets = stage.path('secrets');
        const serve = async (roles: string): Promise<string> => {
          const command = stage.start(['serve', study, '--store', url, '--secrets', secrets,
            '--roles', roles, '--port', '0', '--json'], smallSlices(1));
          return String((await command.line(({ type }) => type === 'listening'))['address']);
        };
        const back = await serve('lead,work');
        const front = await serve('ingest');
        expect(await ready(back))
          .toEqual({ status: 'takes-no-batches', leads: ['sum'], follows: [] });
        expect(await ready(front)).toEqual({ status: 'ok', leads: [], follows: ['sum'] });
        const address = await relay.open([back, front]);
        const people = ['one', 'two'].map(() => createContributor({
          url: address, study: 'sum', seed: signing.randomBytes(32), backoffInitialMs: 20,
        }));
        closers.push(...people.map((person) => () => person.close()));
        const token = readFileSync(`${secrets}/operator.token`, 'utf8').trim();
        const slices = async (address: string): Promise<string | undefined> => {
          const headers = { authorization: `Bearer ${token}` };
          const text = await (await fetch(`${address}/metrics`, { headers })).text();
          return /^keelson_slices_total\{outcome="done"\} (\d+)$/m.exec(text)?.[1];
        };
        await until(async () => {
          await Promise.all(people.map((person) => person.contribute([[1]])));
          return Number(await slices(back)) > 0;
        }, requestPauseMs);
        expect(await slices(front)).toBe('0');
      } finally {
        await Promise.all(closers.map((close) => close()));
        relay.close();
        await stage.end();
      }
    });
});

/** Passes each new connection on to the next of some servers, and later ones to the last. */
class Relay {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer();

  async open(addresses: readonly string[]): Promise<string> {
    let next = 0;
    this.#server.on('connection', (socket) => {
      const { port } = new URL(addresses[Math.min(next, addresses.length - 1)]!);
      next += 1;
      const other = createConnection(Number(port), '127.0.0.1');
      for (const end of [socket, other]) {
        this.#sockets.add(end);
        end.on('error', () => undefined);
      }
      socket.pipe(other).pipe(socket);
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
