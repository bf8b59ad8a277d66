import { toHex } from '../../../src/base/bytes.js';
import type { Signer } from '../../../src/signing/index.js';
import { signing } from '../../../src/signing/node.js';
import type { EpochRunner } from '../../../server/epochs/contract.js';
import { checkClock } from '../../../server/store/clock-check.js';
import type { Clock } from '../../../server/base/clock.js';
import {
  createInMemoryListener, type InMemoryListener,
} from '../../../server/listener/in-memory.js';
import type { Store } from '../../../server/store/contract.js';
import type { Engine } from '../../../server/store/sqlite/engine.js';
import { storeOver } from '../../../server/store/sqlite/facade.js';
import { WhileFull } from '../../../server/store/sqlite/while-full.js';
import { GroupCommit } from '../../../server/store/group-commit.js';
import type { StudyDefinition } from '../../../server/studies/definition.js';
import { createStudyHub, type RunningHub } from '../../../server/studies/hub/hub.js';
import type { Chance } from './chance.js';
import type { SimulatedDisk } from './disk.js';
import type { FaultCounts, FaultRates } from './faults.js';
import { keyInForce, mustBeErased, type Fuse } from './key-folder.js';
import type { Model } from './model.js';
import type { Plant } from './planted.js';
import { fastLimits, seriesKey, silent, watchedRunner } from './process.js';
import { ProcessTimers, serverClock, type Scheduler } from './scheduler.js';
import { SimulatedCaller } from './storage.js';

export interface ServerOptions {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly disk: SimulatedDisk;
  readonly model: Model;
  readonly rates: () => FaultRates;
  readonly counts: FaultCounts;
  /** How far it comes with the files of its keys. */
  readonly fuse: Fuse;
  /** Keys that were in force and have been given up, hexadecimal; the one in force is put in. */
  readonly seeds: Set<string>;
  readonly studies: readonly StudyDefinition[];
  /** One more that is asked for and must be left out. */
  readonly broken: StudyDefinition | null;
  readonly confirmsClock: boolean;
  readonly plant: Plant;
  readonly wall: { offsetMs: number };
  /** Its store failed, or it broke an invariant: it wants to be started again. */
  readonly onFatal: (error: unknown) => void;
  /** The power goes, now. */
  readonly onPowerLoss: () => void;
  /** Something threw that must not: ends the simulation. */
  readonly onBroken: (error: unknown) => void;
}

/** One run of the server's process over a disk: real hub, sessions, epochs, ledger and store. */
export class ServerProcess {
  readonly timers: ProcessTimers;
  listener: InMemoryListener | null = null;
  hub: RunningHub | null = null;
  readonly #engine: Engine;

  constructor(private readonly options: ServerOptions) {
    const { scheduler, disk, model, wall } = options;
    this.timers = new ProcessTimers(scheduler, 'server');
    const clock = serverClock(this.timers, wall);
    this.#engine = disk.boot(clock);
    model.recovered(this.#engine);
    this.#start(options.plant.clock?.(clock) ?? clock).catch((error: unknown) => {
      if (!this.timers.alive) return;
      if (options.fuse.isOut) options.onPowerLoss();
      else options.onFatal(error);
    });
  }

  /** The process is gone; what its promises still do reaches nobody. */
  kill(): void {
    this.timers.alive = false;
    this.listener = null;
  }

  /** As on SIGTERM. */
  async stop(): Promise<void> {
    const { listener, hub } = this;
    if (listener === null || hub === null) return;
    await listener.close(true);
    await hub.close();
  }

  async #start(clock: Clock): Promise<void> {
    const { model, studies, plant, onFatal } = this.options;
    const signer = await this.#signer();
    if (!this.timers.alive) return;
    const store = this.#store(clock);
    const { broken, confirmsClock } = this.options;
    await checkClock(store, clock.nowMs(), silent, confirmsClock ? clock.nowMs() : undefined);
    if (!this.timers.alive) return;
    this.#guard(() => this.#countPastCap());
    const hub = await createStudyHub({
      // A seed is the same on every machine.
      memoryBytes: 2 ** 50,
      store, clock, signer, studies: broken === null ? studies : [...studies, broken],
      logger: silent, rotations: this.#engine.rotations(), seriesKey: () => seriesKey,
      runnerFactory: () => this.#runner(),
      onFatal: (error) => { if (this.timers.alive) onFatal(error); },
    });
    if (!this.timers.alive) return;
    this.hub = hub;
    this.#guard(() => model.serves(hub.serverKey));
    this.#guard(() => model.runs(
      hub.studies().map(({ studyId }) => studyId), hub.refused().length, broken === null ? 0 : 1,
    ));
    // What recovery released is in the log before anybody could listen.
    this.#guard(() => model.compareLogs(this.#engine));
    hub.onEvent((event) => {
      if (!this.timers.alive) return;
      if (event.kind === 'release') {
        this.#guard(() => model.published(event.studyId, event.release));
      } else if (event.kind === 'study-stopped') {
        this.#guard(() => model.stopped(event.studyId, this.#engine));
      }
    });
    for (const { studyId, state } of hub.studies()) {
      if (state !== 'open') this.#guard(() => model.stopped(studyId, this.#engine));
    }
    this.listener = createInMemoryListener({
      hub, clock, logger: silent, limits: { ...fastLimits, ...plant.limits },
    });
  }

  /** Counts the starts of a study whose epochs add up to its cap or more. */
  #countPastCap(): void {
    const { studies, counts } = this.options;
    for (const { budget, charge } of studies) {
      const balance = this.#engine.balance(budget.key);
      if (balance === null || balance.rhoSpent + charge.rho <= balance.rhoCap) continue;
      counts['restart-past-cap'] += 1;
    }
  }

  async #signer(): Promise<Signer> {
    const { disk, fuse, seeds } = this.options;
    // Only the next turn may kill what this one makes.
    await Promise.resolve();
    const seed = await keyInForce(disk, this.#engine, fuse);
    seeds.delete(toHex(seed));
    this.#guard(() => mustBeErased(disk, seeds));
    seeds.add(toHex(seed));
    return signing.createSigner(seed);
  }

  #store(clock: Clock): Store {
    const { disk, chance, rates, counts, model, plant, studies } = this.options;
    const disked = new SimulatedCaller({
      timers: this.timers, disk, engine: this.#engine, chance, rates, counts,
      answersEarly: plant.answersEarly === true, onPowerLoss: this.options.onPowerLoss,
      watcher: {
        onAdmitted: (requests, results) => this.#guard(() => {
          model.admitted(requests, results);
          if (studies[0]!.document.budget.scope !== 'contributor') return;
          for (const { studyId, contributor } of requests) {
            model.ownLedger(this.#engine, studyId, contributor);
          }
        }),
        onWithdrawn: (request, result) => this.#guard(() => model.withdrawn(request, result)),
        onDurable: (method, _args, engine) => {
          model.note(method);
          this.#guard(() => model.ledger(engine));
        },
      },
    });
    const caller = new WhileFull(disked, { clock, onChange: () => undefined });
    const real =
      storeOver(caller, clock, new GroupCommit(clock, (batches) => caller.admit(batches)));
    return plant.store?.(real) ?? real;
  }

  #runner(): EpochRunner {
    const { chance, plant, model } = this.options;
    const runner = watchedRunner({
      timers: this.timers, chance, model, stored: this.#engine,
      guard: (check) => this.#guard(check),
    });
    return plant.runner?.(runner) ?? runner;
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.options.onBroken(error);
    }
  }
}
