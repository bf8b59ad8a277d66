import type { Clock } from '../base/clock.js';

/** Lets waiters check their condition again when something happened, instead of polling. */
export class Signal {
  readonly #waiters = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  fire(): void {
    // This runs for every batch, and there is nearly never a waiter.
    if (this.#waiters.size > 0) for (const look of [...this.#waiters]) look();
  }

  /** Resolves once `done()` holds, or after `timeoutMs`, whichever is first. */
  until(done: () => boolean, timeoutMs: number): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.#waiters.delete(look);
        resolve();
      };
      const look = (): void => {
        if (done()) end();
      };
      const cancel = this.clock.after(timeoutMs, end);
      this.#waiters.add(look);
    });
  }
}
