import { signing } from '../../../../src/signing/node.js';
import { PostgresFailure } from '../../../../server/store/postgres/failures.js';
import type { RunningHub } from '../../../../server/studies/hub/hub.js';
import type { StudyDefinition } from '../../../../server/studies/definition.js';
import { Chance } from '../chance.js';
import { Crowd } from '../crowd.js';
import { verifyLogs } from '../logs.js';
import { Model } from '../model.js';
import { Network } from '../network.js';
import { Scheduler } from '../scheduler.js';
import { idsOf, studiesOf } from '../setting.js';
import type { SimulatedWorld } from '../simulate.js';
import type { DatabaseServer } from './connections.js';
import { SharedDatabase } from './database.js';
import {
  calmCluster, leaseMs, noClusterFaults, type ClusterCounts, type ClusterRates,
} from './faults.js';
import { NodeProcess } from './node.js';
import { clusterPlantOf, type ClusterPlantName } from './plants.js';

const signer = signing.createSigner(new Uint8Array(32).fill(77));
const epochMs = 1_700_000_000_000;

/** More than the product bears between a node's clock and that of the database. */
const offMs = 40_000;

/** Where one node runs; the process changes, the clock stays. */
interface Place {
  readonly name: string;
  readonly wall: { offsetMs: number };
  process: NodeProcess | null;
  isRestarting: boolean;
}

/**
 * Several servers on one database, and the crowd of the world with one server. Each node has a
 * clock of its own.
 */
export class ClusterWorld implements SimulatedWorld<ClusterCounts> {
  readonly scheduler = new Scheduler();
  readonly counts = noClusterFaults();
  readonly model: Model;
  readonly network: Network;
  broken: unknown = null;
  readonly #chance: Chance;
  readonly #server: DatabaseServer;
  readonly #places: Place[] = [];
  readonly #studyIds: string[] = [];
  #definitions: readonly StudyDefinition[] = [];
  #rates: ClusterRates;
  #crowd!: Crowd;

  constructor(
    seed: number, rates: ClusterRates, readonly plant: ClusterPlantName | null,
    onNote: (text: string) => void,
  ) {
    this.#rates = rates;
    this.#chance = Chance.of(seed).fork('cluster');
    const { publicKey } = signer;
    this.model = new Model(signing.createVerifier(publicKey), onNote, true);
    const balancer = this.#chance.fork('balancer');
    this.network = new Network({
      scheduler: this.scheduler, chance: this.#chance.fork('network'), rates: () => this.#rates,
      counts: this.counts,
      listener: () => {
        const up = this.#up();
        return up.length === 0 ? null : balancer.pick(up).listener;
      },
      isFrozen: (listener) => this.#places.some(({ process }) =>
        process?.listener === listener && process.isFrozen),
    });
    this.#server = {
      isUp: true, generation: 0, hearers: new Set(),
      database: new SharedDatabase(() => Math.floor(epochMs + this.scheduler.nowMs), {
        onAdmitted: (requests, results) => this.#guard(() => {
          results.forEach(({ verdict, epoch }, i) => {
            if (verdict !== 'accepted') return;
            const state = this.#server.database.stored.epoch(requests[i]!.studyId, epoch)?.state;
            this.model.acceptedInto(epoch, state);
          });
          this.model.admitted(requests, results);
          if (this.#definitions[0]!.document.budget.scope !== 'contributor') return;
          for (const { studyId, contributor } of requests) {
            this.model.ownLedger(this.#server.database.stored, studyId, contributor);
          }
        }),
        onWithdrawn: (request, result) =>
          this.#guard(() => this.model.withdrawn(request, result)),
        onLed: (...lead) => this.#guard(() => this.model.led(...lead)),
        onSummarised: (...slice) => this.#guard(() => this.model.summarised(...slice)),
        onCommit: () => this.#guard(() => {
          const { stored } = this.#server.database;
          this.model.ledger(stored);
          // From now on every node shows it, and no other leader may change it.
          this.model.compareLogs(stored);
        }),
      }),
    };
  }

  async begin(): Promise<void> {
    this.#server.database.slices.plant = clusterPlantOf(this.plant).slices ?? {};
    const chance = this.#chance.fork('setting');
    this.#definitions = studiesOf(this.#chance, chance, this.#rates).definitions;
    for (const [studyId, definition] of await idsOf(this.#definitions)) {
      this.#studyIds.push(studyId);
      this.model.addStudy(studyId, definition);
    }
    const count = 2 + chance.below(3);
    for (let number = 1; number <= count; number++) {
      const place: Place = {
        name: `node-${number}`, process: null, isRestarting: false,
        wall: { offsetMs: epochMs + chance.between(-1_500, 1_500) },
      };
      this.#places.push(place);
      this.#start(place);
    }
    this.#crowd = new Crowd({
      scheduler: this.scheduler, network: this.network, chance: this.#chance, model: this.model,
      counts: this.counts, serverKey: signer.publicKey, studyIds: this.#studyIds,
      rates: () => this.#rates, hub: () => this.#hub(), onBroken: (error) => this.#fail(error),
    });
    this.#crowd.begin(3 + chance.below(4));
    this.#crowd.scheduleFaults(this.#rates);
    this.#scheduleFaults(this.#rates);
  }

  quiet(): void {
    this.#rates = calmCluster;
    this.#crowd.quiet();
    for (const place of this.#places) place.wall.offsetMs = epochMs;
  }

  openEpochs(): Map<string, bigint> {
    return this.#crowd.openEpochs();
  }

  unfinished(target: ReadonlyMap<string, bigint>): string | null {
    if (this.#up().length < this.#places.length) return 'a node is not up';
    // Its process is about to end, and what it is asked then is never answered.
    if (this.#up().some(({ isStopping }) => isStopping)) return 'a node is stopping';
    const all = this.#places.map(({ process }) => this.#crowd.unfinished(process!.hub!, target));
    return all.find((left) => left !== null) ?? null;
  }

  verifyLogs(): Promise<void> {
    const { takings, slices } = this.#server.database;
    Object.assign(this.counts, {
      'lead-taken': takings, 'slice-taken-over': slices.takenOver, 'slice-lost': slices.lost,
    });
    return verifyLogs(this.#hub()!, this.model, this.scheduler);
  }

  end(): void {
    for (const { process } of this.#places) process?.kill();
    this.#server.database.remove();
  }

  #fail(error: unknown): void {
    this.broken ??= error;
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#fail(error);
    }
  }

  #up(): readonly NodeProcess[] {
    return this.#places.flatMap(({ process }) =>
      (process !== null && process.listener !== null ? [process] : []));
  }

  #hub(): RunningHub | null {
    return this.#up()[0]?.hub ?? null;
  }

  #start(place: Place): void {
    place.isRestarting = false;
    const chance = this.#chance.fork(`${place.name} starts ${this.scheduler.nowMs}`);
    if (chance.happens(this.#rates.clockOff)) {
      this.counts['node-clock-off'] += 1;
      place.wall.offsetMs = epochMs + offMs;
    } else if (place.wall.offsetMs === epochMs + offMs) {
      place.wall.offsetMs = epochMs;
    }
    place.process = new NodeProcess({
      name: place.name, scheduler: this.scheduler, chance, server: this.#server,
      model: this.model, rates: () => this.#rates, counts: this.counts, signer,
      studies: this.#definitions, plant: clusterPlantOf(this.plant), wall: place.wall,
      // A start without a database ends, and is made again.
      onFatal: (error) => {
        if (place.process!.hub !== null || !isAway(error)) this.#fail(error);
        else this.scheduler.after(1, 'exit', () => this.#crash(place));
      },
      onBroken: (error) => this.#fail(error),
    });
  }

  #crash(place: Place): void {
    const { process } = place;
    if (place.isRestarting || process === null) return;
    place.isRestarting = true;
    const { listener } = process;
    process.kill();
    this.network.hangUp((connection) =>
      listener !== null && connection.listener === listener && connection.established, 'server');
    const downMs = this.#chance.fork(`${place.name} down ${this.scheduler.nowMs}`)
      .between(1, 2 * leaseMs);
    this.scheduler.after(downMs, `${place.name} starts`, () => this.#start(place));
  }

  #stop(place: Place): void {
    const { process } = place;
    if (process === null || process.listener === null || place.isRestarting) return;
    this.counts['node-stop'] += 1;
    void process.stop().then(() => {
      if (process === place.process && process.timers.alive) this.#crash(place);
    }, (error: unknown) => { if (process.timers.alive) this.#fail(error); });
  }

  /** Half of the freezes are longer than a lease. Leaders are chosen more often than others. */
  #freeze(chance: Chance): void {
    const leader = this.#places.find(({ process }) => process?.timers.alive && process.leads);
    const place = chance.happens(0.6) && leader !== undefined ? leader : chance.pick(this.#places);
    const { process } = place;
    if (process === null || !process.timers.alive || process.isFrozen) return;
    const isLong = chance.happens(0.5);
    const forMs = isLong ? chance.between(leaseMs, 4 * leaseMs) : chance.between(5, leaseMs);
    this.counts[isLong ? 'long-frozen' : 'node-frozen'] += 1;
    process.timers.frozenUntilMs = this.scheduler.nowMs + forMs;
  }

  #restartDatabase(chance: Chance): void {
    const server = this.#server;
    if (!server.isUp) return;
    this.counts['database-restart'] += 1;
    server.isUp = false;
    server.generation += 1;
    for (const hearer of [...server.hearers]) hearer.lose();
    server.hearers.clear();
    this.scheduler.after(chance.between(5, 1_000), 'database starts',
      () => { server.isUp = true; });
  }

  #scheduleFaults(rates: ClusterRates): void {
    this.#crowd.every('node-crash', rates.crashEveryMs, (chance) => {
      const place = chance.pick(this.#places);
      if (place.isRestarting) return;
      this.counts['node-crash'] += 1;
      this.#crash(place);
    });
    this.#crowd.every('node-stop', rates.stopEveryMs, (chance) =>
      this.#stop(chance.pick(this.#places)));
    this.#crowd.every('node-frozen', rates.freezeEveryMs, (chance) => this.#freeze(chance));
    this.#crowd.every('database-restart', rates.databaseRestartEveryMs, (chance) =>
      this.#restartDatabase(chance));
    this.#crowd.every('clock-jump', rates.clockJumpEveryMs, (chance) => {
      this.counts['clock-jump'] += 1;
      chance.pick(this.#places).wall.offsetMs = epochMs + chance.between(-3_000, 3_000);
    });
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof PostgresFailure && error.kind === 'lost';
