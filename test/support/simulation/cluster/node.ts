import type { Signer } from '../../../../src/signing/index.js';
import {
  createInMemoryListener, type InMemoryListener,
} from '../../../../server/listener/in-memory.js';
import { StoreNode } from '../../../../server/store/postgres/node.js';
import type { SharedStore } from '../../../../server/store/shared.js';
import type { StudyDefinition } from '../../../../server/studies/definition.js';
import { createStudyHub, type RunningHub } from '../../../../server/studies/hub/hub.js';
import type { Chance } from '../chance.js';
import type { Model } from '../model.js';
import { fastLimits, seriesKey, silent, watchedRunner } from '../process.js';
import { ProcessTimers, serverClock, type Scheduler } from '../scheduler.js';
import { SimulatedConnections, type DatabaseServer } from './connections.js';
import type { ClusterCounts, ClusterRates } from './faults.js';
import type { ClusterPlant } from './plants.js';
import { SimulatedSharedStore } from './store.js';

/** Few enough that an epoch of the crowd has several slices. */
const slicePeople = 2;

export interface NodeOptions {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly server: DatabaseServer;
  readonly model: Model;
  readonly rates: () => ClusterRates;
  readonly counts: ClusterCounts;
  readonly signer: Signer;
  readonly studies: readonly StudyDefinition[];
  readonly plant: ClusterPlant;
  readonly wall: { offsetMs: number };
  /** It wants to be started again. */
  readonly onFatal: (error: unknown) => void;
  /** Something threw that must not: ends the simulation. */
  readonly onBroken: (error: unknown) => void;
}

/** One run of one node's process: the product's hub, sessions and epochs over the shared store. */
export class NodeProcess {
  readonly timers: ProcessTimers;
  listener: InMemoryListener | null = null;
  hub: RunningHub | null = null;
  isStopping = false;
  #store: SharedStore | null = null;

  constructor(private readonly options: NodeOptions) {
    this.timers = new ProcessTimers(options.scheduler, options.name);
    this.#start().catch((error: unknown) => {
      if (this.timers.alive) options.onFatal(error);
    });
  }

  get isFrozen(): boolean {
    return this.timers.alive && this.timers.frozenUntilMs > this.timers.scheduler.nowMs;
  }

  /** True if it leads a study, as far as it knows. */
  get leads(): boolean {
    return (this.hub?.node?.()?.leads.length ?? 0) > 0;
  }

  kill(): void {
    this.timers.alive = false;
    this.listener = null;
  }

  /** As on SIGTERM. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.listener?.close(true);
    await this.hub?.close();
    await this.#store?.close();
  }

  async #start(): Promise<void> {
    const { options, timers } = this;
    const { scheduler, server, chance, rates, counts, model, onBroken, plant } = options;
    const clock = serverClock(timers, options.wall);
    const connections = new SimulatedConnections(
      { scheduler, timers, server, chance, rates, counts, onBroken });
    const node = await StoreNode.enter(connections.asProduct, options.name, async () => {
      // The simulated database has one version.
    });
    const { database } = server;
    this.#store =
      new SimulatedSharedStore({ connections, database, node, clock, plant }).calls();
    const hub = await createStudyHub({
      // A seed is the same on every machine.
      memoryBytes: 2 ** 50,
      store: this.#store, clock, signer: options.signer, studies: options.studies, logger: silent,
      slicePeople,
      seriesKey: () => seriesKey,
      runnerFactory: () => watchedRunner(
        { timers, chance, model, stored: database.stored, guard: (check) => this.#guard(check) }),
      onFatal: (error) => { if (timers.alive) options.onFatal(error); },
    });
    if (!timers.alive) return;
    this.hub = hub;
    this.#guard(() => model.serves(hub.serverKey));
    this.#guard(() => model.runs(
      hub.studies().map(({ studyId }) => studyId), hub.refused().length, 0));
    hub.onEvent((event) => {
      if (!timers.alive) return;
      if (event.kind === 'release') {
        this.#guard(() => model.published(event.studyId, event.release));
      } else if (event.kind === 'study-stopped') {
        this.#guard(() => model.stopped(event.studyId, database.stored));
      }
    });
    for (const { studyId, state } of hub.studies()) {
      if (state !== 'open') this.#guard(() => model.stopped(studyId, database.stored));
    }
    this.listener = createInMemoryListener({ hub, clock, logger: silent, limits: fastLimits });
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.options.onBroken(error);
    }
  }
}
