import type { Clock } from '../../base/clock.js';
import type { Connections } from './connection.js';

/** Listeners are called this often even when nothing is heard: a pooler may swallow it. */
const pollMs = 1_000;
/** A node that has asked to hear and heard nothing for so long is behind such a pooler. */
const deafMs = 5_000;

/**
 * Hears of changes that any node makes. What is heard only wakes: the listener then reads. So
 * nothing depends on whether a message arrives.
 */
export class News {
  readonly #listeners = new Set<() => void>();
  #stopHearing: (() => void) | undefined;
  #cancel: (() => void) | undefined;
  #isClosed = false;
  /** Since when nothing was heard; null once something was. */
  #deafSinceMs: number | null = null;

  constructor(private readonly connections: Connections, private readonly clock: Clock) {}

  /** @returns a function that stops it. */
  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#cancel === undefined) this.#poll();
    return () => this.#listeners.delete(listener);
  }

  /** Whether what is told does not arrive. The polls find it a second later. */
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
