import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { fromHex } from '../../src/base/bytes.js';
import { peerFrameBytes, peerSubprotocol } from '../../src/wire/peer-messages.js';

/** Handlers for the events of a socket between two servers. */
export interface SocketHandlers {
  onMessage(bytes: Uint8Array): void;
  /** Called once. @param why - one line for the log. */
  onClose(why: string): void;
}

/** A socket between two servers that carries whole binary messages, in order. */
export interface PeerSocket {
  send(bytes: Uint8Array): void;
  /** Asks the other end for a sign of life; the pong is handed to `onPong`. */
  ping(onPong: () => void): void;
  close(): void;
}

/** A refused upgrade has a challenge, in hexadecimal. */
export const challengeHeader = 'keelson-challenge';
/** An upgrade has the Hello that answers it, a PeerFrame in base64. */
export const helloHeader = 'keelson-hello';

/** The types of ws do not have closeTimeout yet. */
const settings = {
  perMessageDeflate: false, maxPayload: peerFrameBytes, skipUTF8Validation: true,
  closeTimeout: 2_000,
};

const dialSettings = { ...settings, handshakeTimeout: 10_000 };

/** Asks another server for a challenge. @throws when it cannot be reached, or sends none. */
export function challengeFrom(url: string): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, peerSubprotocol, dialSettings);
    ws.once('error', reject);
    ws.once('open', () => {
      ws.terminate();
      reject(new Error('the other server asked for no proof'));
    });
    ws.once('unexpected-response', (request, { headers, statusCode }) => {
      request.destroy();
      const challenge = headers[challengeHeader];
      if (typeof challenge === 'string' && /^[0-9a-f]{64}$/.test(challenge)) {
        resolve(fromHex(challenge));
      } else reject(new Error(`the other server answers with status ${statusCode}`));
    });
  });
}

/**
 * Dials another server. @param hello - answers its challenge. @param begin - gets the open socket,
 * and returns its handlers. @throws when it cannot be reached.
 */
export function dialPeer(
  url: string, hello: Uint8Array, begin: (socket: PeerSocket) => SocketHandlers,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, peerSubprotocol, {
      ...dialSettings, headers: { [helloHeader]: Buffer.from(hello).toString('base64') },
    });
    ws.once('error', reject);
    ws.once('open', () => {
      ws.off('error', reject);
      begun(ws, begin);
      resolve();
    });
  });
}

/** Accepts the sockets on which other servers dial this one. */
export class PeerUpgrades {
  readonly #server = new WebSocketServer({
    ...settings, noServer: true, clientTracking: false, handleProtocols: () => peerSubprotocol,
  });

  /** True if an upgrade asks for the subprotocol between servers. */
  concerns({ headers }: IncomingMessage): boolean {
    return (headers['sec-websocket-protocol'] ?? '').split(',')
      .some((name) => name.trim() === peerSubprotocol);
  }

  /** @param begin - gets the socket, and returns its handlers. */
  take(
    request: IncomingMessage, raw: Duplex, head: Buffer,
    begin: (socket: PeerSocket) => SocketHandlers,
  ): void {
    this.#server.handleUpgrade(request, raw, head, (ws) => begun(ws, begin));
  }
}

function begun(ws: WebSocket, begin: (socket: PeerSocket) => SocketHandlers): void {
  const late: { handlers?: SocketHandlers } = {};
  const socket = connected(ws, {
    onMessage: (bytes) => late.handlers?.onMessage(bytes),
    onClose: (why) => late.handlers?.onClose(why),
  });
  late.handlers = begin(socket);
}

function connected(ws: WebSocket, handlers: SocketHandlers): PeerSocket {
  let problem: string | null = null;
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    // The protocol has no text messages. The reader refuses this empty one.
    handlers.onMessage(isBinary
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(0));
  });
  ws.on('error', (error) => { problem ??= error.message.split('\n')[0]!; });
  ws.on('close', (code) => handlers.onClose(problem ?? `closed with code ${code}`));
  return {
    send: (bytes) => { if (ws.readyState === WebSocket.OPEN) ws.send(bytes); },
    ping: (onPong) => {
      ws.once('pong', onPong);
      if (ws.readyState === WebSocket.OPEN) ws.ping();
    },
    close: () => {
      // A peer that does not answer the close is cut.
      ws.close(1000);
    },
  };
}
