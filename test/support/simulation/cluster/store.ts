import type { Clock } from '../../../../server/base/clock.js';
import type {
  AdmissionRequest, AdmissionResult, Store, StudyId, WithdrawalRequest, WithdrawalResult,
} from '../../../../server/store/contract.js';
import { GroupCommit } from '../../../../server/store/group-commit.js';
import { Latencies } from '../../../../server/store/latencies.js';
import { moved, PostgresFailure } from '../../../../server/store/postgres/failures.js';
import { Leases, type Grant } from '../../../../server/store/postgres/leases.js';
import { leaderLocks, nodeLocks } from '../../../../server/store/postgres/locks.js';
import { News } from '../../../../server/store/postgres/news.js';
import type { StoreNode } from '../../../../server/store/postgres/node.js';
import { slicesOf } from '../../../../server/store/postgres/slices.js';
import { throughOutage } from '../../../../server/store/postgres/outage.js';
import { Writer, type Locks } from '../../../../server/store/postgres/writer.js';
import { changesOf, chargesOf, readsOf } from '../../../../server/store/rules/calls.js';
import { newestTime, repairTimes } from '../../../../server/store/rules/clock-repair.js';
import { unpurgedLapses } from '../../../../server/store/rules/epochs.js';
import type { Steps } from '../../../../server/store/rules/steps.js';
import type {
  LeaderCalls, Leadership, SharedStore, StudyStanding,
} from '../../../../server/store/shared.js';
import { leaseMs } from './faults.js';
import { news, type SimulatedConnections } from './connections.js';
import type { SharedDatabase, View } from './database.js';
import type { ClusterPlant } from './plants.js';

type AnySteps = (...args: unknown[]) => Steps<unknown>;
type AnyLocks = (...args: unknown[]) => Locks;

export interface SimulatedStoreOptions {
  readonly connections: SimulatedConnections;
  readonly database: SharedDatabase;
  readonly node: StoreNode;
  readonly clock: Clock;
  readonly plant: ClusterPlant;
}

/**
 * One node's store over the simulated database. Doubt after a lost connection, leases, news, group
 * commit and the rules of every transaction are the product's; the SQL around them is not
 * (SharedDatabase).
 */
export class SimulatedSharedStore {
  readonly #writer: Writer;
  readonly #leases: Leases;
  readonly #news: News;
  readonly #group: GroupCommit;
  /** What this node has read of the studies it takes lists for. */
  readonly #views = new Map<StudyId, View>();
  #isClosing = false;

  constructor(private readonly options: SimulatedStoreOptions) {
    const { node, clock } = options;
    const connections = options.connections.asProduct;
    this.#writer = new Writer(
      connections, node, clock,
      { isClosing: () => this.#isClosing, endsSoon: () => this.#isClosing }, async () => {},
    );
    this.#leases = new Leases(connections, this.#writer, node, clock, leaseMs);
    this.#news = new News(connections, clock);
    this.#group = new GroupCommit(clock, (batches) => this.#admit(batches));
  }

  calls(): SharedStore {
    const { database, plant } = this.options;
    const { stored } = database;
    const calls = {
      ...this.#reads(), ...this.#changesBy(nodeLocks),
      withdraw: (input: WithdrawalRequest) => this.#withdraw(input),
      repairTimes: (nowMs: number, confirmed: boolean) =>
        this.#change({ studies: [] }, () => repairTimes(nowMs, confirmed)),
      admit: (batches: readonly AdmissionRequest[]) => this.#group.admit(batches),
      contributorState: (...which: Parameters<Store['contributorState']>) =>
        this.#ask(() => stored.contributorState(...which)),
      journal: (...page: Parameters<Store['journal']>) => this.#ask(() => stored.journal(...page)),
      releases: (...which: Parameters<Store['releases']>) =>
        this.#ask(() => stored.releases(...which)),
      health: async () => ({ ...new Latencies().summary(), fileBytes: 0, walBytes: 0 }),
      close: () => this.#close(),
      ...this.#sharedCalls(),
    } as unknown as SharedStore;
    return plant.store?.(calls) ?? calls;
  }

  #sharedCalls(): Omit<SharedStore, keyof Store> {
    const { database, clock } = this.options;
    return {
      lead: (studyId, freeMs = 0) => this.#lead(studyId, freeMs),
      askToLead: (studyIds) => this.#repeated(() => this.#leases.ask(studyIds)),
      standings: () => this.#ask(() =>
        ({
          studies: this.#standings(), clockAheadMs: database.nowMs() - clock.nowMs(),
          lacksKey: null, isDeaf: false, fullBecause: null,
        })),
      onNews: (listener) => this.#news.follow(listener),
      askEnd: (studyId) => this.#ask(() => {
        database.ends.add(studyId);
        news(this.options.connections.options);
      }),
      tally: async (...which) =>
        ({ contributors: await this.#ask(() => this.#count(...which)), complete: 0 }),
      shareKey: async () => true,
      slices: slicesOf((action) => this.#repeated(() =>
        this.options.connections.asProduct.use(action)), database.slices.place()),
    };
  }

  #reads(): object {
    const calls = { ...readsOf(this.options.database.parts), newestTime } as unknown as
      Readonly<Record<string, AnySteps>>;
    return Object.fromEntries(Object.entries(calls)
      .map(([name, steps]) => [name, (...args: unknown[]) =>
        this.#ask(() => this.options.database.queries.perform(steps(...args)))]));
  }

  /** @param locks of each call, by its name. */
  #changesBy(locks: object, grant?: Grant): object {
    const { database, plant } = this.options;
    const calls = { ...changesOf(database.parts), ...chargesOf() } as unknown as
      Readonly<Record<string, AnySteps>>;
    return Object.fromEntries(Object.entries(locks as Readonly<Record<string, AnyLocks>>)
      .map(([name, locked]) => {
        const isFenced = plant.unfenced?.includes(name as keyof LeaderCalls) !== true;
        return [name, (...args: unknown[]) => this.#change(
          { ...locked(...args), ...(grant !== undefined && isFenced && { grant }) },
          () => this.#watched(grant, calls[name]!(...args)))];
      }));
  }

  /** The oracle is told of what a leader does, whether or not the fence let it. */
  *#watched<T>(grant: Grant | undefined, steps: Steps<T>): Steps<T> {
    const { database } = this.options;
    const result = yield* steps;
    if (grant !== undefined) {
      const { studyId, token } = grant;
      database.watcher.onLed(studyId, token, database.newestToken(studyId));
    }
    return result;
  }

  async #lead(studyId: StudyId, freeMs: number): Promise<Leadership | null> {
    const grant = await this.#leases.take(studyId, freeMs);
    if (grant === null) return null;
    this.#views.clear();
    const leadership: Leadership = {
      ...this.#changesBy(leaderLocks, grant) as LeaderCalls, ...grant,
      purgeEpoch: (...which) => this.#purge(grant, ...which),
    };
    const { queries } = this.options.database;
    for (const lapse of await this.#ask(() => queries.perform(unpurgedLapses()))) {
      if (lapse.studyId === studyId) await leadership.purgeEpoch(studyId, lapse.epoch);
    }
    return leadership;
  }

  async #purge(grant: Grant, studyId: StudyId, epoch: bigint): Promise<void> {
    const { journal, slices } = this.options.database;
    const step = () => this.#writer.inOrder(() =>
      this.#writer.write<boolean>(async (session, begin, note) => {
        await session.text('SELECT begin_write($1, $2)', begin);
        await session.text('SELECT lead_write($1, $2)', [studyId, grant.token]);
        const isDone = journal.purgeStep(studyId, epoch) === 'done';
        if (isDone) slices.forget(studyId, epoch);
        note(isDone);
        return true;
      }));
    while (!await step());
  }

  async #change<T>(locks: Locks, steps: () => Steps<T>): Promise<T> {
    this.#group.flush();
    try {
      return await this.#writer.change(locks, steps);
    } finally {
      this.#views.clear();
    }
  }

  /** Beside admission: it changes one window, and closes no gate. */
  #withdraw(input: WithdrawalRequest): Promise<WithdrawalResult> {
    const { parts, watcher } = this.options.database;
    this.#group.flush();
    return this.#writer.change({ studies: [] }, function* withdrawn() {
      const result = yield* parts.withdraw(input);
      watcher.onWithdrawn(input, result);
      return result;
    });
  }

  #admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> {
    let tries = 0;
    return this.#writer.inOrder(() => this.#writer.write<readonly AdmissionResult[]>(
      async (session, begin, note) => {
        tries += 1;
        if (this.options.plant.acksUnread === true && tries > 1) {
          note(batches.map(({ epoch }) =>
            ({ verdict: 'duplicate', epoch, position: 0n, complete: false })));
          return false;
        }
        const { database } = this.options;
        const views = new Map([...new Set(batches.map(({ studyId }) => studyId))].map((studyId) =>
          [studyId, this.#views.get(studyId) ?? database.view(studyId)] as const));
        for (const [studyId, view] of views) this.#views.set(studyId, view);
        await session.text('SELECT begin_write($1, $2)', begin);
        const results = database.admit(batches, views, this.options.plant.hasNoGate !== true);
        if (results === null) {
          this.#views.clear();
          throw moved();
        }
        note(results);
        return true;
      })
      .catch((error: unknown) => {
        if (!(error instanceof PostgresFailure) || error.kind !== 'again') throw error;
        return batches.map(() => crowdedOut);
      }));
  }

  #standings(): readonly StudyStanding[] {
    const { database, node } = this.options;
    return database.queries.perform(readsOf(database.parts).studies()).map((study) => {
      const lease = database.leaseOf(study.studyId);
      const unfinished = database.stored.unfinishedEpochs()
        .filter(({ studyId }) => studyId === study.studyId);
      const open = unfinished.find(({ state }) => state === 'open');
      const others = lease === undefined ? 'none' : 'other';
      return {
        studyId: study.studyId, state: study.state, releaseCount: study.releaseCount,
        lastDigest: study.lastDigest, isUnfinished: unfinished.length > 0,
        open: open === undefined ? null : { epoch: open.epoch, closesAtMs: open.closesAtMs },
        ends: database.ends.has(study.studyId), isAsked: (lease?.askedBy ?? 0n) !== 0n,
        leader: lease?.nodeId === node.id ? 'own' : others,
      };
    });
  }

  #count(studyId: StudyId, epoch: bigint): number {
    const { queries, parts } = this.options.database;
    return queries.perform(readsOf(parts).contributorCount(studyId, epoch));
  }

  #ask<T>(read: () => T): Promise<T> {
    return this.#repeated(() => this.options.connections.use(async () => read()));
  }

  #repeated<T>(action: () => Promise<T>): Promise<T> {
    return throughOutage(this.options.clock, action);
  }

  async #close(): Promise<void> {
    this.#news.close();
    this.#group.flush();
    await this.#writer.idle();
    this.#isClosing = true;
    await this.#leases.close().then(() => this.options.node.leave()).catch((error: unknown) => {
      // The leases then end by themselves.
      if (!(error instanceof PostgresFailure)) throw error;
    });
  }
}

/** Nothing was written, and the sender may try again. */
const crowdedOut: AdmissionResult = {
  verdict: 'rejected', code: 'overloaded', epoch: 0n, position: 0n, complete: false,
};
