import { setTimeout as pause } from 'node:timers/promises';
import { openServerKeys } from '../../../server/keys/server-keys.js';
import { openPostgresStore } from '../../../server/store/postgres/open.js';
import { keyChain } from '../../../src/signing/index.js';
import { signing } from '../../../src/signing/node.js';
import type { LiveCommand, Stage } from '../live-command.js';
import {
  psql, startPrivatePostgres, type PrivatePostgres,
} from '../../../cli/demo/cluster/private-postgres.js';
import { CuttingProxy } from '../postgres/cutting-proxy.js';
import {
  endClaims, isSettled, newestClaim, sliceFigures, watchSlices, type Claim, type SliceFigures,
} from '../postgres/slice-watch.js';
import { announceSteps, stepPoints, type StepPoint } from '../postgres/step-watch.js';
import { smallSlices } from '../small-slices.js';
import { Chance } from '../simulation/chance.js';
import { Balancer } from '../../../cli/demo/cluster/balancer.js';
import { columns, studyNames, writeStudies } from './crash-studies.js';
import { countsByForm, everyForm, Load, type Form } from './load.js';
import { judgeStore, type Verdict } from './verdict.js';

/** How often each fault happens. */
export interface ClusterFaults {
  /** Kills of a node with SIGKILL, every other one of the node that leads most. */
  readonly kills: number;
  /** Kills of PostgreSQL with SIGKILL. */
  readonly databaseKills: number;
  /** Faults of the network between a node and PostgreSQL, of every kind in turn. */
  readonly cuts: number;
  /**
   * A leader is stopped for longer than its lease, and goes on: at every point of every step in
   * turn, then at any moment.
   */
  readonly freezes: number;
  /**
   * A server that has claimed a slice of an epoch is killed, or stopped until another one has
   * taken the slice, in turn.
   */
  readonly slices: number;
}

export interface ClusterOptions extends ClusterFaults {
  readonly nodes: number;
  /** Contributors, over all studies. */
  readonly people: number;
  readonly leaseSeconds: number;
  readonly seed: number;
  readonly log?: (text: string) => void;
}

export interface ClusterReport {
  readonly verdict: Verdict;
  /** Rows, by the form in which they came. */
  readonly acknowledged: Partial<Record<Form, number>>;
  /** From the kill of the node that led a study to its next epoch, in seconds. */
  readonly failovers: readonly number[];
  /** Where leaders were stopped, in words. */
  readonly frozen: readonly string[];
  readonly slices: SliceFigures;
  /** Promises that were not kept, in words. */
  readonly broken: readonly string[];
}

/** The last two close one end only. */
const networkFaults = ['cut', 'silence', 'delay', 'client', 'database'] as const;

/** The study by which progress is told: its budget is never used up. */
const watched = 'crash';

/** The study whose epochs all servers read. Its budget is never used up either. */
const sliced = 'sums';
/** Contributors of a slice: an epoch has some slices. */
const slicePeople = 2;

/** Where leaders freeze, in turn; null: at any moment. A short run has those about noise. */
const freezePoints: readonly (StepPoint | null)[] = [
  ...stepPoints.filter(({ step }) => step === 'charge' || step === 'release'),
  ...stepPoints.filter(({ step }) => step !== 'charge' && step !== 'release'), null,
];

const wordsOf = (point: StepPoint | null): string =>
  (point === null ? 'at any moment' : `${point.when} ${point.step}`);

/** Several servers on one PostgreSQL, under load, while one after the other fails. */
export class ClusterRun {
  readonly #chance: Chance;
  readonly #words: readonly string[];
  readonly #balancer = new Balancer();
  readonly #broken: string[] = [];
  readonly #failovers: number[] = [];
  readonly #frozen: string[] = [];
  readonly #nodes: ClusterNode[] = [];
  #loads: readonly Load[] = [];
  #database: PrivatePostgres | undefined;
  #url = '';

  constructor(private readonly stage: Stage, private readonly options: ClusterOptions) {
    this.#chance = Chance.of(options.seed);
    this.#words = writeStudies(stage);
  }

  async run(): Promise<ClusterReport> {
    try {
      await this.#begin();
      await this.#goesOn();
      const faults = this.#faults();
      for (const [i, { name, strike }] of faults.entries()) {
        this.options.log?.(`fault ${i + 1} of ${faults.length}: ${name}`);
        await strike();
        await endClaims(this.#url);
        await this.#goesOn();
        if (this.#broken.length > 0) break;
      }
      if (this.#broken.length === 0) await everyForm(this.#loads);
      await Promise.all(this.#loads.map((load) => load.end()));
      for (const node of this.#nodes) await this.#ends(node);
      const verdict = await this.#judge();
      return {
        verdict, broken: this.#broken, failovers: this.#failovers, frozen: this.#frozen,
        slices: await sliceFigures(this.#url),
        acknowledged: countsByForm(this.#loads.flatMap((load) => load.acknowledged)),
      };
    } finally {
      await Promise.all(this.#loads.map((load) => load.end()));
      await this.stage.endCommands();
      for (const node of this.#nodes) await node.proxy.stop();
      await this.#balancer.stop();
      await this.#database?.stop();
    }
  }

  async #begin(): Promise<void> {
    const database = await startPrivatePostgres();
    this.#database = database;
    this.#url = await database.createDatabase();
    const { status, stderr } = await this.stage.run(['store', 'init', this.#url]);
    if (status !== 0) throw new Error(stderr);
    const port = await this.#balancer.start();
    const lease = `store: { lease: ${this.options.leaseSeconds}s }\n`;
    const settings = this.stage.write('settings.yaml', lease);
    let serverKey = '';
    for (let i = 0; i < this.options.nodes; i++) {
      const { proxy, url } = await CuttingProxy.start(this.#url);
      const address = new URL(url);
      address.searchParams.set('application_name', `server-${i + 1}`);
      const node = new ClusterNode(this.stage, proxy, `server-${i + 1}`, [
        ...this.#words, '--store', address.href, '--secrets', this.stage.path('secrets'),
        '--settings', settings,
      ]);
      this.#nodes.push(node);
      serverKey = await node.start();
    }
    await announceSteps(this.#url, watched);
    await watchSlices(this.#url, sliced);
    this.#balancer.ports = this.#nodes.map((node) => node.port);
    const people = Math.ceil(this.options.people / studyNames.length);
    this.#loads = studyNames.map((study) => new Load({
      url: `ws://127.0.0.1:${port}`, serverKey, study, columns, pauseMs: 20,
      // An epoch with no second slice is read by its leader alone.
      ...(study === sliced
        ? { people: Math.max(people, 3 * slicePeople), withdraws: 0.01 }
        : { people, withdraws: 0.1 }),
    }));
  }

  /** All faults, in an order of chance. */
  #faults(): readonly { readonly name: string; readonly strike: () => Promise<void> }[] {
    const { kills, databaseKills, cuts, freezes, slices } = this.options;
    const many = (name: string, count: number, fault: (i: number) => Promise<void>) =>
      Array.from({ length: count }, (_, i) => ({ name, at: this.#chance.uniform(), fault, i }));
    return [
      ...many('a server is killed', kills, (i) => this.#kill(i % 2 === 0)),
      ...many('PostgreSQL is killed', databaseKills, () => this.#killDatabase()),
      ...many('the network fails', cuts,
        (i) => this.#cut(networkFaults[i % networkFaults.length]!)),
      ...many('a server fails in a slice', slices, (i) => this.#failInSlice(i % 2 === 0)),
      ...Array.from({ length: freezes }, (_, i) => freezePoints[i % freezePoints.length]!)
        .flatMap((point) => many(`a leader freezes ${wordsOf(point)}`, 1,
          () => (point === null ? this.#freeze() : this.#freezeAt(point)))),
    ].sort((left, right) => left.at - right.at).map(({ name, fault, i }) => ({
      name,
      strike: async () => {
        await pause(this.#chance.between(0, 1_500));
        await fault(i);
      },
    }));
  }

  async #kill(ofLeader: boolean): Promise<void> {
    const node = ofLeader ? await this.#leader() : this.#chance.pick(this.#nodes);
    const before = await this.#newestEpoch();
    const atMs = performance.now();
    await node.command.kill();
    if (ofLeader) {
      while (await this.#newestEpoch() <= before) await pause(50);
      this.#failovers.push((performance.now() - atMs) / 1_000);
    }
    await node.start();
  }

  async #killDatabase(): Promise<void> {
    await this.#database!.crash();
    await pause(this.#chance.between(0, 1_000));
    await this.#database!.restart();
  }

  async #cut(fault: typeof networkFaults[number]): Promise<void> {
    const { proxy } = this.#chance.pick(this.#nodes);
    const lastsMs = this.#chance.between(100, 1_500 * this.options.leaseSeconds);
    if (fault === 'silence') proxy.silence();
    else if (fault === 'delay') proxy.delay(this.#chance.between(20, 500));
    else if (fault !== 'cut') proxy.halfClose(fault);
    if (fault !== 'cut') await pause(lastsMs);
    proxy.heal();
    proxy.delay(0);
    proxy.cut();
  }

  /** Longer than a lease, so that another node leads when it wakes up. */
  async #freeze(): Promise<void> {
    const node = await this.#leader();
    const before = await this.#newestEpoch();
    node.command.child.kill('SIGSTOP');
    while (await this.#newestEpoch() <= before) await pause(50);
    node.command.child.kill('SIGCONT');
    this.#frozen.push(wordsOf(null));
  }

  /**
   * Stops the leader at a point of a step until another node has taken its lease. It then wakes up,
   * reads the answer to that step, and believes that it leads.
   */
  async #freezeAt(point: StepPoint): Promise<void> {
    const holds = this.#nodes.map((node) => {
      const { held, cancel } = node.proxy.holdAt(point);
      return { cancel, held: held.then((goOn) => ({ node, goOn })) };
    });
    // Somebody must begin to lead.
    const killed = point.step === 'lead' ? await this.#leader() : null;
    await killed?.command.kill();
    const { node, goOn } = await Promise.race(holds.map(({ held }) => held));
    for (const { cancel } of holds) cancel();
    const token = await this.#token();
    node.command.child.kill('SIGSTOP');
    // What another connection reached meanwhile goes on, too.
    for (const { held } of holds) void held.then((other) => other.goOn());
    goOn();
    await killed?.start();
    while (await this.#token() <= token) await pause(50);
    node.command.child.kill('SIGCONT');
    this.#frozen.push(wordsOf(point));
  }

  /**
   * A server that does not lead the study claims a slice, and is killed or stopped before it reads
   * the answer. Its claim is ended, so another server summarises the slice. One that was stopped
   * then goes on with a claim that is not its own any more.
   */
  async #failInSlice(isKilled: boolean): Promise<void> {
    const { node, claim, goOn } = await this.#claiming();
    const { child } = node.command;
    if (isKilled) await node.command.kill();
    else child.kill('SIGSTOP');
    await endClaims(this.#url);
    while (!await isSettled(this.#url, claim)) await pause(50);
    goOn();
    if (isKilled) await node.start();
    else child.kill('SIGCONT');
  }

  /** Waits until a server that does not lead the study has claimed one of its slices. */
  async #claiming(): Promise<{ node: ClusterNode; claim: Claim; goOn: () => void }> {
    const leads = await Promise.all(this.#nodes.map((node) => node.leads()));
    const before = await Promise.all(this.#nodes.map(({ name }) => newestClaim(this.#url, name)));
    const holds = this.#nodes.filter((_, i) => !leads[i]!.includes(sliced)).map((node) => {
      const { held, cancel } = node.proxy.holdAt({ step: 'slice', when: 'in' });
      return { node, cancel, held: held.then((goOn) => ({ node, goOn })) };
    });
    const { node, goOn } = await Promise.race(holds.map(({ held }) => held));
    for (const other of holds) {
      other.cancel();
      if (other.node !== node) void other.held.then((held) => held.goOn());
    }
    const old = before[this.#nodes.indexOf(node)]?.id;
    for (;;) {
      // The answer may come before the commit.
      const claim = await newestClaim(this.#url, node.name);
      if (claim !== null && claim.id !== old) return { node, claim, goOn };
      await pause(10);
    }
  }

  /** How often the lease of the watched study was taken. */
  async #token(): Promise<number> {
    return Number(await psql(this.#url, `select coalesce(max(token), 0) from keelson.leases
      where budget_id = (select budget_id from keelson.studies where name = '${watched}')`));
  }

  /** The node that leads the watched study, once one does. */
  async #leader(): Promise<ClusterNode> {
    for (;;) {
      for (const node of this.#nodes) if ((await node.leads()).includes(watched)) return node;
      await pause(50);
    }
  }

  async #newestEpoch(): Promise<number> {
    const text = await psql(this.#url, `select coalesce(max(last_epoch), 0) from keelson.studies
      where name = '${watched}'`);
    return Number(text);
  }

  /** Two more releases come, and more rows are acknowledged; or a sender has failed. */
  async #goesOn(): Promise<void> {
    const load = this.#loads[studyNames.indexOf(watched)]!;
    const [releases, acks] = [load.published.size, load.acknowledged.length];
    while (load.published.size < releases + 2 || load.acknowledged.length < acks + 5) {
      const failures = this.#loads.flatMap(({ failures: each }) => each.map(String));
      this.#broken.push(...failures);
      for (const node of this.#nodes) {
        if (node.command.child.exitCode === null) continue;
        this.#broken.push(`a server ended: ${node.command.stderr.slice(-2_000)}`);
      }
      if (this.#broken.length > 0) return;
      await pause(20);
    }
  }

  async #ends(node: ClusterNode): Promise<void> {
    const { status, stderr } = await node.command.interrupt();
    if (status !== 0) this.#broken.push(`a server ended with ${status}: ${stderr.slice(-2_000)}`);
  }

  async #judge(): Promise<Verdict> {
    const store = await openPostgresStore({
      url: this.#url, encryptionKeys: this.stage.path('secrets/row-keys'),
    });
    try {
      const { publicKey } =
        signing.createSigner(openServerKeys(this.stage.path('secrets')).seed);
      const published = new Map(this.#loads.flatMap((load) => [...load.published]));
      const acknowledged = this.#loads.flatMap((load) => load.acknowledged);
      const verdict = await judgeStore(store, acknowledged, published, {
        taken: await this.#taken(), keys: async () => keyChain([], publicKey, signing),
        withdrawals: {
          withdrawn: this.#loads.flatMap(({ withdrawn }) => withdrawn),
          regretful: new Set(this.#loads.flatMap(({ regretful }) => [...regretful])),
        },
      });
      this.#broken.push(...verdict.faults, ...verdict.lost.map((name) => `lost: ${name}`),
        ...verdict.twice.map((name) => `twice: ${name}`));
      return verdict;
    } finally {
      await store.close();
    }
  }

  /** Rows that are in the tables and marked as taken back. */
  async #taken(): Promise<Set<string>> {
    const epochs = await psql(this.#url, 'select distinct epoch_key from keelson.withdrawals');
    const rows = await Promise.all(epochs.split('\n').filter((key) => key !== '').map((key) =>
      psql(this.#url, `set search_path = keelson; select encode(public_key, 'hex') || ' ' || sequence
        from journal_${key} join contributors using (contributor_id)
        where contributor_id in (select contributor_id from withdrawals where epoch_key = ${key})`)));
    return new Set(rows.flatMap((text) => text.split('\n')));
  }
}

/** One server, its address, and its connection to the database. */
class ClusterNode {
  command!: LiveCommand;
  port = 0;

  constructor(
    private readonly stage: Stage, readonly proxy: CuttingProxy, readonly name: string,
    private readonly words: readonly string[],
  ) {}

  /** Resolves when it listens, on the port of the start before. @returns its public key. */
  async start(): Promise<string> {
    this.command = this.stage.start([
      'serve', ...this.words, '--port', String(this.port), '--log-level', 'warn', '--json',
    ], smallSlices(slicePeople));
    const listening = await this.command.line(({ type }) => type === 'listening');
    this.port = Number(new URL(String(listening['address'])).port);
    return String(listening['serverKey']);
  }

  /** Names of the studies that it leads. */
  async leads(): Promise<readonly string[]> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`);
      return (await answer.json() as { leads: readonly string[] }).leads;
    } catch {
      // It is down.
      return [];
    }
  }
}
