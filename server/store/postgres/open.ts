import { signing } from '#signing';
import { hostname } from 'node:os';
import { systemClock, type Clock } from '../../base/clock.js';
import { toHex } from '../../../src/base/bytes.js';
import { KeelsonError } from '../../../src/base/errors.js';
import type { Store, StudyId } from '../contract.js';
import { GroupCommit } from '../group-commit.js';
import type { StoreHealth } from '../health.js';
import { Latencies } from '../latencies.js';
import { verifyLedger } from '../rules/budgets.js';
import {
  changesOf, chargesOf, readsOf, type StoreParts, type StepsOf,
} from '../rules/calls.js';
import { newestTime, repairTimes } from '../rules/clock-repair.js';
import { unpurgedLapses } from '../rules/epochs.js';
import { all, sql, type Steps } from '../rules/steps.js';
import { Admission } from './admission.js';
import { Connections } from './connection.js';
import type { PostgresPlace } from './place.js';
import { epochTables, readSecrets } from './epoch-tables.js';
import { purgeStep, readJournal, readReleases } from './journal.js';
import { Lease } from './lease.js';
import { PostgresFailure } from './failures.js';
import { throughOutage } from './outage.js';
import { refund, refundOne } from './refunds.js';
import { checkDatabase } from './schema.js';
import type { Session } from './session.js';
import { contributorTally, leftOutTally } from './tallies.js';
import { Writer, type Locks } from './writer.js';

/** Which database a store opens, and by which clock. */
export interface PostgresStoreOptions extends PostgresPlace {
  /** For durations and timers. Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Unix time in milliseconds, for budgets that renew and rates. Default: by the clock. */
  readonly nowMs?: () => number;
  /** Connections at once; at least 2. Default: 4. */
  readonly pool?: number;
  /** How long a dead server keeps others out, in milliseconds. Default: 10,000. */
  readonly leaseMs?: number;
}

/**
 * Opens the store in a PostgreSQL database, for one server at a time: the right to write is a lease
 * (lease.ts). A server that dies is replaced when its lease ends; one that was replaced can commit
 * nothing more.
 *
 * A call waits up to a minute for a database that is gone, then rejects with a retryable
 * StorageError. A transaction whose answer is lost is looked up, so it is neither lost nor done
 * twice.
 * @throws StorageError when pg is not installed, the database cannot be reached, has no schema or
 *   another version of it, or may lose what it commits; data-folder-in-use while another server
 *   holds the lease.
 * @example
 * const store = await openPostgresStore({ url });
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { leaseMs = 10_000, pool = 4, clock: timers = systemClock } = options;
  const clock: Clock = {
    nowMs: options.nowMs ?? (() => timers.nowMs()), monotonicMs: () => timers.monotonicMs(),
    after: (delayMs, action) => timers.after(delayMs, action),
  };
  const connections = await Connections.open(options, Math.max(pool, 2));
  let lease: Lease | undefined;
  try {
    await connections.use(checkDatabase);
    const holder = `${hostname()} ${toHex(signing.randomBytes(4))}`;
    lease = await Lease.take(connections, clock, holder, leaseMs);
    const store = new PostgresStore(connections, lease, clock);
    await store.start();
    return store.calls();
  } catch (error) {
    await lease?.release().catch(() => undefined);
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
  #closing: Promise<void> | undefined;

  constructor(
    private readonly connections: Connections, private readonly lease: Lease,
    private readonly clock: Clock,
  ) {
    this.#writer = new Writer(connections, lease, clock);
    this.#admission = new Admission(connections, this.#writer, clock, this.#latencies);
    this.#group = new GroupCommit(clock, (batches) => this.#admission.admit(batches));
    this.#parts = {
      tables: epochTables, secrets: readSecrets, refund, refundOne, nowMs: () => clock.nowMs(),
    };
  }

  async start(): Promise<void> {
    await this.#read(verifyLedger);
    for (const { studyId, epoch } of await this.#read(unpurgedLapses)) {
      await this.#purge(studyId, epoch);
    }
  }

  calls(): Store {
    return {
      ...this.#reads(), ...this.#changes(),
      admit: async (batches) => {
        this.#open();
        return this.#group.admit(batches);
      },
      contributorState: (studyId, key) =>
        this.#repeated(() => this.#admission.contributorState(studyId, key)),
      journal: (...page) => this.#session((session) => readJournal(session, ...page)),
      releases: (...which) => this.#session((session) => readReleases(session, ...which)),
      purgeEpoch: (studyId, epoch) => this.#purge(studyId, epoch),
      health: () => this.#session((session) => this.#health(session)),
      close: () => (this.#closing ??= this.#close()),
    };
  }

  #reads(): SharedReads {
    const calls = readsOf(this.#parts) as unknown as Readonly<Record<string, AnySteps>>;
    const reads = Object.entries(calls).map(([name, steps]) =>
      [name, (...args: unknown[]) => this.#read(() => steps(...args))]);
    return {
      ...Object.fromEntries(reads) as SharedReads,
      contributorCount: (...which) => this.#read(() => contributorTally(...which)),
      leftOutCount: (...which) => this.#read(() => leftOutTally(...which)),
      newestTime: () => this.#read(newestTime),
    };
  }

  #changes(): SharedChanges {
    const calls = { ...changesOf(this.#parts), ...chargesOf() } as unknown as
      Readonly<Record<string, AnySteps>>;
    const changes = Object.entries(locksOf as Readonly<Record<string, AnyLocks>>)
      .map(([name, locks]) => [name, (...args: unknown[]) =>
        this.#change(locks(...args), () => calls[name]!(...args))]);
    return {
      ...Object.fromEntries(changes) as Omit<SharedChanges, 'repairTimes'>,
      repairTimes: async (nowMs, confirmed) => {
        const studies = await this.#read(() => all(sql.selectFrom('studies').select('study_id')));
        return this.#change({ studies: studies.map((row) => row.study_id) },
          () => repairTimes(nowMs, confirmed));
      },
    };
  }

  async #change<T>(locks: Locks, steps: () => Steps<T>): Promise<T> {
    this.#open();
    this.#group.flush();
    try {
      return await this.#writer.change(locks, steps);
    } finally {
      this.#admission.forgetStudies();
    }
  }

  async #purge(studyId: StudyId, epoch: bigint): Promise<void> {
    const step = () => purgeStep(studyId, epoch, this.clock.nowMs());
    while (!await this.#change({ studies: [studyId] }, step));
  }

  #read<T>(steps: () => Steps<T>): Promise<T> {
    return this.#session((session) =>
      session.transaction(readOnly, () => session.perform(steps())));
  }

  #session<T>(action: (session: Session) => Promise<T>): Promise<T> {
    return this.#repeated(() => this.connections.use(action));
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
    this.#group.flush();
    await this.#writer.idle();
    await this.lease.release().catch((error: unknown) => {
      // The lease then ends by itself.
      if (!(error instanceof PostgresFailure)) throw error;
    });
    await this.connections.close();
  }
}

type SharedReads = Pick<Required<Store>, keyof ReturnType<typeof readsOf> | 'newestTime'>;
type SharedChanges = Pick<Required<Store>,
  keyof ReturnType<typeof changesOf> | keyof ReturnType<typeof chargesOf> | 'repairTimes'>;

type AnySteps = (...args: unknown[]) => Steps<unknown>;
type AnyLocks = (...args: unknown[]) => Locks;

const ofStudy = (studyId: StudyId): Locks => ({ studies: [studyId] });
const ofInput = ({ studyId }: { readonly studyId: StudyId }): Locks => ofStudy(studyId);

/** What each change locks: every study whose admission must see it. */
const locksOf: {
  readonly [Name in Exclude<keyof SharedChanges, 'repairTimes'>]:
  (...args: Parameters<StepsOf<SharedChanges>[Name]>) => Locks;
} = {
  registerStudy: ({ studyId, budget }) => ({ studies: [studyId], budget: budget.key }),
  setStudyState: ofStudy, openEpoch: ofInput, beginClose: ofStudy, turnEpoch: ofStudy,
  chargeEpoch: ofStudy, lapseEpoch: ofStudy, storeRelease: ofInput, noteRecovery: ofStudy,
  noteRecovered: ofStudy, withdraw: ofInput,
  quarantine: (inputs) => ({ studies: [...new Set(inputs.map(({ studyId }) => studyId))] }),
  addRotation: () => ({ studies: [] }),
};
