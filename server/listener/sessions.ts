import { encryptedSubprotocol } from '../../src/wire/index.js';
import { AddressCounts } from '../network/address-counts.js';
import type { ListenerContext, SessionSocket } from './context.js';
import { Session } from './session.js';
import type { UpgradeRefusal } from '../network/upgrade.js';

interface Held {
  readonly socket: SessionSocket;
  readonly address: string;
}

/**
 * The open sessions of a listener, over sockets or in memory: their limits, and the timer that
 * checks them.
 */
export class Sessions {
  readonly #held = new Map<Session, Held>();
  readonly #perAddress = new AddressCounts();
  #cancelCheck: () => void = () => undefined;

  constructor(private readonly context: ListenerContext) {
    this.#scheduleCheck();
  }

  get size(): number {
    return this.#held.size;
  }

  /**
   * @returns undefined when a connection from the address may become a session, otherwise the
   *   refusal.
   */
  roomFor(address: string): UpgradeRefusal | undefined {
    const { limits, stopping } = this.context;
    if (stopping) return { status: 503, text: 'the server is stopping: connect again later' };
    if (this.#held.size >= limits.sockets) {
      return {
        status: 503,
        text: `the server holds its ${limits.sockets} connections: connect again later`,
      };
    }
    if (this.#perAddress.of(address) >= limits.socketsPerAddress) {
      const text = `an address may hold ${limits.socketsPerAddress} connections: put more `
        + 'contributors on each';
      return { status: 429, text };
    }
    return undefined;
  }

  /**
   * Counts the session from now until `end`. The caller listens to the socket first, then starts
   * the session.
   */
  begin(socket: SessionSocket, subprotocol: string): Session {
    const { context } = this;
    const { address } = socket;
    const session = new Session(context, socket, subprotocol === encryptedSubprotocol);
    this.#held.set(session, { socket, address });
    this.#perAddress.add(address, 1);
    context.metrics.totals.sockets += 1;
    return session;
  }

  /** Call it when the connection has closed. The caller also calls the session's own `ended`. */
  end(session: Session): void {
    const held = this.#held.get(session);
    if (held === undefined) return;
    this.#held.delete(session);
    this.context.metrics.totals.sockets -= 1;
    this.context.settled.fire();
    this.#perAddress.add(held.address, -1);
  }

  /** Closes every session with a close frame. */
  stop(): void {
    this.#cancelCheck();
    for (const session of [...this.#held.keys()]) session.stop();
  }

  /** Cuts the remaining connections. */
  terminate(): void {
    this.#cancelCheck();
    for (const { socket } of [...this.#held.values()]) socket.terminate();
  }

  /** One timer for all sockets. Its period is so short that no time limit is exceeded by half. */
  #scheduleCheck(): void {
    const { handshakeTimeoutMs, heartbeatMs, subscriberStallMs } = this.context.limits;
    const everyMs = Math.ceil(Math.min(handshakeTimeoutMs, heartbeatMs, subscriberStallMs) / 2);
    this.#cancelCheck = this.context.clock.after(everyMs, () => {
      for (const session of [...this.#held.keys()]) session.check();
      this.#scheduleCheck();
    });
  }
}
