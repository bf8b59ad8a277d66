import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { SessionSocket } from './context.js';
import type { Session } from './session.js';

/** A ws connection as sessions see it. @param raw the TCP socket below it. */
export function sessionSocket(ws: WebSocket, raw: Duplex, address: string): SessionSocket {
  return {
    address,
    get bufferedBytes() {
      return ws.bufferedAmount;
    },
    send(frame) {
      // ws reports a failed write to the callback. The close event informs the session.
      if (ws.readyState === WebSocket.OPEN) ws.send(frame, { binary: true }, ignore);
    },
    together(write) {
      raw.cork();
      write();
      raw.uncork();
    },
    pause: () => ws.pause(),
    resume: () => ws.resume(),
    ping() {
      if (ws.readyState === WebSocket.OPEN) ws.ping(undefined, undefined, ignore);
    },
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
    onDrain(action) {
      raw.on('drain', action);
    },
  };
}

/**
 * Connects the events of a connection to its session. Without the error handler any client could
 * stop the process: an oversize or broken frame makes ws emit 'error'. ws then closes the
 * connection itself (1009, 1002).
 */
export function connectSession(
  ws: WebSocket, session: Session, onError: (error: Error) => void,
): void {
  ws.on('error', onError);
  ws.on('message', (data: Buffer, isBinary: boolean) => session.receive(data, isBinary));
  ws.on('ping', () => session.heard());
  ws.on('pong', () => session.heard());
  ws.on('close', () => session.ended());
}

function ignore(): void {
  // See `send`.
}
