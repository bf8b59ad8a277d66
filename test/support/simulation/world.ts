import { toHex } from '../../../src/base/bytes.js';
import { signing } from '../../../src/signing/node.js';
import {
  decodeHeadBody, encodeStudyDocument, studyId as idOfFacts,
} from '../../../src/wire/index.js';
import { encodeLogLine } from '../../../src/log/index.js';
import { subscribe } from '../../../client/index.js';
import type { StudyDefinition } from '../../../server/studies/definition.js';
import { Chance } from './chance.js';
import { SimulatedContributor } from './contributor.js';
import { SimulatedDisk } from './disk.js';
import { calm, noFaults, type FaultRates } from './faults.js';
import { changeKey, Fuse, stepsOfChange, stepsOfStart, writeFirstKey } from './key-folder.js';
import { HostileCrowd } from './hostile.js';
import { Model } from './model.js';
import { Network } from './network.js';
import { plantOf, type PlantName } from './planted.js';
import { clientRuntime, ProcessTimers, Scheduler, serverClock, settled } from './scheduler.js';
import { ServerProcess } from './server.js';
import { everyMs, studyOf, type SimulatedFacts } from './study.js';

const firstSeed = new Uint8Array(32).fill(77);
const firstKey = signing.createSigner(firstSeed).publicKey;

/** How far a clock that is wrong is ahead: more than a start bears once it is set right. */
const aheadMs = 3 * 3_600_000;

/**
 * One world: a server, its disk, a network, contributors honest and hostile, a subscriber; all from
 * one seed.
 */
export class World {
  readonly scheduler = new Scheduler();
  readonly counts = noFaults();
  readonly model: Model;
  readonly network: Network;
  readonly contributors: SimulatedContributor[] = [];
  readonly disk = new SimulatedDisk();
  server: ServerProcess | null = null;
  broken: unknown = null;
  studyIds: string[] = [];
  rates: FaultRates;
  readonly #chance: Chance;
  readonly #wall = { offsetMs: 1_700_000_000_000 };
  #definitions: readonly StudyDefinition[] = [];
  /** Asks for more than the budget that is there: the store refuses it. */
  #broken!: StudyDefinition;
  /** The clock is ahead; or it is right again, and the folder has seen it ahead. */
  #clock: 'right' | 'ahead' | 'set right' = 'right';
  /** The server was started with what its operator said of the time. */
  #confirms = false;
  #restarting = false;
  #hostile: HostileCrowd | null = null;
  #received = 0;
  /** Every private key that was in force, hexadecimal. */
  readonly #seeds = new Set<string>();

  constructor(
    readonly seed: number, rates: FaultRates, readonly plant: PlantName | null,
    onNote: (text: string) => void,
  ) {
    this.model = new Model(signing.createVerifier(firstKey), onNote);
    this.#chance = Chance.of(seed);
    this.rates = rates;
    this.disk.marksFirst = plantOf(plant).marksFirst === true;
    this.network = new Network({
      scheduler: this.scheduler, chance: this.#chance.fork('network'), rates: () => this.rates,
      counts: this.counts, listener: () => this.server?.listener ?? null,
    });
  }

  /** Makes everybody; the first step is still to come. */
  async begin(): Promise<void> {
    const chance = this.#chance.fork('setting');
    const asksLists = this.#chance.fork('questions').happens(this.rates.lists);
    const usualScope = chance.pick(['study', 'study', 'contributor', 'population'] as const);
    // Running totals are of contributor scope.
    const scope = asksLists && usualScope === 'study' ? 'contributor' : usualScope;
    const late = chance.pick(['next', 'next', 'drop'] as const);
    const names = scope === 'population' ? ['tally', 'tally-too'] : ['tally'];
    const budgetEpsilon = chance.pick([2, 3, 12]);
    const usual = { scope, late, epsilon: budgetEpsilon };
    const facts: SimulatedFacts = asksLists ? { ...usual, lists: true } : this.#budgetOf(usual);
    this.#definitions = names.map((name) => studyOf(name, facts));
    this.#broken = studyOf(names[0]!, { ...facts, epsilon: 2 * facts.epsilon });
    for (const definition of this.#definitions) {
      const id = await idOfFacts(encodeStudyDocument(definition.document), signing);
      const hex = typeof id === 'string' ? id : toHex(id);
      this.studyIds.push(hex);
      this.model.addStudy(hex, definition);
    }
    writeFirstKey(this.disk, firstSeed);
    this.#startServer();
    const count = 3 + chance.below(4);
    for (let number = 1; number <= count; number++) this.#addContributor(number);
    for (const studyId of this.studyIds) void this.#subscribe(studyId);
    const rates = this.rates;
    if (rates.hostileEveryMs < Infinity) {
      this.#hostile = new HostileCrowd(this.#worldOf(0, 'hostile'), () => this.#openEpoch());
    }
    this.#scheduleFaults(rates);
  }

  /**
   * Some worlds have a budget of another rule, one that renews, or one that is used up after a few
   * epochs.
   */
  #budgetOf(facts: SimulatedFacts): SimulatedFacts {
    const chance = this.#chance.fork('budget');
    if (!chance.happens(this.rates.budgets)) return facts;
    const rule = chance.pick(['zcdp', 'pure', 'renyi'] as const);
    const epsilon = chance.pick([1.3, 2, facts.epsilon]);
    return { ...facts, rule, epsilon, ...(chance.happens(0.4) && { perMs: 3 * everyMs }) };
  }

  /** A server runs and listens. */
  get isUp(): boolean {
    return (this.server?.listener ?? null) !== null;
  }

  fail(error: unknown): void {
    this.broken ??= error;
  }

  /** Faults end, and nobody sends anything new. */
  heal(): void {
    this.rates = calm;
    this.network.cutOff.clear();
    for (const connection of [...this.network.connections]) {
      connection.release('client');
      connection.release('server');
    }
  }

  /** Null when all is as it should be once faults have stopped. */
  unfinished(target: ReadonlyMap<string, bigint>): string | null {
    const hub = this.server?.hub ?? null;
    if (hub === null || !this.isUp) return 'the server is not up';
    // Of studies that share a small renewing budget one may get no epoch for long: nobody is
    // promised a turn.
    const mayWait = (contributor: SimulatedContributor): boolean => contributor.waitsForEpoch
      && hub.study(contributor.studyId)!.document.budget.scope === 'population';
    const owing =
      this.contributors.filter((contributor) => contributor.owed > 0 && !mayWait(contributor));
    if (owing.length > 0) {
      return `no answer for ${owing.map((contributor) => contributor.standing).join(', ')}`;
    }
    for (const [studyId, epoch] of target) {
      const view = hub.study(studyId)!;
      if (view.state === 'open' && view.epoch <= epoch && view.epoch !== 0n) {
        return `epoch ${epoch} does not end`;
      }
    }
    // A study that shares a small budget may find all of it spent by the others.
    const isOut = (studyId: string): boolean => {
      const { epoch, document } = hub.study(studyId)!;
      return epoch === 0n && document.budget.scope === 'population';
    };
    if (this.studyIds.some((studyId) => this.model.count(studyId) === 0 && !isOut(studyId))) {
      return 'nothing was released';
    }
    const published = this.studyIds.reduce((sum, studyId) => sum + this.model.count(studyId), 0);
    return this.#received >= published ? null : 'a subscriber waits for a release';
  }

  openEpochs(): Map<string, bigint> {
    return new Map(
      this.studyIds.map((studyId) => [studyId, this.server?.hub?.study(studyId)?.epoch ?? 0n]),
    );
  }

  end(): void {
    this.server?.kill();
    this.disk.remove();
  }

  #worldOf(study: number, label: string) {
    return {
      scheduler: this.scheduler, network: this.network, chance: this.#chance.fork(label),
      model: this.model, counts: this.counts, rates: () => this.rates, serverKey: firstKey,
      studyId: this.studyIds[study]!, onBroken: (error: unknown) => this.fail(error),
    };
  }

  #addContributor(number: number): void {
    const study = number % this.studyIds.length;
    const contributor =
      new SimulatedContributor(this.#worldOf(study, `contributor ${number}`), number);
    this.contributors.push(contributor);
    const chance = this.#chance.fork(`sends ${number}`);
    const regrets = this.#chance.fork(`withdraws ${number}`);
    const again = (): void => {
      this.scheduler.after(chance.between(10, everyMs / 2), `contributor-${number} thinks`, () => {
        if (this.rates === calm && this.#healed) return;
        if (contributor.alive && contributor.owed < 8) contributor.send();
        if (contributor.alive && this.rates.withdraw > 0 && regrets.happens(this.rates.withdraw)) {
          contributor.withdraw();
        }
        again();
      });
    };
    again();
  }

  #healed = false;

  /** From now on nobody begins anything. */
  quiet(): void {
    this.#healed = true;
    this.heal();
  }

  async #subscribe(studyId: string): Promise<void> {
    const timers = new ProcessTimers(this.scheduler, 'subscriber');
    const chance = this.#chance.fork(`subscriber ${studyId}`);
    try {
      const releases = subscribe({
        url: 'ws://simulated/', study: studyId, serverKey: firstKey,
        runtime: clientRuntime(timers, () => chance.uniform()),
        openTransport:
          this.network.transportOf(`subscriber-${studyId.slice(0, 4)}`, () => timers.alive),
        backoffInitialMs: 10, backoffMaxMs: 150, idleTimeoutMs: 700,
      });
      for await (const { release, signed } of releases) {
        this.model.received(studyId, Number(release.index), signed.body);
        this.#received += 1;
      }
    } catch (error) {
      this.fail(error);
    }
  }

  /** @param confirmsClock its operator says what time it is. */
  #startServer(fuse = new Fuse(Infinity), confirmsClock = false): void {
    this.#restarting = false;
    const chance = this.#chance.fork(`starts ${this.scheduler.nowMs}`);
    const broken = chance.happens(this.rates.brokenStudy) ? this.#broken : null;
    if (broken !== null) this.counts['broken-study'] += 1;
    if (!confirmsClock) this.#setClock(chance);
    this.#confirms = confirmsClock;
    try {
      this.server = new ServerProcess({
        scheduler: this.scheduler, chance: this.#chance.fork(`server ${this.scheduler.nowMs}`),
        disk: this.disk, model: this.model, rates: () => this.rates, counts: this.counts, fuse,
        seeds: this.#seeds, studies: this.#definitions, broken, confirmsClock,
        plant: plantOf(this.plant), wall: this.#wall, onFatal: (error) => this.#onFatal(error),
        onPowerLoss: () => this.#powerLoss(),
        onBroken: (error) => this.fail(error),
      });
    } catch (error) {
      this.fail(error);
    }
  }

  /**
   * The product asks to be started again after its disk failed. Anything else that stops it is a
   * defect.
   */
  #onFatal(error: unknown): void {
    this.model.note('fatal');
    if ((error as { code?: string }).code === 'clock-implausible' && this.#clock === 'set right') {
      return void this.scheduler.after(1, 'exit', () => this.#confirmClock());
    }
    if ((error as { code?: string }).code !== 'storage-failed') return this.fail(error);
    this.scheduler.after(1, 'exit', () => this.crashServer());
  }

  /** A clock that is hours ahead at one start is right at the next. */
  #setClock(chance: Chance): void {
    if (this.#clock === 'ahead') {
      this.#wall.offsetMs -= aheadMs;
      this.#clock = 'set right';
    } else if (chance.happens(this.rates.wrongClock)) {
      this.counts['clock-wrong'] += 1;
      this.#wall.offsetMs += aheadMs;
      this.#clock = 'ahead';
    }
  }

  /** The start was refused because the folder is ahead of the clock, which is right. */
  #confirmClock(): void {
    // The server crashed before its operator had read the refusal: the next start is refused again.
    if (this.#restarting) return;
    this.counts['clock-refused'] += 1;
    this.server!.kill();
    this.disk.crash(this.#chance.fork(`confirms ${this.scheduler.nowMs}`));
    this.model.clockConfirmed = true;
    this.#clock = 'right';
    this.#startServer(undefined, true);
  }

  crashServer(): void {
    if (this.#restarting || this.server === null) return;
    this.#restarting = true;
    // A start that died before it was up may not have used what its operator confirmed.
    if (this.#confirms && this.server.hub === null) this.#clock = 'set right';
    this.server.kill();
    this.network.hangUp((connection) => connection.established, 'server');
    const { torn } = this.disk;
    this.disk.crash(this.#chance.fork(`tear ${this.scheduler.nowMs}`));
    this.counts['torn-log'] += this.disk.torn - torn;
    this.scheduler
      .after(this.#chance.fork(`down ${this.scheduler.nowMs}`).between(1, 250), 'server starts',
        () => this.#startAgain());
  }

  /**
   * Before the server starts, its operator may change its key; which may be cut short, and so may
   * the start after that.
   */
  #startAgain(): void {
    const chance = this.#chance.fork(`changes key ${this.scheduler.nowMs}`);
    if (!chance.happens(this.rates.changeKey)) return this.#startServer();
    this.#changeKey(chance).then(
      (isWhole) => {
        const isCutAgain = !isWhole && chance.happens(0.3);
        this.scheduler.after(chance.between(1, 100), 'server starts',
          () => this.#startServer(isCutAgain ? new Fuse(chance.below(stepsOfStart)) : undefined));
      },
      (error: unknown) => this.fail(error),
    );
  }

  async #changeKey(chance: Chance): Promise<boolean> {
    const { counts, disk, model, scheduler } = this;
    const clock = serverClock(new ProcessTimers(scheduler, 'keys rotate'), this.#wall);
    const fuse = new Fuse(chance.happens(0.45) ? Infinity : chance.below(stepsOfChange));
    const record = await changeKey(disk, disk.boot(clock), fuse, clock.nowMs());
    counts[record === null ? 'key-change-cut' : 'key-changed'] += 1;
    if (record !== null) model.keyChanged(record);
    const { torn } = disk;
    disk.crash(chance);
    counts['torn-log'] += disk.torn - torn;
    return record !== null;
  }

  /** The chain of every study, as one that trusts the first key reads it. */
  async verifyLogs(): Promise<void> {
    const hub = this.server!.hub!;
    for (const { studyId, facts, factsSignature: signature } of hub.studies()) {
      const head = await this.#answered(hub.head(studyId));
      // Another may come meanwhile.
      const count = Number(decodeHeadBody(head.body).count);
      const releases = (await this.#answered(hub.releases(studyId, 0, 10_000))).slice(0, count);
      await this.model.mustVerify(studyId, [
        encodeLogLine({ type: 'study', facts, serverKey: hub.serverKey, signature }),
        ...hub.rotations.map((record) => encodeLogLine({ type: 'rotation', record })),
        ...releases.map((release) =>
          encodeLogLine({ type: 'release', body: release.body, signature: release.signature })),
        encodeLogLine({ type: 'head', ...head }),
      ]);
    }
  }

  /** The world goes on until the store's thread has answered. */
  async #answered<T>(asked: Promise<T>): Promise<T> {
    let isThere = false;
    const done = asked.finally(() => { isThere = true; });
    for (await settled(); !isThere; await settled()) {
      if (this.scheduler.step() === null) break;
    }
    return done;
  }

  #powerLoss(): void {
    if (this.#restarting || this.server === null) return;
    this.counts['server-crash'] += 1;
    this.crashServer();
  }

  #stopServer(): void {
    const { server } = this;
    if (server === null || !this.isUp || this.#restarting) return;
    this.counts['graceful-stop'] += 1;
    void server.stop().then(() => {
      if (server === this.server && server.timers.alive) this.crashServer();
    }, (error: unknown) => { if (server.timers.alive) this.fail(error); });
  }

  #openEpoch(): bigint {
    return this.server?.hub?.study(this.studyIds[0]!)?.epoch ?? 1n;
  }

  #scheduleFaults(rates: FaultRates): void {
    const { counts, network } = this;
    this.#every('server-crash', rates.crashEveryMs, () => this.#powerLoss());
    this.#every('graceful-stop', rates.stopEveryMs, () => this.#stopServer());
    this.#every('client-crash', rates.clientCrashEveryMs, (chance) =>
      chance.pick(this.contributors).crash());
    this.#every('clock-jump', rates.clockJumpEveryMs, (chance) => {
      counts['clock-jump'] += 1;
      this.#wall.offsetMs += chance.between(-3_000, 3_000);
    });
    this.#every('half-open', rates.halfOpenEveryMs, (chance) => {
      const connections = [...network.connections];
      if (connections.length === 0) return;
      counts['half-open'] += 1;
      chance.pick(connections).silent = true;
    });
    this.#every('slow-reader', rates.slowReaderEveryMs, (chance) => {
      const connections = [...network.connections];
      if (connections.length === 0) return;
      counts['slow-reader'] += 1;
      const connection = chance.pick(connections);
      connection.hold('client');
      this.scheduler.after(chance.between(50, 2_500), 'reads again', () =>
        connection.release('client'));
    });
    this.#every('partition', rates.partitionEveryMs, (chance) => {
      counts.partition += 1;
      const { host } = chance.pick(this.contributors);
      network.cutOff.add(host);
      this.scheduler
        .after(chance.between(50, 1_500), 'partition ends', () => { network.cutOff.delete(host); });
    });
    this.#every('hostile', rates.hostileEveryMs, () => {
      if (this.#hostile?.act() === true) counts['hostile-frame'] += 1;
    });
  }

  #every(label: string, meanMs: number, action: (chance: Chance) => void): void {
    if (meanMs === Infinity) return;
    const chance = this.#chance.fork(`fault ${label}`);
    const again = (): void => {
      this.scheduler.after(-meanMs * Math.log(1 - chance.uniform()), label, () => {
        if (this.#healed) return;
        action(chance);
        again();
      });
    };
    again();
  }
}
