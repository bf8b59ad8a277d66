import type { ServerMetrics } from '../metrics/server-metrics.js';
import type { ListenerLimits } from './options.js';

type Bounds = Pick<ListenerLimits, 'logReads' | 'catchUpBufferBytes' | 'catchUpBytes'>;

/** A socket that is sent a log. */
interface LogReader {
  /** Bytes written and not yet taken. */
  readonly bufferedBytes: number;
  terminate(): void;
}

/**
 * Bounds what reading release logs costs, over all subscribers and downloads: pages read at a time, since acks wait behind
 * them in the store, and bytes of past releases that were sent and not taken.
 */
export class LogReads {
  #reading = 0;
  readonly #waiting: (() => void)[] = [];
  /** Bytes not taken yet, of sockets that are behind; the socket that is behind for longest comes first. */
  readonly #behind = new Map<LogReader, number>();
  #bytes = 0;

  constructor(private readonly limits: Bounds, private readonly metrics: Pick<ServerMetrics, 'socketsClosed'>) {}

  /** Reads a page when it is its turn: first come, first served. Rejects as `read` does. */
  async page<T>(read: () => Promise<T>): Promise<T> {
    if (this.#reading < this.limits.logReads) this.#reading += 1;
    else await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
    try {
      return await read();
    } finally {
      // The next one takes over the turn, so the count stays.
      const next = this.#waiting.shift();
      if (next === undefined) this.#reading -= 1;
      else next();
    }
  }

  /** True while a socket has too much to take to be sent a further page. */
  isBehind(socket: LogReader): boolean {
    return socket.bufferedBytes > this.limits.catchUpBufferBytes;
  }

  /**
   * Call after a page was sent, and when the socket has drained. Past the bound over all sockets those that have been behind
   * for longest are cut: a socket that reads is behind for a moment only.
   */
  note(socket: LogReader): void {
    this.#count(socket);
    if (this.#bytes <= this.limits.catchUpBytes) return;
    // Counts from before may be too high by now.
    for (const reader of [...this.#behind.keys()]) this.#count(reader);
    for (const [oldest] of this.#behind) {
      if (this.#bytes <= this.limits.catchUpBytes) return;
      this.forget(oldest);
      this.metrics.socketsClosed.add(1, { reason: 'log-unread' });
      oldest.terminate();
    }
  }

  /** What the socket has not taken now. One that has taken something since it was counted last comes last again. */
  #count(socket: LogReader): void {
    const { bufferedBytes } = socket;
    if (!this.isBehind(socket) || bufferedBytes < (this.#behind.get(socket) ?? 0)) this.forget(socket);
    if (!this.isBehind(socket)) return;
    this.#bytes += bufferedBytes - (this.#behind.get(socket) ?? 0);
    this.#behind.set(socket, bufferedBytes);
  }

  /** The socket is gone, or has taken what it was sent. */
  forget(socket: LogReader): void {
    this.#bytes -= this.#behind.get(socket) ?? 0;
    this.#behind.delete(socket);
  }
}
