import { encodeServerFrame, viewOnce } from '../../src/wire/index.js';
import type { SessionSocket } from './context.js';
import { contextOf, followHub, type ContextOptions } from './new-context.js';
import { OnceVerdicts, welcomeOfOnce } from './once.js';
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
  /** The Welcome for batches without a channel. Null: no study has this id. @param studyId hex. */
  welcome(studyId: string): Uint8Array | null;
  /** Sends this Welcome, then answers such batches. Null: no study, or the listener stops. */
  connectOnce(socket: SessionSocket, studyId: string): InMemorySession | null;
  /** Lets batches in flight settle, then closes the sessions. Not graceful: cuts them at once. */
  close(graceful?: boolean): Promise<void>;
}

/**
 * The listener's sessions without its sockets. The simulation carries messages in memory with it.
 */
export function createInMemoryListener(options: ContextOptions): InMemoryListener {
  const context = contextOf(options);
  const sessions = new Sessions(context);
  const verdicts = new OnceVerdicts(context);
  const unfollow = followHub(context);
  const welcome = (studyId: string): Uint8Array | null => {
    const view = context.hub.study(studyId);
    return view === undefined ? null : welcomeOfOnce(context, view);
  };
  return {
    welcome,
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
    connectOnce(socket, studyId) {
      const first = welcome(studyId);
      if (first === null || context.stopping) return null;
      socket.send(first);
      return {
        receive(bytes) {
          const answered = async (): Promise<void> =>
            socket.send(encodeServerFrame(await verdicts.judge(viewOnce(bytes))));
          answered().catch(() => socket.terminate());
        },
        heard: () => undefined,
        ended: () => undefined,
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
