import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { ListenerContext } from './context.js';

/**
 * Time between two checks of the sum, in milliseconds. Bytes that a fast network brings in between
 * are added to the bound.
 */
const everyMs = 250;
/** Bytes of a control frame's header and mask. This frame has no longer form. */
const controlHeadBytes = 6;

/** An unfinished message. */
export interface Held {
  /** Bytes that came since the last complete message, without control frames. */
  readonly bytes: number;
  /** Cuts its connection. */
  cut(): void;
}

/**
 * Bounds the memory of unfinished messages over all sockets. Fragments may come forever, with pongs
 * in between, so neither silence nor the size of one message identifies such a sender. Past the
 * bound, the sockets that hold the most are cut until the sum is half of it. So senders of small
 * messages, however slow, are cut last. Bytes that follow a complete message in the same network
 * read are not counted, at most 64 KiB for each socket.
 */
export class UnfinishedMessages {
  readonly #held = new Set<Held>();
  #cancel: () => void = () => undefined;

  constructor(private readonly context: ListenerContext) {
    this.#schedule();
  }

  /** @param raw the connection below `ws`, after TLS. It counts until it closes. */
  watch(ws: WebSocket, raw: Duplex): void {
    const held = { bytes: 0, cut: () => ws.terminate() };
    const forget = this.hold(held);
    const control = (data: Buffer): void => {
      held.bytes = Math.max(0, held.bytes - data.length - controlHeadBytes);
    };
    // Runs before ws handles the bytes, because they may complete the message.
    raw.prependListener('data', (part: Buffer) => { held.bytes += part.length; });
    ws.prependListener('message', () => { held.bytes = 0; });
    ws.on('ping', control);
    ws.on('pong', control);
    ws.on('close', forget);
  }

  /** Counts a message until the function that is returned is called. */
  hold(held: Held): () => void {
    this.#held.add(held);
    return () => { this.#held.delete(held); };
  }

  stop(): void {
    this.#cancel();
  }

  #schedule(): void {
    this.#cancel = this.context.clock.after(everyMs, () => {
      this.#check();
      this.#schedule();
    });
  }

  #check(): void {
    const { limits, metrics, logger } = this.context;
    let sum = 0;
    for (const { bytes } of this.#held) sum += bytes;
    if (sum <= limits.unfinishedBytes) return;
    logger.warn({ bytes: sum }, 'unfinished messages use too much memory: the largest are cut');
    for (const held of [...this.#held].sort((one, other) => other.bytes - one.bytes)) {
      if (sum <= limits.unfinishedBytes / 2) return;
      sum -= held.bytes;
      this.#held.delete(held);
      metrics.socketsClosed.add(1, { reason: 'unfinished' });
      held.cut();
    }
  }
}
