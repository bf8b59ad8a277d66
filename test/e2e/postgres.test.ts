import { expect, it } from 'vitest';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { batchRows, decodeBatchBody } from '../../src/wire/index.js';
import { keelson } from '../support/command.js';
import { Load } from '../support/durability/load.js';
import { Stage, type JsonLine, type LiveCommand } from '../support/live-command.js';
import { describePostgres, psql } from '../support/postgres.js';
import { meanStudy } from '../support/study-files.js';
import { until } from '../support/until.js';

const people = 12;

/** One server on one database, with all that a test needs to start it again. */
class Node {
  port = 0;
  serverKey = '';
  command!: LiveCommand;

  constructor(
    private readonly stage: Stage, private readonly store: string, private readonly study: string,
  ) {}

  /** Resolves when it listens, on the port of the start before. */
  async start(): Promise<void> {
    this.command = this.stage.start(this.words());
    const listening = await this.command.line(({ type }) => type === 'listening');
    this.port = Number(new URL(String(listening['address'])).port);
    this.serverKey = String(listening['serverKey']);
  }

  words(secrets = 'secrets', port = this.port): string[] {
    return ['serve', this.study, '--store', this.store, '--secrets', this.stage.path(secrets),
      '--port', String(port), '--log-level', 'warn', '--json'];
  }
}

describePostgres('keelson serve --store', (server) => {
  it('loses nothing when it is killed, and no second server writes beside it',
    { tags: ['slow'] }, async () => {
      const stage = new Stage();
      let load: Load | undefined;
      try {
        const url = await server().createDatabase();
        expect((await keelson(['store', 'init', url])).status).toBe(0);
        const study = stage.write('mean.yaml', meanStudy('mean', {
          retention: '30d', contribution: '{ reduce: mean, rowsMax: 60000 }',
        }));
        const node = new Node(stage, url, study);
        await node.start();
        load = new Load({
          url: `ws://127.0.0.1:${node.port}`, study: 'mean', serverKey: node.serverKey, people,
          columns: 2, pauseMs: 20,
        });
        const { published, acknowledged } = load;
        await until(() => published.size >= 2);
        const second = await stage.run(node.words('others', 0));
        expect(second.status).toBe(2);
        expect(second.stderr).toMatch(/another server .* writes to this database/);
        for (let kill = 0; kill < 2; kill++) {
          const [releases, acks] = [published.size, acknowledged.length];
          await node.command.kill();
          await node.start();
          await until(() => published.size >= releases + 2 && acknowledged.length > acks + 20);
        }
        await load.end();
        expect(load.failures).toEqual([]);
        expect((await node.command.interrupt()).status).toBe(0);
        await compare(url, load);
      } finally {
        await load?.end();
        await stage.end();
      }
    });
});

/** What contributors and subscribers were told is in the database, once, and its ledger agrees. */
async function compare(url: string, { acknowledged, published }: Load): Promise<void> {
  const store = await openPostgresStore({ url });
  const [study] = await store.studies();
  const { studyId, releaseCount, lastEpoch } = study!;
  const releases = await store.releases(studyId, 0, 10_000);
  for (const [name, digest] of published) {
    expect(releases[Number(name.split(' ')[1])]!.digest).toBe(digest);
  }
  const kept = new Map<string, readonly number[]>();
  for (let epoch = 1n; epoch <= lastEpoch; epoch++) {
    for (const { contributor, sequence, body } of
      await store.journal(studyId, epoch, 0n, 1_000_000)) {
      const name = `${contributor} ${sequence}`;
      expect(kept.has(name)).toBe(false);
      kept.set(name, [...batchRows(decodeBatchBody(body))]);
    }
  }
  await store.close();
  expect(acknowledged.length).toBeGreaterThan(100);
  for (const { contributor, sequence, row } of acknowledged) {
    expect(kept.get(`${contributor} ${sequence}`)).toEqual(row);
  }
  const ledger = JSON.parse((await keelson(['ledger', '--store', url, '--json'])).stdout) as {
    budgets: { studies: JsonLine[]; entries: JsonLine[]; rho: { spent: number } }[];
  };
  const [budget] = ledger.budgets;
  expect(budget!.studies).toMatchObject([{ study: 'mean', releases: releaseCount }]);
  const charges = await psql(url, "select count(*) from keelson.ledger where kind = 'charged'");
  expect(budget!.entries.filter(({ kind }) => kind === 'charged').length)
    .toBe(Math.min(Number(charges), 20));
}
