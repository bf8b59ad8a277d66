import { Worker } from 'node:worker_threads';
import { InvariantError } from '../../src/base/errors.js';
import type { Compute } from '../../src/estimators/contract/estimator.js';
import { workerUrl } from '../base/place.js';
import type { ComputeCall, ComputeReply, ComputeSetup } from './worker.js';

/** Worker threads for row kernels. */
export interface ComputePool extends Compute {
  /** Starts the threads in advance, so that the first call need not wait for it. */
  start(): void;
  /** Ends the threads. Calls that still run are rejected. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(output: unknown): void;
  reject(error: Error): void;
}

/**
 * A pool of `threads` worker threads. The first call starts them, so small releases need none. Idle
 * threads do not keep the process alive. When a thread ends, its calls are rejected with an error
 * that reveals nothing about the input.
 * @param niceness - the amount by which the priority of the threads is lowered, see `standBack`;
 *   default 0: not at all.
 * @param entry - the module of the threads; tests use their own.
 */
export function createComputePool(
  threads: number, niceness = 0, entry: URL = workerUrl('server/compute/worker'),
): ComputePool {
  const members: Member[] = [];
  let isClosed = false;
  const start = (): void => {
    while (members.length < threads && !isClosed) members.push(new Member(niceness, entry));
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
 * Heap for short-lived objects of a thread, in mebibytes. Kernels make next to no garbage beside
 * their rows. With the default, a thread would use many times this much memory for it.
 */
const maxYoungGenerationSizeMb = 2;

const failure = (): Error => new InvariantError('a compute thread ended before its work was done');

class Member {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #next = 0;
  #hasEnded = false;
  #isClosing = false;

  constructor(niceness: number, entry: URL) {
    const workerData: ComputeSetup = { niceness };
    this.#worker = new Worker(entry, {
      execArgv: [], workerData, resourceLimits: { maxYoungGenerationSizeMb },
    });
    this.#worker.on('message', ({ id, output, hasFailed }: ComputeReply) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      // The answer may come after close() began. Then the process must wait for the end of the
      // thread.
      if (this.#waiting.size === 0 && !this.#isClosing) this.#worker.unref();
      if (hasFailed) waiting?.reject(failure());
      else waiting?.resolve(output);
    });
    // Only running work keeps the process alive.
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
    this.#isClosing = true;
    // The awaited thread keeps the process alive until it has ended, so that close() resolves.
    await this.#worker.terminate();
  }

  #end(): void {
    this.#hasEnded = true;
    for (const waiting of this.#waiting.values()) waiting.reject(failure());
    this.#waiting.clear();
  }
}
