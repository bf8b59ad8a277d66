import type { Clock } from '../../base/clock.js';
import type { Connections } from './connection.js';

/** Listeners are called this often even when nothing is heard: a pooler may swallow it. */
const pollMs = 1_000;
/** A node that has asked to hear and heard nothing for so long is behind such a pooler. */
const deafMs = 5_000;

/**
 * Receives news of changes that any node makes. A message only wakes: the listener then reads. So
 * nothing depends on whether a message arrives.
 */
export class News {
  readonly #listeners = new Set<() => void>();
  #stopHearing: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #isClosed = false;
  /** The time since which nothing has arrived; null once something has. */
  #deafSinceMs: number | null = null;

  constructor(private readonly connections: Connections, private readonly clock: Clock) {}

  /** @returns a function that stops it. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#cancel === undefined) this.#poll();
    return () => this.#listeners.delete(listener);
  }

  /** True if messages do not arrive. The polls find the changes a second later. */
  get isDeaf(): boolean {
    return this.#deafSinceMs !== null && this.clock.monotonicMs() - this.#deafSinceMs > deafMs;
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
    this.#deafSinceMs ??= this.clock.monotonicMs();
    const onNews = (): void => {
      this.#deafSinceMs = null;
      this.#tell();
    };
    this.connections.hear(onNews, () => { this.#stopHearing = undefined; }).then(
      (stop) => {
        this.#stopHearing = stop;
        if (this.#isClosed) stop();
      },
      // The database is away: the next poll tries again.
      () => {
        this.#stopHearing = undefined;
        this.#deafSinceMs = null;
      },
    );
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
