import { StorageError } from '../../../src/base/errors.js';
import type {
  AdmissionRequest, AdmissionResult, WithdrawalRequest, WithdrawalResult,
} from '../../../server/store/contract.js';
import type { Engine } from '../../../server/store/sqlite/engine.js';
import type { Caller } from '../../../server/store/sqlite/caller.js';
import type { NamedMethod } from '../../../server/store/sqlite/messages.js';
import type { Chance } from './chance.js';
import type { SimulatedDisk } from './disk.js';
import type { FaultCounts, FaultRates } from './faults.js';
import type { ProcessTimers } from './scheduler.js';

/** What is seen of a store's thread. */
export interface StorageWatcher {
  /** Executed: visible to later calls, not durable yet. */
  onAdmitted(requests: readonly AdmissionRequest[], results: readonly AdmissionResult[]): void;
  /** The same of a withdrawal. */
  onWithdrawn(request: WithdrawalRequest, result: WithdrawalResult): void;
  /** A call is durable and about to be answered. */
  onDurable(method: string, args: readonly unknown[], engine: Engine): void;
}

export interface StorageOptions {
  readonly timers: ProcessTimers;
  readonly disk: SimulatedDisk;
  readonly engine: Engine;
  readonly chance: Chance;
  readonly rates: () => FaultRates;
  readonly counts: FaultCounts;
  readonly watcher: StorageWatcher;
  readonly onPowerLoss: () => void;
  /** Planted: answers before the log is synced. */
  readonly answersEarly: boolean;
}

interface Job {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Methods after which nothing has to be synced. */
const reads: ReadonlySet<string> = new Set([
  'study', 'studies', 'epoch', 'unfinishedEpochs', 'unpurgedEpochs', 'balance', 'balances',
  'ledgerEntries', 'contributorState', 'journal', 'contributorCount', 'leftOutCount', 'peopleCount',
  'releases', 'health', 'newestTime',
]);

/**
 * The store's thread: calls are executed one after the other in the order sent, each takes time,
 * then its sync takes time, then its answer travels back. The process may die at each of these
 * points.
 */
export class SimulatedCaller implements Caller {
  readonly #jobs: Job[] = [];
  #busy = false;
  #failure: StorageError | null = null;

  constructor(private readonly options: StorageOptions) {}

  call(method: NamedMethod, args: readonly unknown[]): Promise<unknown> {
    const methods = this.options.engine as unknown as Readonly<
      Record<string, (...given: readonly unknown[]) => unknown>
    >;
    return this.#enqueue(method, args, () => {
      const result = methods[method]!(...args);
      if (method === 'withdraw') {
        this.options.watcher.onWithdrawn(args[0] as WithdrawalRequest, result as WithdrawalResult);
      }
      return result;
    });
  }

  async admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> {
    const { engine, watcher } = this.options;
    const results = await this.#enqueue('admit', [batches], () => {
      const found = engine.admit(batches);
      watcher.onAdmitted(batches, found);
      return found;
    });
    return results as readonly AdmissionResult[];
  }

  async close(): Promise<void> {
    // The disk outlives the process; the code that runs the world closes the engine.
    await this.#enqueue('health', [], () => undefined);
  }

  #enqueue(method: string, args: readonly unknown[], run: () => unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ method, args, run, resolve, reject });
      if (!this.#busy) this.#next();
    });
  }

  #next(): void {
    const job = this.#jobs.shift();
    this.#busy = job !== undefined;
    if (job === undefined) return;
    const { timers, chance, rates, counts } = this.options;
    let delayMs = chance.between(0.05, 0.4);
    if (chance.happens(rates().slowDisk)) {
      counts['slow-disk'] += 1;
      delayMs += chance.between(5, 400);
    }
    timers.after(delayMs, () => this.#execute(job));
  }

  #execute(job: Job): void {
    const { timers, chance, rates, counts, answersEarly } = this.options;
    if (this.#failure !== null) return this.#refuse(job, this.#failure);
    if (reads.has(job.method)) return this.#answer(job, 0);
    if (chance.happens(rates().diskFull)) {
      counts['disk-full'] += 1;
      return this.#refuse(
        job, new StorageError('the store failed: database or disk is full (SQLITE_FULL)',
          'storage-failed', { retryable: true, details: { sqliteCode: 'SQLITE_FULL' } }),
      );
    }
    if (chance.happens(rates().fsyncFailed)) {
      counts['fsync-failed'] += 1;
      // It was written, and nobody knows what of it is on the disk.
      try { job.run(); } catch { /* The failure of the sync is what is reported. */ }
      this.#failure = new StorageError('the store failed: disk I/O error (SQLITE_IOERR_FSYNC)');
      return this.#refuse(job, this.#failure);
    }
    if (answersEarly && job.method === 'admit') return this.#answerBeforeSync(job);
    this.#answer(job, chance.between(0.2, 6), timers);
  }

  #answer(job: Job, syncMs: number, timers = this.options.timers): void {
    let value: unknown;
    try {
      value = job.run();
    } catch (error) {
      return this.#refuse(job, error);
    }
    if (!reads.has(job.method) && this.options.chance.happens(this.options.rates().crashInSync)) {
      timers.after(syncMs / 2, this.options.onPowerLoss);
    }
    const done = (): void => {
      if (!reads.has(job.method)) {
        this.options.disk.markSynced();
        this.options.watcher.onDurable(job.method, job.args, this.options.engine);
      }
      job.resolve(value);
      this.#next();
    };
    if (syncMs === 0) done();
    else timers.after(syncMs, done);
  }

  #answerBeforeSync(job: Job): void {
    job.resolve(job.run());
    this.options.timers.after(this.options.chance.between(2, 60), () => {
      this.options.disk.markSynced();
      this.#next();
    });
  }

  #refuse(job: Job, error: unknown): void {
    job.reject(error);
    this.#next();
  }
}
