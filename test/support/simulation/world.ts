import { signing } from '../../../src/signing/node.js';
import type { StudyDefinition } from '../../../server/studies/definition.js';
import { Chance } from './chance.js';
import { Crowd } from './crowd.js';
import { SimulatedDisk } from './disk.js';
import { calm, noFaults, type FaultRates } from './faults.js';
import { changeKey, Fuse, stepsOfChange, stepsOfStart, writeFirstKey } from './key-folder.js';
import { verifyLogs } from './logs.js';
import { Model } from './model.js';
import { Network } from './network.js';
import { plantOf, type PlantName } from './planted.js';
import { ProcessTimers, Scheduler, serverClock } from './scheduler.js';
import { ServerProcess } from './server.js';
import { idsOf, studiesOf } from './setting.js';

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
  #crowd!: Crowd;
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
    const { definitions, broken } = studiesOf(this.#chance, chance, this.rates);
    this.#definitions = definitions;
    this.#broken = broken;
    for (const [studyId, definition] of await idsOf(definitions)) {
      this.studyIds.push(studyId);
      this.model.addStudy(studyId, definition);
    }
    writeFirstKey(this.disk, firstSeed);
    this.#startServer();
    const count = 3 + chance.below(4);
    this.#crowd = new Crowd({
      scheduler: this.scheduler, network: this.network, chance: this.#chance, model: this.model,
      counts: this.counts, serverKey: firstKey, studyIds: this.studyIds, rates: () => this.rates,
      hub: () => this.server?.hub ?? null, onBroken: (error) => this.fail(error),
    });
    this.#crowd.begin(count);
    this.#scheduleFaults(this.rates);
    this.#crowd.scheduleFaults(this.rates);
  }

  /** A server runs and listens. */
  get isUp(): boolean {
    return (this.server?.listener ?? null) !== null;
  }

  fail(error: unknown): void {
    this.broken ??= error;
  }

  /** Null when all is as it should be once faults have stopped. */
  unfinished(target: ReadonlyMap<string, bigint>): string | null {
    const hub = this.server?.hub ?? null;
    if (hub === null || !this.isUp) return 'the server is not up';
    return this.#crowd.unfinished(hub, target);
  }

  openEpochs(): Map<string, bigint> {
    return this.#crowd.openEpochs();
  }

  end(): void {
    this.server?.kill();
    this.disk.remove();
  }

  /** From now on nobody begins anything. */
  quiet(): void {
    this.rates = calm;
    this.#crowd.quiet();
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

  verifyLogs(): Promise<void> {
    return verifyLogs(this.server!.hub!, this.model, this.scheduler);
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

  #scheduleFaults(rates: FaultRates): void {
    this.#crowd.every('server-crash', rates.crashEveryMs, () => this.#powerLoss());
    this.#crowd.every('graceful-stop', rates.stopEveryMs, () => this.#stopServer());
    this.#crowd.every('clock-jump', rates.clockJumpEveryMs, (chance) => {
      this.counts['clock-jump'] += 1;
      this.#wall.offsetMs += chance.between(-3_000, 3_000);
    });
  }
}
