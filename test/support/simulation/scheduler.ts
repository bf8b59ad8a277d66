import type { Clock } from '../../../server/base/clock.js';
import type { ClientRuntime } from '../../../client/base/runtime.js';

interface Entry {
  readonly dueMs: number;
  readonly order: number;
  readonly label: string;
  readonly action: () => void;
  cancelled: boolean;
}

/**
 * All that will happen in a simulated world, in order of virtual time; what is due together goes in
 * order of asking.
 */
export class Scheduler {
  nowMs = 0;
  readonly #heap: Entry[] = [];
  #order = 0;

  /** @param label names the step in the trace. @returns a canceller. */
  after(delayMs: number, label: string, action: () => void): () => void {
    const dueMs = this.nowMs + Math.max(0, delayMs);
    const entry: Entry = { dueMs, order: this.#order++, label, action, cancelled: false };
    this.#push(entry);
    return () => { entry.cancelled = true; };
  }

  /**
   * Goes to the next step and runs it. @returns its label; null when nothing will ever happen
   * again.
   */
  step(): string | null {
    for (let entry = this.#pop(); entry !== undefined; entry = this.#pop()) {
      if (entry.cancelled) continue;
      this.nowMs = Math.max(this.nowMs, entry.dueMs);
      entry.action();
      return entry.label;
    }
    return null;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function before(left: Entry, right: Entry): boolean {
  return left.dueMs !== right.dueMs ? left.dueMs < right.dueMs : left.order < right.order;
}

/**
 * Lets promises run until nothing but a later step can go on: all waiting in a simulation is on the
 * scheduler.
 */
export function settled(): Promise<void> {
  return new Promise((resolve) => { setImmediate(resolve); });
}

/**
 * Timers of one process: they die with it. A process that is frozen finds them due when it wakes.
 */
export class ProcessTimers {
  alive = true;
  /** On the world's clock. */
  frozenUntilMs = 0;

  constructor(readonly scheduler: Scheduler, readonly name: string) {}

  after(delayMs: number, action: () => void): () => void {
    const { scheduler } = this;
    let isCancelled = false;
    const due = (): void => {
      if (!this.alive || isCancelled) return;
      const leftMs = this.frozenUntilMs - scheduler.nowMs;
      if (leftMs > 0) cancel = scheduler.after(leftMs, `${this.name} wakes`, due);
      else action();
    };
    let cancel = scheduler.after(delayMs, `${this.name} timer`, due);
    return () => {
      isCancelled = true;
      cancel();
    };
  }
}

/** A server's clock: monotonic time is the world's, wall time can be set. */
export function serverClock(timers: ProcessTimers, wall: { readonly offsetMs: number }): Clock {
  return {
    nowMs: () => Math.floor(wall.offsetMs + timers.scheduler.nowMs),
    monotonicMs: () => timers.scheduler.nowMs,
    after: (delayMs, action) => timers.after(delayMs, action),
  };
}

/** @param fraction the jitter of retries. */
export function clientRuntime(timers: ProcessTimers, fraction: () => number): ClientRuntime {
  return {
    nowMs: () => timers.scheduler.nowMs,
    // As a phone without a battery: only a share of the past is refused.
    unixMs: () => timers.scheduler.nowMs,
    after: (delayMs, action) => timers.after(delayMs, action),
    fraction,
  };
}
