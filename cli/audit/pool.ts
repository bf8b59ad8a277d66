import { Worker } from 'node:worker_threads';
import type {
  LossBlock, LossPool, LossRequest, OutputBlock, TrialPool, TrialRequest,
} from '../../src/audit/index.js';
import { workerUrl } from '../../server/base/place.js';
import type { WorkerCall, WorkerStart } from './worker.js';

/** Trials on worker threads. */
export interface AuditPool extends TrialPool, LossPool {
  /** Ends the threads and drops the work that still runs on them. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(block: OutputBlock | LossBlock | null): void;
  reject(error: Error): void;
}

/** Requests on each thread at a time, so that a thread does not wait for its next one. */
const requestsPerThread = 2;

/** Starts `threads` workers. If a thread fails, all of its requests are rejected. */
export function startAuditPool(start: WorkerStart, threads: number): AuditPool {
  const members = Array.from({ length: threads }, () => new Member(start));
  const idlest = (): Member =>
    members.reduce((best, next) => (next.load < best.load ? next : best));
  return {
    parallelism: requestsPerThread * threads,
    run: (request) => idlest().run<OutputBlock>(request),
    runLosses: (request) => idlest().run<LossBlock | null>(request),
    close: async () => {
      await Promise.all(members.map((member) => member.close()));
    },
  };
}

class Member {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  /** Names of pairs that the thread has already: large data sets are sent once. */
  readonly #sent = new Set<string>();
  #next = 0;
  #failure: Error | null = null;

  constructor(start: WorkerStart) {
    this.#worker =
      new Worker(workerUrl('cli/audit/worker'), { workerData: start, execArgv: [] });
    this.#worker.on('message', ({ id, block }: {
      id: number; block: OutputBlock | LossBlock | null;
    }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      waiting?.resolve(block);
    });
    this.#worker.on('error', (error: Error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(new Error('an audit thread ended early')));
  }

  get load(): number {
    return this.#waiting.size;
  }

  /** The thread answers a request for losses with losses. */
  run<Block extends OutputBlock | LossBlock | null>(
    { pair, ...request }: TrialRequest | LossRequest,
  ): Promise<Block> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const id = this.#next++;
    const isNew = !this.#sent.has(pair.name);
    this.#sent.add(pair.name);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (block) => resolve(block as Block), reject });
      const call: WorkerCall = { id, request, pair: pair.name, ...(isNew ? { data: pair } : {}) };
      this.#worker.postMessage(call);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#failure);
    this.#waiting.clear();
  }
}
