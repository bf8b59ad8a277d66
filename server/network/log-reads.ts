import type { ServerMetrics } from '../metrics/server-metrics.js';
import type { ListenerLimits } from './options.js';

type Bounds = Pick<ListenerLimits, 'logReads' | 'catchUpBufferBytes' | 'catchUpBytes'>;

/** A socket that receives a log. */
interface LogReader {
  /** Bytes written and not taken yet. */
  readonly bufferedBytes: number;
  terminate(): void;
}

/**
 * Bounds the cost of reading release logs, over all subscribers and downloads: the number of pages
 * read at a time, because acks wait behind them in the store, and the bytes of releases that were
 * sent and not taken.
 */
export class LogReads {
  #reading = 0;
  readonly #waiting: (() => void)[] = [];
  /** Bytes not taken yet, of sockets that are behind, in the order in which they fell behind. */
  readonly #behind = new Map<LogReader, number>();
  #bytes = 0;

  constructor(
    private readonly limits: Bounds, private readonly metrics: Pick<ServerMetrics, 'socketsClosed'>,
  ) {}

  /** Reads a page. Calls wait for their turn in order of arrival. Rejects as `read` does. */
  async page<T>(read: () => Promise<T>): Promise<T> {
    if (this.#reading < this.limits.logReads) this.#reading += 1;
    else await new Promise<void>((resolve) => { this.#waiting.push(resolve); });
    try {
      return await read();
    } finally {
      // The next caller gets this turn, so the count does not change.
      const next = this.#waiting.shift();
      if (next === undefined) this.#reading -= 1;
      else next();
    }
  }

  /** True while a socket has too many unread bytes, so that it gets no further page. */
  isBehind(socket: LogReader): boolean {
    return socket.bufferedBytes > this.limits.catchUpBufferBytes;
  }

  /**
   * Call it after a page was sent, and when the socket has drained. Past the bound over all
   * sockets, the sockets that have been behind the longest are cut. A socket that reads is behind
   * only for a moment.
   */
  note(socket: LogReader): void {
    this.#count(socket);
    if (this.#bytes <= this.limits.catchUpBytes) return;
    // Earlier counts may be too high by now.
    for (const reader of [...this.#behind.keys()]) this.#count(reader);
    for (const [oldest] of this.#behind) {
      if (this.#bytes <= this.limits.catchUpBytes) return;
      this.forget(oldest);
      this.metrics.socketsClosed.add(1, { reason: 'log-unread' });
      oldest.terminate();
    }
  }

  /**
   * Counts the bytes that the socket has not accepted yet. A socket that accepted some since the
   * last count moves to the end.
   */
  #count(socket: LogReader): void {
    const { bufferedBytes } = socket;
    if (!this.isBehind(socket) || bufferedBytes < (this.#behind.get(socket) ?? 0)) {
      this.forget(socket);
    }
    if (!this.isBehind(socket)) return;
    this.#bytes += bufferedBytes - (this.#behind.get(socket) ?? 0);
    this.#behind.set(socket, bufferedBytes);
  }

  /** Call it when the socket has ended, or has taken everything. */
  forget(socket: LogReader): void {
    this.#bytes -= this.#behind.get(socket) ?? 0;
    this.#behind.delete(socket);
  }
}
