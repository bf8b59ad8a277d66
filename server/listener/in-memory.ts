import type { SessionSocket } from './context.js';
import { contextOf, followHub, type ContextOptions } from './new-context.js';
import { Sessions } from './sessions.js';

/** One connection to the listener. The code that carries its messages calls these methods. */
export interface InMemorySession {
  /** One complete message has arrived. */
  receive(bytes: Uint8Array, isBinary: boolean): void;
  /** Something else arrived that shows that the other side is alive. */
  heard(): void;
  /** The connection has ended. Call it once. */
  ended(): void;
}

/** Sessions over connections that the caller brings. There is no port and no HTTP. */
export interface InMemoryListener {
  /** Accepts a connection and sends Welcome. Null when there is no room, or the listener stops. */
  connect(socket: SessionSocket, subprotocol: string): InMemorySession | null;
  /** Lets batches in flight settle, then closes the sessions. Not graceful: cuts them at once. */
  close(graceful?: boolean): Promise<void>;
}

/**
 * The listener's sessions without its sockets. The simulation carries messages in memory with it.
 */
export function createInMemoryListener(options: ContextOptions): InMemoryListener {
  const context = contextOf(options);
  const sessions = new Sessions(context);
  const unfollow = followHub(context);
  return {
    connect(socket, subprotocol) {
      if (sessions.roomFor(socket.address) !== undefined) return null;
      const session = sessions.begin(socket, subprotocol);
      session.start();
      return {
        receive: (bytes, isBinary) => session.receive(bytes, isBinary),
        heard: () => session.heard(),
        ended() {
          session.ended();
          sessions.end(session);
        },
      };
    },
    async close(graceful = true) {
      context.stopping = true;
      const { closeTimeoutMs } = context.limits;
      if (graceful) {
        await context.settled
          .until(() => context.metrics.totals.queuedBatches === 0, closeTimeoutMs);
        sessions.stop();
        await context.settled.until(() => sessions.size === 0, closeTimeoutMs);
      }
      sessions.terminate();
      context.shares.stop();
      unfollow();
    },
  };
}
