import { WebSocket } from 'ws';
import type { OpenTransport } from './contract.js';
import { webSocketUrl } from './url.js';

/**
 * Largest frame from a server. A release of a large study may exceed a client's limit, but no
 * server needs more than this.
 */
const serverFrameBytesMax = 64 * 1024 * 1024;

/**
 * The time that a server has to answer a close. With the 30 s of ws, a silent server would keep the
 * process that long. The types of ws do not have this option yet.
 */
const closing = { closeTimeout: 2_000 };

/** WebSocket on Node, by the package ws. */
export const openTransport: OpenTransport = (url, subprotocols, handlers) => {
  const socket = new WebSocket(webSocketUrl(url), [...subprotocols], {
    perMessageDeflate: false,
    maxPayload: serverFrameBytesMax,
    skipUTF8Validation: true,
    ...closing,
  });
  socket.binaryType = 'nodebuffer';
  let problem: string | null = null;
  socket.on('open', () => handlers.onOpen());
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    // The protocol has no text messages. The decoder refuses this empty frame.
    handlers.onMessage(isBinary
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(0));
  });
  socket.on('upgrade', ({ socket: raw }) => {
    // A large release comes in many parts, and pings wait behind it. Each part shows that the
    // server is alive. The listener is added after ws has its own, because the first bytes would be
    // lost otherwise.
    socket.once('open', () => raw.on('data', () => handlers.onActivity()));
  });
  socket.on('ping', () => handlers.onActivity());
  socket.on('pong', () => handlers.onActivity());
  socket.on('error', (error: Error & { readonly code?: string }) => {
    problem ??= describeProblem(error);
  });
  socket.on('close', (code: number, reason: Buffer) => {
    handlers.onClose(problem ?? describeClose(code, reason.toString('utf8')));
  });
  return {
    send(bytes) {
      if (socket.readyState === WebSocket.OPEN) socket.send(bytes);
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    ping() {
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      return true;
    },
    close: () => socket.close(1000),
    terminate: () => socket.terminate(),
  };
};

/** One line for people. The texts of OpenSSL have several lines. */
function describeProblem({ code, message }: Error & { readonly code?: string }): string {
  if (message.includes('wrong version number')) {
    return 'the server speaks no TLS at this address: write ws: in place of wss:';
  }
  const status = /^Unexpected server response: (\d+)$/.exec(message)?.[1];
  if (status === undefined) return message.split('\n')[0] || (code ?? 'unknown');
  return `HTTP status ${status} in place of a WebSocket: is this the address of an aggregator?`;
}

function describeClose(code: number, reason: string): string {
  return reason === '' ? `closed with code ${code}` : `closed with code ${code}: ${reason}`;
}
