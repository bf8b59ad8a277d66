import { Worker } from 'node:worker_threads';
import { InvariantError } from '../../src/base/errors.js';
import type { Compute } from '../../src/estimators/contract.js';
import { workerUrl } from '../worker-url.js';
import type { ComputeCall, ComputeReply, ComputeSetup } from './worker.js';

/** Worker threads for row kernels. */
export interface ComputePool extends Compute {
  /** Starts the threads before there is work for them, so that the first call need not wait for it. */
  start(): void;
  /** Ends the threads; calls that still run are rejected. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(output: unknown): void;
  reject(error: Error): void;
}

/**
 * A pool of `threads` worker threads, started by the first call, so that small releases cost none. Idle threads do not
 * keep the process alive. A thread that ends rejects what it was asked, with an error that tells nothing of the input.
 * @param niceness - how far the threads stand back, see `standBack`; default 0: not at all.
 */
export function createComputePool(threads: number, niceness = 0): ComputePool {
  const members: Member[] = [];
  let isClosed = false;
  const start = (): void => {
    while (members.length < threads && !isClosed) members.push(new Member(niceness));
  };
  return {
    parallelism: threads,
    start,
    run<Output>(kernel: string, input: unknown, thread?: number): Promise<Output> {
      if (isClosed) return Promise.reject(failure());
      start();
      const idlest = members.reduce((best, next) => (next.load < best.load ? next : best));
      return (members[thread ?? -1] ?? idlest).run(kernel, input) as Promise<Output>;
    },
    async close() {
      isClosed = true;
      await Promise.all(members.map((member) => member.close()));
    },
  };
}

/**
 * What kernels leave behind for collection, in mebibytes: next to nothing beside their rows, but a thread would
 * otherwise spread it over many times that.
 */
const maxYoungGenerationSizeMb = 2;

const failure = (): Error => new InvariantError('a compute thread ended before its work was done');

class Member {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #hasEnded = false;

  constructor(niceness: number) {
    const workerData: ComputeSetup = { niceness };
    this.#worker = new Worker(workerUrl(import.meta.url, './worker.js'), {
      execArgv: [], workerData, resourceLimits: { maxYoungGenerationSizeMb },
    });
    this.#worker.on('message', ({ id, output, hasFailed }: ComputeReply) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#worker.unref();
      if (hasFailed) waiting?.reject(failure());
      else waiting?.resolve(output);
    });
    // Only work that is under way keeps the process alive.
    this.#worker.unref();
    this.#worker.on('error', () => this.#end());
    this.#worker.on('exit', () => this.#end());
  }

  get load(): number {
    return this.#waiting.size;
  }

  run(kernel: string, input: unknown): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(failure());
    const call: ComputeCall = { id: this.#next++, kernel, input };
    return new Promise((resolve, reject) => {
      this.#waiting.set(call.id, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage(call);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(): void {
    this.#hasEnded = true;
    for (const waiting of this.#waiting.values()) waiting.reject(failure());
    this.#waiting.clear();
  }
}
