import type { Clock } from '../../base/clock.js';
import type { Connections } from './connection.js';

/** Listeners are called this often even when nothing is heard: a pooler may swallow it. */
const pollMs = 1_000;

/**
 * Hears of changes that any node makes. What is heard only wakes: the listener then reads. So
 * nothing depends on whether a message arrives.
 */
export class News {
  readonly #listeners = new Set<() => void>();
  #stopHearing: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(private readonly connections: Connections, private readonly clock: Clock) {}

  /** @returns a function that stops it. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#cancel === undefined) this.#poll();
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#stopHearing?.();
  }

  #poll(): void {
    this.#cancel = this.clock.after(pollMs, () => {
      this.#tell();
      this.#poll();
    });
    if (this.#stopHearing !== undefined) return;
    this.#stopHearing = () => undefined;
    this.connections.hear(() => this.#tell(), () => { this.#stopHearing = undefined; }).then(
      (stop) => {
        this.#stopHearing = stop;
        if (this.#isClosed) stop();
      },
      // The database is away, or the connection is one of a pooler: the next poll tries again.
      () => { this.#stopHearing = undefined; },
    );
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
