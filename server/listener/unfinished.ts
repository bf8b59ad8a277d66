import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { ListenerContext } from './context.js';

/** How often the sum is looked at, in milliseconds: what a fast network brings meanwhile comes on top of the bound. */
const everyMs = 250;
/** A control frame's header and mask; it has no longer form. */
const controlHeadBytes = 6;

interface Held {
  readonly ws: WebSocket;
  /** Bytes that came since the last whole message, without control frames. */
  bytes: number;
}

/**
 * Bounds what messages that have begun and not ended hold, over all sockets: fragments may come forever, with pongs in between, so
 * neither silence nor the size of one message gives such a sender away. Past the bound the sockets that hold most are cut, down to
 * half of it: whoever sends small messages, however slowly, is cut last. Bytes behind a whole message in the same network
 * read are not counted, at most 64 KiB for each socket.
 */
export class UnfinishedMessages {
  readonly #held = new Set<Held>();
  #cancel: () => void = () => undefined;

  constructor(private readonly context: ListenerContext) {
    this.#schedule();
  }

  /** @param raw what is below `ws`, after TLS. Counts until it closes. */
  watch(ws: WebSocket, raw: Duplex): void {
    const held: Held = { ws, bytes: 0 };
    this.#held.add(held);
    const control = (data: Buffer): void => {
      held.bytes = Math.max(0, held.bytes - data.length - controlHeadBytes);
    };
    // Before ws sees them, which may end the message at once.
    raw.prependListener('data', (part: Buffer) => { held.bytes += part.length; });
    ws.prependListener('message', () => { held.bytes = 0; });
    ws.on('ping', control);
    ws.on('pong', control);
    ws.on('close', () => this.#held.delete(held));
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
    logger.warn({ bytes: sum }, 'unfinished messages hold too much: the largest are cut');
    for (const held of [...this.#held].sort((one, other) => other.bytes - one.bytes)) {
      if (sum <= limits.unfinishedBytes / 2) return;
      sum -= held.bytes;
      this.#held.delete(held);
      metrics.socketsClosed.add(1, { reason: 'unfinished' });
      held.ws.terminate();
    }
  }
}
