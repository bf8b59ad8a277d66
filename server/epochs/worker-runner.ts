import { InvariantError, type KeelsonError } from '../../src/base/errors.js';
import type { KnownKeys } from '../../src/base/remembered-keys.js';
import type {
  AcceptedBatch, EpochProgress, EpochResult, EpochRunner, EpochSetup, SeriesInput,
} from './contract.js';
import { EpochThread, type Call } from './epoch-thread.js';
import { nameOf } from './inline-runner.js';
import { buffersOf, bytesOfBatch, packBatches } from './packing.js';

export interface WorkerRunnerOptions {
  /**
   * Most threads. A thread is started when an epoch finds all others in use. Default 2: one for
   * releases, one for rows.
   */
  readonly threads?: number;
  /**
   * Called when a thread ended unexpectedly. The server must stop: a restart rebuilds the epochs
   * from the journal.
   */
  readonly onDeath: (error: KeelsonError) => void;
}

interface Home {
  readonly thread: EpochThread;
  readonly studyId: string;
  readonly epoch: bigint;
  /**
   * Parts that wait for the end of this turn of the event loop, or for the answer to the parts sent
   * before.
   */
  waiting: AcceptedBatch[];
  /** Bytes of them in packed form. */
  waitingBytes: number;
  /** Number of lists of parts that are sent and not answered. */
  unanswered: number;
}

/**
 * Parts that are batched while the thread is busy: a message costs as much as folding some dozens
 * of them.
 */
const batchedPartsMax = 1_024;

/**
 * Epochs on worker threads, so that neither summaries nor a release of a million rows delays an
 * ack.
 */
export class WorkerEpochRunner implements EpochRunner {
  readonly #homes = new Map<string, Home>();
  readonly #threads: EpochThread[] = [];
  readonly #dirty = new Set<Home>();
  readonly #threadsMax: number;
  #backlogBytes = 0;

  constructor(private readonly options: WorkerRunnerOptions) {
    this.#threadsMax = options.threads ?? 2;
  }

  get backlogBytes(): number {
    return this.#backlogBytes;
  }

  async open(setup: EpochSetup): Promise<void> {
    const name = nameOf(setup.studyId, setup.epoch);
    if (this.#homes.has(name)) throw new InvariantError('an epoch is opened once');
    const thread = this.#threadFor();
    thread.epochs += 1;
    const { studyId, epoch } = setup;
    this.#homes.set(
      name,
      {
        thread, studyId, epoch, waiting: [],
        waitingBytes: 0, unanswered: 0,
      },
    );
    await thread.call({ kind: 'open', setup });
  }

  add(studyId: string, epoch: bigint, parts: readonly AcceptedBatch[]): void {
    const home = this.#home(studyId, epoch);
    home.waiting.push(...parts);
    const bytes = parts.reduce((sum, part) => sum + bytesOfBatch(part), 0);
    home.waitingBytes += bytes;
    this.#backlogBytes += bytes;
    if (this.#dirty.size === 0) queueMicrotask(() => this.#flushAll());
    this.#dirty.add(home);
  }

  async progress(studyId: string, epoch: bigint): Promise<EpochProgress> {
    const home = this.#home(studyId, epoch);
    this.#flush(home);
    return await home.thread.call({ kind: 'progress', studyId, epoch }) as EpochProgress;
  }

  async release(
    studyId: string, epoch: bigint, before?: SeriesInput, known?: readonly KnownKeys[],
  ): Promise<EpochResult> {
    return await this.#last({ kind: 'release', studyId, epoch, before, known }) as EpochResult;
  }

  async encode(studyId: string, epoch: bigint): Promise<Uint8Array> {
    return await this.#last({ kind: 'encode', studyId, epoch }) as Uint8Array;
  }

  async merge(studyId: string, epoch: bigint, encoded: Uint8Array): Promise<void> {
    const { thread } = this.#home(studyId, epoch);
    await thread.call({ kind: 'merge', studyId, epoch, encoded });
  }

  drop(studyId: string, epoch: bigint): void {
    const home = this.#homes.get(nameOf(studyId, epoch));
    if (home === undefined) return;
    this.#forget(home);
    // A failure means that the thread has ended. That was reported, and nothing is left to drop.
    home.thread.call({ kind: 'drop', studyId, epoch }).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#homes.clear();
    this.#dirty.clear();
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #threadFor(): EpochThread {
    const least = this.#threads.toSorted((left, right) => left.epochs - right.epochs)[0];
    if (least !== undefined && (least.epochs === 0 || this.#threads.length >= this.#threadsMax)) {
      return least;
    }
    const thread = new EpochThread((error) => this.options.onDeath(error));
    this.#threads.push(thread);
    return thread;
  }

  /** A call after which the epoch is gone. */
  async #last(
    call: Extract<Call, { readonly kind: 'release' | 'encode' | 'progress' }>,
  ): Promise<unknown> {
    const home = this.#home(call.studyId, call.epoch);
    this.#flush(home);
    try {
      return await home.thread.call(call);
    } finally {
      this.#forget(home);
    }
  }

  #home(studyId: string, epoch: bigint): Home {
    const home = this.#homes.get(nameOf(studyId, epoch));
    if (home === undefined) {
      throw new InvariantError('an epoch is open until it is released or dropped');
    }
    return home;
  }

  #forget(home: Home): void {
    this.#dirty.delete(home);
    this.#backlogBytes -= home.waitingBytes;
    home.waiting = [];
    home.waitingBytes = 0;
    if (this.#homes.delete(nameOf(home.studyId, home.epoch))) home.thread.epochs -= 1;
  }

  #flushAll(): void {
    const homes = [...this.#dirty];
    this.#dirty.clear();
    for (const home of homes) {
      if (home.unanswered === 0 || home.waiting.length >= batchedPartsMax) this.#flush(home);
    }
  }

  #flush(home: Home): void {
    this.#dirty.delete(home);
    if (home.waiting.length === 0) return;
    const packed = packBatches(home.waiting);
    const bytes = home.waitingBytes;
    home.waiting = [];
    home.waitingBytes = 0;
    home.unanswered += 1;
    const { studyId, epoch } = home;
    const answered = (): void => {
      this.#backlogBytes -= bytes;
      home.unanswered -= 1;
      if (home.unanswered === 0) this.#flush(home);
    };
    // A failure of the epoch's work is reported at its release; the end of a thread was reported
    // before.
    home.thread.call({ kind: 'add', studyId, epoch, parts: packed }, buffersOf(packed))
      .then(answered, answered);
  }
}
