import type { SessionSocket } from './context.js';
import { contextOf, followHub, type ContextOptions } from './new-context.js';
import { Sessions } from './sessions.js';

/** What a carrier tells of one connection that it brought. */
export interface CarriedSession {
  /** One message that has arrived whole. */
  receive(bytes: Uint8Array, isBinary: boolean): void;
  /** Any other sign of life. */
  heard(): void;
  /** The connection is gone; call it once. */
  ended(): void;
}

/** Sessions over connections that somebody else brings: no port, no HTTP. */
export interface CarriedListener {
  /** Takes a connection and says Welcome on it; null when there is no room, or the listener stops. */
  connect(socket: SessionSocket): CarriedSession | null;
  /** Lets batches in flight settle, then says goodbye and cuts what is left. Not graceful: cuts at once. */
  close(graceful?: boolean): Promise<void>;
}

/** The listener's sessions without its sockets, for whoever carries messages by other means (simulation does). */
export function createCarriedListener(options: ContextOptions): CarriedListener {
  const context = contextOf(options);
  const sessions = new Sessions(context);
  const unfollow = followHub(context);
  return {
    connect(socket) {
      if (sessions.roomFor(socket.address) !== undefined) return null;
      const session = sessions.begin(socket);
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
        await context.settled.until(() => context.metrics.totals.queuedBatches === 0, closeTimeoutMs);
        sessions.stop();
        await context.settled.until(() => sessions.size === 0, closeTimeoutMs);
      }
      sessions.terminate();
      unfollow();
    },
  };
}
