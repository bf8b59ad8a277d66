import type { Clock } from '../../server/base/clock.js';

/** A clock that stands still until a test moves it. */
export class HandClock implements Clock {
  #now = 0;
  #timers: { readonly atMs: number; readonly action: () => void }[] = [];
  nowMs = (): number => this.#now;
  monotonicMs = (): number => this.#now;

  after(delayMs: number, action: () => void): () => void {
    const timer = { atMs: this.#now + delayMs, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter((timer) => timer.atMs <= this.#now);
    this.#timers = this.#timers.filter((timer) => timer.atMs > this.#now);
    for (const timer of due) timer.action();
  }

  /** Moves by `stepMs`, again and again, until `condition` holds; sockets work in between. */
  async pass(stepMs: number, condition: () => boolean): Promise<void> {
    while (!condition()) {
      this.advance(stepMs);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}
