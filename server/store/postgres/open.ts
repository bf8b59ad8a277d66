import { signing } from '#signing';
import { hostname } from 'node:os';
import { sql as raw } from 'kysely';
import { systemClock, type Clock } from '../../base/clock.js';
import { toHex } from '../../../src/base/bytes.js';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import type { ReleaseRecord, Store, StudyId } from '../contract.js';
import type { LeaderCalls, Leadership, SharedStore, Standings } from '../shared.js';
import { GroupCommit } from '../group-commit.js';
import type { StoreHealth } from '../health.js';
import { Latencies } from '../latencies.js';
import { verifyLedger } from '../rules/budgets.js';
import {
  changesOf, chargesOf, readsOf, type StoreParts,
} from '../rules/calls.js';
import { newestTime, repairTimes } from '../rules/clock-repair.js';
import { unpurgedLapses } from '../rules/epochs.js';
import { all, run, sql, type Steps } from '../rules/steps.js';
import { Admission } from './admission.js';
import { Connections } from './connection.js';
import type { PostgresPlace } from './place.js';
import { epochTables, readSecrets } from './epoch-tables.js';
import { purgeStep, readJournal, readReleases } from './journal.js';
import { Leases, type Grant } from './leases.js';
import { leaderLocks, nodeLocks, type NodeChanges } from './locks.js';
import { News } from './news.js';
import { StoreNode } from './node.js';
import { PostgresFailure } from './failures.js';
import { Seen } from './seen.js';
import { cutWhenSilent, pause, throughOutage } from './outage.js';
import { refund } from './refunds.js';
import {
  checkEncryptionKeys, eraseIdleEncryptionKeys, renewEncryptionKey,
} from './encryption-key-turns.js';
import { EncryptionKeys } from './encryption-keys.js';
import { checkDatabase } from './schema.js';
import { sealedSlices, slicesOf } from './slices.js';
import { statement, type Session } from './session.js';
import { readStandings, readTally, shareKey } from './standings.js';
import { contributorTally, leftOutTally } from './tallies.js';
import { withdrawBeside } from './withdrawals.js';
import { checkEntry, checkProgram } from './versions.js';
import { Writer, type Locks } from './writer.js';

/** The database that a store opens, and its clock. */
export interface PostgresStoreOptions extends PostgresPlace {
  /** For durations and timers. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Unix time in milliseconds, for budgets that renew and rates. Default: by the clock. */
  readonly nowMs?: () => number;
  /** Connections at once; at least 2. Default: 4. */
  readonly pool?: number;
  /**
   * The time that the studies of a dead leader wait for another, in milliseconds. Default: 10,000.
   */
  readonly leaseMs?: number;
  /**
   * File that remembers how far the store has come. A database that holds less is refused. Default:
   * nothing is remembered.
   */
  readonly seenFile?: string;
  /** False: this store never takes a lease, so another node must lead. Default: true. */
  readonly leads?: boolean;
  /**
   * Folder of the encryption keys, one for all servers of the store. It is made when it is missing.
   * A copy of the database can be read only with this folder. The store makes its keys, and
   * erases them.
   */
  readonly encryptionKeys: string;
}

/**
 * Opens the store in a PostgreSQL database. Several servers may do so at once: each is a node, all
 * of them admit batches, and one at a time leads a study (leases.ts). A node that dies loses
 * nothing that it acknowledged; one that was replaced as a leader can commit nothing more as such.
 *
 * A call that writes waits for a database that is gone until it is back, or the store is closed.
 * One that reads waits up to a minute, then rejects with a retryable StorageError. A transaction
 * whose answer is lost is looked up, so it is neither lost nor done twice.
 * @throws StorageError store-went-back when the database lacks what this server has seen;
 *   schema-too-new when its schema is for newer programs; encryption-key-missing when rows are
 *   encrypted under a key that is not in the folder; storage-failed when pg is not installed, the
 *   database cannot be reached, has no schema or an older one, or may lose what it commits.
 * @example
 * const store = await openPostgresStore({ url, encryptionKeys: 'keelson-secrets/row-keys' });
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<SharedStore> {
  const { leaseMs = 10_000, pool = 4, clock: timers = systemClock, leads = true } = options;
  const clock: Clock = {
    nowMs: options.nowMs ?? (() => timers.nowMs()), monotonicMs: () => timers.monotonicMs(),
    after: (delayMs, action) => timers.after(delayMs, action),
  };
  // One more than asked for: it hears of news.
  const connections = await Connections.open(options, Math.max(pool, 2) + 1);
  try {
    await connections.use(checkDatabase);
    const { seenFile } = options;
    const keys = EncryptionKeys.open(options.encryptionKeys);
    const seen = seenFile === undefined ? null : await Seen.open(seenFile);
    if (seen !== null) connections.checkEach((session) => seen.check(session));
    const name = `${hostname()} ${toHex(signing.randomBytes(4))}`;
    const node = await StoreNode.enter(connections, name, checkEntry);
    const store = new PostgresStore(connections, node, clock, { leaseMs, seen, keys, leads });
    await store.start();
    return store.calls();
  } catch (error) {
    await connections.close();
    throw error;
  }
}

const readOnly = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

class PostgresStore {
  readonly #writer: Writer;
  readonly #admission: Admission;
  readonly #group: GroupCommit;
  readonly #latencies = new Latencies();
  readonly #parts: StoreParts;
  readonly #leases: Leases;
  readonly #news: News;
  /** Studies that this store leads because a leader's call was made on the store itself. */
  readonly #own = new Map<StudyId, Leadership | Promise<Leadership>>();
  /** Names of reads that need several queries. */
  readonly #longReads = new Set<string>();
  #closing: Promise<void> | undefined;
  #endsSoon = false;
  #isClosed = false;

  constructor(
    private readonly connections: Connections, private readonly node: StoreNode,
    private readonly clock: Clock,
    private readonly settings: {
      readonly leaseMs: number; readonly seen: Seen | null; readonly keys: EncryptionKeys;
      readonly leads: boolean;
    },
  ) {
    const { keys } = settings;
    const stops = {
      isClosing: () => this.#closing !== undefined, endsSoon: () => this.#endsSoon,
    };
    this.#writer =
      new Writer(connections, node, clock, stops, (session) => renewEncryptionKey(session, keys));
    this.#leases = new Leases(connections, this.#writer, node, clock, settings.leaseMs);
    this.#news = new News(connections, clock);
    this.#admission = new Admission(connections, this.#writer, clock, this.#latencies, keys);
    this.#group = new GroupCommit(clock, (batches) => this.#admission.admit(batches));
    this.#parts = {
      tables: epochTables(keys), secrets: readSecrets(keys), refund, withdraw: withdrawBeside,
      nowMs: () => clock.nowMs(),
    };
  }

  async start(): Promise<void> {
    await this.#session((session) => checkEncryptionKeys(session, this.settings.keys));
    await this.#session((session) => eraseIdleEncryptionKeys(session, this.settings.keys));
    await this.#read(verifyLedger);
  }

  calls(): SharedStore {
    return {
      ...this.#reads(), ...this.#changes(), ...this.#ownCalls(), ...this.#sharedCalls(),
      admit: async (batches) => {
        this.#open();
        return this.#group.admit(batches);
      },
      contributorState: (studyId, key) =>
        this.#repeated(() => this.#admission.contributorState(studyId, key)),
      journal: (...page) => this.#session((session) =>
        readJournal(session, this.settings.keys, ...page)),
      releases: (...which) => this.#session((session) => this.#readReleases(session, which)),
      health: () => this.#session((session) => this.#health(session)),
      fullBecause: () => this.#writer.fullBecause,
      endSoon: () => {
        if (this.#endsSoon) return;
        this.#endsSoon = true;
        void cutWhenSilent(this.connections, this.clock, () => this.#isClosed);
      },
      close: () => (this.#closing ??= this.#close()),
    };
  }

  #reads(): SharedReads {
    const calls = readsOf(this.#parts) as unknown as Readonly<Record<string, AnySteps>>;
    const own = { contributorCount: contributorTally, leftOutCount: leftOutTally, newestTime };
    const reads = Object.entries({ ...calls, ...own as unknown as typeof calls })
      .map(([name, steps]) =>
        [name, (...args: unknown[]) => this.#readShort(name, () => steps(...args))]);
    return Object.fromEntries(reads) as SharedReads;
  }

  /** Changes by any node. */
  #changes(): NodeChanges {
    return {
      ...this.#changesBy<Omit<NodeChanges, 'repairTimes'>>(nodeLocks),
      repairTimes: async (nowMs, confirmed) => {
        const studies = await this.#read(() => all(sql.selectFrom('studies').select('study_id')));
        return this.#change({ studies: studies.map((row) => row.study_id) },
          () => repairTimes(nowMs, confirmed));
      },
    };
  }

  /** @param locks of each call, by its name. */
  #changesBy<Calls>(locks: object, grant?: Grant): Calls {
    const calls = { ...changesOf(this.#parts), ...chargesOf() } as unknown as
      Readonly<Record<string, AnySteps>>;
    const changes = Object.entries(locks as Readonly<Record<string, AnyLocks>>)
      .map(([name, locked]) => [name, (...args: unknown[]) => this.#change(
        { ...locked(...args), ...(grant !== undefined && { grant }) },
        () => calls[name]!(...args))]);
    return Object.fromEntries(changes) as Calls;
  }

  #sharedCalls(): Omit<SharedStore, keyof Store> {
    return {
      lead: (studyId, freeMs = 0) => this.#lead(studyId, freeMs),
      askToLead: async (studyIds) => {
        if (this.settings.leads) await this.#repeated(() => this.#leases.ask(studyIds));
      },
      standings: () => this.#session((session) => this.#standings(session)),
      onNews: (listener) => this.#news.follow(listener),
      askEnd: (studyId) => this.#change({ studies: [studyId] }, () => askEnd(studyId)),
      tally: (...which) => this.#session((session) => readTally(session, ...which)),
      shareKey: (key) => this.#session((session) => shareKey(session, key)),
      slices: slicesOf((action) => this.#session(action), sealedSlices(this.settings.keys)),
    };
  }

  async #lead(studyId: StudyId, freeMs: number): Promise<Leadership | null> {
    this.#open();
    if (!this.settings.leads) return null;
    const grant = await this.#leases.take(studyId, freeMs);
    if (grant === null) return null;
    this.#admission.forgetStudies([studyId]);
    const leadership = { ...this.#leaderCalls(grant), ...grant };
    for (const lapse of await this.#read(unpurgedLapses)) {
      if (lapse.studyId === studyId) await leadership.purgeEpoch(studyId, lapse.epoch);
    }
    return leadership;
  }

  #leaderCalls(grant: Grant): LeaderCalls {
    const changes = this.#changesBy<Omit<LeaderCalls, 'purgeEpoch'>>(leaderLocks, grant);
    return {
      ...changes,
      chargeEpoch: async (...charge) => {
        const result = await changes.chargeEpoch(...charge);
        // The caller draws noise next.
        await throughOutage(this.clock, () => this.connections.use(async (session) =>
          this.settings.seen?.note(session)), () => this.#closing !== undefined);
        return result;
      },
      purgeEpoch: (studyId, epoch) => this.#purge(grant, studyId, epoch),
    };
  }

  /** The leader calls of the store itself. They take the lease first. */
  #ownCalls(): Omit<LeaderCalls, 'quarantine'> {
    const names = [...Object.keys(leaderLocks), 'purgeEpoch'].filter((name) =>
      !(name in nodeLocks));
    return Object.fromEntries(names.map((name) => [name, async (...args: unknown[]) => {
      const which = args[0] as StudyId | { readonly studyId: StudyId };
      const studyId = typeof which === 'string' ? which : which.studyId;
      const led = this.#leadOwn(studyId);
      // A study that is led already is not waited for: calls keep their order.
      const leadership = led instanceof Promise ? await led : led;
      return (leadership as unknown as Readonly<Record<string, AnyCall>>)[name]!(...args);
    }])) as unknown as LeaderCalls;
  }

  #leadOwn(studyId: StudyId): Leadership | Promise<Leadership> {
    const known = this.#own.get(studyId);
    if (known !== undefined) return known;
    const led = this.#waitToLead(studyId);
    this.#own.set(studyId, led);
    led.then((leadership) => this.#own.set(studyId, leadership),
      () => this.#own.delete(studyId));
    return led;
  }

  async #waitToLead(studyId: StudyId): Promise<Leadership> {
    const endsMs = this.clock.monotonicMs() + 1.5 * this.settings.leaseMs;
    for (;;) {
      const leadership = await this.#lead(studyId, 0);
      if (leadership !== null) return leadership;
      if (this.clock.monotonicMs() > endsMs) throw new StorageError(
        'another server leads this study: end it first, or let it do this', 'data-folder-in-use',
        { details: { studyId } });
      await pause(this.clock, leadPollMs);
    }
  }

  async #change<T>(locks: Locks, steps: () => Steps<T>): Promise<T> {
    this.#open();
    this.#group.flush();
    try {
      return await this.#writer.change(locks, steps);
    } finally {
      this.#admission.forgetStudies(locks.studies);
    }
  }

  async #purge(grant: Grant, studyId: StudyId, epoch: bigint): Promise<void> {
    const step = () => purgeStep(studyId, epoch, this.clock.nowMs());
    while (!await this.#change({ studies: [studyId], grant }, step));
  }

  /** Reads one state of the database. */
  #read<T>(steps: () => Steps<T>): Promise<T> {
    return this.#session((session) =>
      session.transaction(readOnly, () => session.perform(steps())));
  }

  /**
   * The same for a read of one query, which sees one state without a transaction. One that turns
   * out to need a second query begins again in a transaction, and from then on begins there.
   */
  async #readShort<T>(name: string, steps: () => Steps<T>): Promise<T> {
    if (!this.#longReads.has(name)) {
      const done = await this.#session(async (session) => {
        const read = steps();
        const begun = read.next();
        return begun.done === true ? begun : read.next(await session.query(begun.value));
      });
      if (done.done === true) return done.value;
      this.#longReads.add(name);
    }
    return this.#read(steps);
  }

  #session<T>(action: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeated(() => this.connections.use(action));
  }

  /** A page of a log. Its releases were noted before. */
  async #readReleases(
    session: Session, which: Parameters<Store['releases']>,
  ): Promise<readonly ReleaseRecord[]> {
    const page = await readReleases(session, ...which);
    const { seen } = this.settings;
    const shown = page.length === 0 ? 0 : page.at(-1)!.index + 1;
    if (seen !== null && !seen.has(which[0], shown)) await seen.note(session);
    return page;
  }

  async #standings(session: Session): Promise<Standings> {
    await checkProgram(session);
    const standings = {
      ...await readStandings(session, this.node, () => this.clock.nowMs()),
      isDeaf: this.#news.isDeaf, fullBecause: this.#writer.fullBecause,
    };
    // Afterwards, so that everything that a reader sees was noted.
    await this.settings.seen?.note(session);
    this.#admission.keepOpen(standings);
    try {
      await checkEncryptionKeys(session, this.settings.keys);
      await eraseIdleEncryptionKeys(session, this.settings.keys);
      return { ...standings, lacksKey: null };
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'encryption-key-missing') throw error;
      return { ...standings, lacksKey: (error as Error).message };
    }
  }

  async #repeated<T>(action: () => Promise<T>): Promise<T> {
    this.#open();
    return throughOutage(this.clock, action);
  }

  #open(): void {
    if (this.#closing !== undefined) throw new KeelsonError('closed', 'the store is closed');
  }

  async #health(session: Session): Promise<StoreHealth> {
    const [row] = await session.text<{ bytes: bigint }>(
      `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`);
    // The log belongs to the whole cluster, and only its administrators may look.
    return { ...this.#latencies.summary(), fileBytes: Number(row!.bytes), walBytes: 0 };
  }

  async #close(): Promise<void> {
    this.#news.close();
    this.#group.flush();
    await this.#writer.idle();
    await this.#leases.close().then(() => this.node.leave()).catch((error: unknown) => {
      // The leases then end by themselves.
      const isGone = error instanceof PostgresFailure
        || (error instanceof KeelsonError && error.code === 'closed');
      if (!isGone) throw error;
    });
    await this.connections.close();
    this.#isClosed = true;
  }
}

type SharedReads = Pick<Required<Store>, keyof ReturnType<typeof readsOf> | 'newestTime'>;

type AnySteps = (...args: unknown[]) => Steps<unknown>;
type AnyLocks = (...args: unknown[]) => Locks;
type AnyCall = (...args: unknown[]) => Promise<unknown>;

/** Time between two tries to lead a study that another node leads. */
const leadPollMs = 250;

/** See `SharedStore.askEnd`. */
function* askEnd(studyId: StudyId): Steps<void> {
  yield* run(sql.updateTable('studies').set({ ends: true }).where('study_id', '=', studyId));
  yield* statement(raw`SELECT pg_notify(news_channel(), '')`);
}
