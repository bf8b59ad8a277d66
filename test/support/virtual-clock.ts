import type { Clock } from '../../server/base/clock.js';

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly action: () => void;
}

/** Time that moves only when a test says so. */
export class VirtualClock implements Clock {
  #monotonicMs = 0;
  #offsetMs: number;
  #timers: Timer[] = [];
  #order = 0;

  constructor(startMs = 1_700_000_000_000) {
    this.#offsetMs = startMs;
  }

  nowMs = (): number => this.#offsetMs + this.#monotonicMs;
  monotonicMs = (): number => this.#monotonicMs;

  after(delayMs: number, action: () => void): () => void {
    const timer: Timer = {
      dueMs: this.#monotonicMs + Math.max(0, delayMs), order: this.#order++, action,
    };
    this.#timers.push(timer);
    return () => { this.#timers = this.#timers.filter((other) => other !== timer); };
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.length;
  }

  /** The wall clock is set; durations go on. */
  jump(byMs: number): void {
    this.#offsetMs += byMs;
  }

  /** Lets time pass: runs what is due, in order, and lets what it started settle. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#monotonicMs + byMs;
    for (;;) {
      await settle();
      const due = this.#timers
        .filter((timer) => timer.dueMs <= untilMs)
        .sort((left, right) => left.dueMs - right.dueMs || left.order - right.order)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#monotonicMs = Math.max(this.#monotonicMs, due.dueMs);
      due.action();
    }
    this.#monotonicMs = untilMs;
    await settle();
  }
}

/** Lets promises that need no timer run to their end. */
export async function settle(): Promise<void> {
  for (let turn = 0;
      turn < 10; turn++) await new Promise<void>((resolve) => { setImmediate(resolve); });
}
