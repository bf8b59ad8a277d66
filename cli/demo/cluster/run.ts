import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresStore } from '../../../server/store/postgres/open.js';
import { migrateSchema } from '../../../server/store/postgres/schema.js';
import { namePostgresStore } from '../../../server/store/postgres/status.js';
import { UsageError } from '../../base/errors.js';
import type { Io } from '../../base/io.js';
import { encryptionKeysIn } from '../../base/store-flags.js';
import { loadFlights } from '../../data/flights.js';
import { accountOf, type Account } from './account.js';
import { Balancer } from './balancer.js';
import { Crowd } from './crowd.js';
import { DemoNode } from './node.js';
import type { ClusterPage } from './page.js';
import { noPostgres, programs, startPrivatePostgres } from './private-postgres.js';

const studies = ['flights-one', 'flights-two', 'flights-three'];
/** The time that the studies of a dead server wait for another one. */
const lease = '4s';
const lookMs = 50;

export interface ClusterDemoOptions {
  /** People in each study. */
  readonly people: number;
  readonly epochSeconds: number;
}

/**
 * Three servers on a private PostgreSQL, and people who connect through one address. When each
 * server leads a study, one is killed; later it starts again. At the end, the answers that people
 * received are compared with the database. All of it is on this machine, and nothing is left
 * behind.
 * @returns null after an interrupt.
 * @throws UsageError if there is no PostgreSQL.
 */
export async function runClusterDemo(
  options: ClusterDemoOptions, io: Io, page: ClusterPage,
): Promise<Account | null> {
  if (programs === null) throw new UsageError(`--cluster: ${noPostgres}`);
  const folder = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
  const postgres = await startPrivatePostgres();
  const balancer = new Balancer();
  const demo = new ClusterDemo(options, io, page, balancer);
  try {
    const url = await postgres.createDatabase();
    await migrateSchema({ url });
    await namePostgresStore({ url });
    return await demo.run(folder, url);
  } finally {
    await demo.stop();
    await balancer.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An interrupt ends every wait with this. */
class Interrupted extends Error {}

/** A server, and a study that it leads. */
interface Leader {
  readonly node: DemoNode;
  readonly study: string;
  /** All that it leads. */
  readonly leads: readonly string[];
}

class ClusterDemo {
  #nodes: readonly DemoNode[] = [];
  #crowd: Crowd | undefined;

  constructor(
    private readonly options: ClusterDemoOptions, private readonly io: Io,
    private readonly page: ClusterPage, private readonly balancer: Balancer,
  ) {}

  async run(folder: string, url: string): Promise<Account | null> {
    try {
      const crowd = await this.#begin(folder, url);
      await this.#perform(crowd);
      await crowd.end();
      await this.stop();
      const encryptionKeys = encryptionKeysIn(join(folder, 'secrets'));
      const store = await openPostgresStore({ url, encryptionKeys });
      try {
        const account = await accountOf(store, crowd);
        this.page.account(account);
        return account;
      } finally {
        await store.close();
      }
    } catch (error) {
      if (error instanceof Interrupted || this.io.interrupted.aborted) return null;
      throw error;
    }
  }

  /** Ends people and servers. May be called again. */
  async stop(): Promise<void> {
    await this.#crowd?.end();
    await Promise.all(this.#nodes.map((node) => node.stop()));
  }

  async #begin(folder: string, url: string): Promise<Crowd> {
    const { people, epochSeconds } = this.options;
    const files = studies.map((study) => {
      const path = join(folder, `${study}.yaml`);
      writeFileSync(path, studyFile(study, people, epochSeconds));
      return path;
    });
    const settings = join(folder, 'settings.yaml');
    writeFileSync(settings, `store: { lease: ${lease} }\n`);
    const words = [
      ...files, '--store', url, '--secrets', join(folder, 'secrets'), '--settings', settings,
    ];
    this.#nodes = [1, 2, 3].map((number) => new DemoNode(`server ${number}`, words));
    // The first one makes the keys that all of them have.
    for (const node of this.#nodes) await node.start();
    this.balancer.ports = this.#nodes.map(({ port }) => port);
    const address = `127.0.0.1:${await this.balancer.start()}`;
    this.page.started({ address: `http://${address}`, nodes: this.#nodes, studies, people });
    this.#crowd = new Crowd({
      url: `ws://${address}`, studies, people, serverKey: this.#nodes[0]!.serverKey,
      flights: loadFlights(),
    });
    return this.#crowd;
  }

  async #perform(crowd: Crowd): Promise<void> {
    let led: readonly (readonly string[])[] = [];
    await this.#until(async () => {
      led = await this.#leaders();
      return led.every(({ length }) => length === 1);
    });
    this.page.leaders(this.#nodes, led);
    await this.#releases(crowd, studies, 1);
    // On a slow machine leases move, so it is asked again.
    const { node: victim, study: orphan } = await this.#leader(this.#nodes);
    const others = this.#nodes.filter((node) => node !== victim);
    const before = crowd.answered;
    const killedMs = this.io.monotonicMs();
    await victim.kill();
    this.page.killed(victim, orphan, before);
    const { node: heir } = await this.#leader(others, orphan);
    this.page.replaced(heir, orphan, (this.io.monotonicMs() - killedMs) / 1_000);
    await this.#releases(crowd, [orphan], 2);
    this.page.released(orphan, (this.io.monotonicMs() - killedMs) / 1_000, crowd.answered - before);
    await victim.start();
    this.page.returned(victim, (await this.#leader([victim])).leads);
    await this.#releases(crowd, studies, 1);
  }

  /** Waits until one of the servers leads the study, or any if none is named. */
  async #leader(nodes: readonly DemoNode[], named?: string): Promise<Leader> {
    let found: Leader | undefined;
    await this.#until(async () => {
      for (const node of nodes) {
        const leads = await node.leads();
        const study = leads.find((each) => named === undefined || each === named);
        if (study !== undefined) found ??= { node, study, leads };
      }
      return found !== undefined;
    });
    return found!;
  }

  /** The number of further releases of each study. */
  async #releases(crowd: Crowd, of: readonly string[], more: number): Promise<void> {
    const before = new Map(crowd.released);
    await this.#until(async () => of.every((study) =>
      (crowd.released.get(study) ?? 0) >= (before.get(study) ?? 0) + more));
  }

  #leaders(): Promise<readonly (readonly string[])[]> {
    return Promise.all(this.#nodes.map((node) => node.leads()));
  }

  /** @throws Interrupted; or the error that ended a person, a subscriber or a server. */
  async #until(isDone: () => Promise<boolean>): Promise<void> {
    while (!await isDone()) {
      if (this.io.interrupted.aborted) throw new Interrupted();
      // Throws when somebody could not go on.
      void this.#crowd?.answered;
      await pause(lookMs);
    }
  }
}

/** A study of how many people are late on average. Rows are kept, to be counted at the end. */
const studyFile = (study: string, people: number, epochSeconds: number): string => `study: ${study}
columns: [delay_minutes, distance_miles]
cohort: ${people}
epoch: { every: ${epochSeconds}s }
contribution: { reduce: mean, rowsMax: 10000 }
estimator: count
parameters: { column: 0, threshold: 15, side: at-least }
privacy: { epsilon: 2, delta: 1e-9 }
budget: { epsilon: 100, delta: 1e-5, scope: study }
late: next
retention: 30d
`;
