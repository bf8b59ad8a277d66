import { subscribe } from '../../../client/index.js';
import type { RunningHub } from '../../../server/studies/hub/hub.js';
import type { Chance } from './chance.js';
import { SimulatedContributor } from './contributor.js';
import { calm, type FaultCounts, type FaultRates } from './faults.js';
import { HostileCrowd } from './hostile.js';
import type { Model } from './model.js';
import type { Network } from './network.js';
import { clientRuntime, ProcessTimers, type Scheduler } from './scheduler.js';
import { everyMs } from './study.js';

/** The world that a crowd lives in. */
export interface CrowdWorld {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly chance: Chance;
  readonly model: Model;
  readonly counts: FaultCounts;
  readonly serverKey: Uint8Array;
  readonly studyIds: readonly string[];
  readonly rates: () => FaultRates;
  /** A server that runs; null when none does. */
  readonly hub: () => RunningHub | null;
  readonly onBroken: (error: unknown) => void;
}

/** Everybody outside of the servers, and what happens to them and to the network. */
export class Crowd {
  readonly contributors: SimulatedContributor[] = [];
  #hostile: HostileCrowd | null = null;
  #received = 0;
  #isQuiet = false;

  constructor(private readonly world: CrowdWorld) {}

  /** Honest contributors, one subscriber of each study, and hostile ones if the rates say so. */
  begin(count: number): void {
    const { studyIds, rates } = this.world;
    for (let number = 1; number <= count; number++) this.#addContributor(number);
    for (const studyId of studyIds) void this.#subscribe(studyId);
    if (rates().hostileEveryMs < Infinity) {
      this.#hostile = new HostileCrowd(this.#worldOf(0, 'hostile'), () =>
        this.world.hub()?.study(studyIds[0]!)?.epoch ?? 1n);
    }
  }

  /** From now on nobody begins anything, and nothing holds a connection up. */
  quiet(): void {
    this.#isQuiet = true;
    const { network } = this.world;
    network.cutOff.clear();
    for (const connection of [...network.connections]) {
      connection.release('client');
      connection.release('server');
    }
  }

  openEpochs(): Map<string, bigint> {
    return new Map(this.world.studyIds.map((studyId) =>
      [studyId, this.world.hub()?.study(studyId)?.epoch ?? 0n]));
  }

  /** Null when all is as it should be once faults have stopped. */
  unfinished(hub: RunningHub, target: ReadonlyMap<string, bigint>): string | null {
    const { model, studyIds } = this.world;
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
    if (studyIds.some((studyId) => model.count(studyId) === 0 && !isOut(studyId))) {
      return 'nothing was released';
    }
    const published = studyIds.reduce((sum, studyId) => sum + model.count(studyId), 0);
    return this.#received >= published ? null : 'a subscriber waits for a release';
  }

  /** What happens to contributors and connections. */
  scheduleFaults(rates: FaultRates): void {
    const { counts, network, scheduler } = this.world;
    this.every('client-crash', rates.clientCrashEveryMs, (chance) =>
      chance.pick(this.contributors).crash());
    this.every('half-open', rates.halfOpenEveryMs, (chance) => {
      const connections = [...network.connections];
      if (connections.length === 0) return;
      counts['half-open'] += 1;
      chance.pick(connections).silent = true;
    });
    this.every('slow-reader', rates.slowReaderEveryMs, (chance) => {
      const connections = [...network.connections];
      if (connections.length === 0) return;
      counts['slow-reader'] += 1;
      const connection = chance.pick(connections);
      connection.hold('client');
      scheduler.after(chance.between(50, 2_500), 'reads again', () =>
        connection.release('client'));
    });
    this.every('partition', rates.partitionEveryMs, (chance) => {
      counts.partition += 1;
      const { host } = chance.pick(this.contributors);
      network.cutOff.add(host);
      scheduler
        .after(chance.between(50, 1_500), 'partition ends', () => { network.cutOff.delete(host); });
    });
    this.every('hostile', rates.hostileEveryMs, () => {
      if (this.#hostile?.act() === true) counts['hostile-frame'] += 1;
    });
  }

  /** Until the world is quiet. @param meanMs Infinity for never. */
  every(label: string, meanMs: number, action: (chance: Chance) => void): void {
    if (meanMs === Infinity) return;
    const chance = this.world.chance.fork(`fault ${label}`);
    const again = (): void => {
      this.world.scheduler.after(-meanMs * Math.log(1 - chance.uniform()), label, () => {
        if (this.#isQuiet) return;
        action(chance);
        again();
      });
    };
    again();
  }

  #worldOf(study: number, label: string) {
    const { scheduler, network, chance, model, counts, rates, serverKey, onBroken } = this.world;
    return {
      scheduler, network, chance: chance.fork(label), model, counts, rates, serverKey, onBroken,
      studyId: this.world.studyIds[study]!,
    };
  }

  #addContributor(number: number): void {
    const { scheduler, chance: all, studyIds, rates } = this.world;
    const study = number % studyIds.length;
    const contributor =
      new SimulatedContributor(this.#worldOf(study, `contributor ${number}`), number);
    this.contributors.push(contributor);
    const chance = all.fork(`sends ${number}`);
    const regrets = all.fork(`withdraws ${number}`);
    const again = (): void => {
      scheduler.after(chance.between(10, everyMs / 2), `contributor-${number} thinks`, () => {
        if (rates() === calm && this.#isQuiet) return;
        if (contributor.alive && contributor.owed < 8) contributor.send();
        if (contributor.alive && rates().withdraw > 0 && regrets.happens(rates().withdraw)) {
          contributor.withdraw();
        }
        again();
      });
    };
    again();
  }

  async #subscribe(studyId: string): Promise<void> {
    const { scheduler, network, chance: all, model, serverKey, onBroken } = this.world;
    const timers = new ProcessTimers(scheduler, 'subscriber');
    const chance = all.fork(`subscriber ${studyId}`);
    try {
      const releases = subscribe({
        url: 'ws://simulated/', study: studyId, serverKey,
        runtime: clientRuntime(timers, () => chance.uniform()),
        openTransport: network.transportOf(`subscriber-${studyId.slice(0, 4)}`, () => timers.alive),
        backoffInitialMs: 10, backoffMaxMs: 150, idleTimeoutMs: 700,
      });
      for await (const { release, signed } of releases) {
        model.received(studyId, Number(release.index), signed.body);
        this.#received += 1;
      }
    } catch (error) {
      onBroken(error);
    }
  }
}
