import type { OpenTransport } from './contract.js';
import { webSocketUrl } from './url.js';

/** The members of DOM events that are used here. The project's types are those of Node. */
interface MessageLike {
  readonly data: unknown;
}
interface CloseLike {
  readonly code: number;
  readonly reason: string;
}

/** WebSocket in browsers, and in any runtime with a global `WebSocket`. */
export const openTransport: OpenTransport = (url, subprotocols, handlers) => {
  const socket = new globalThis.WebSocket(webSocketUrl(url), [...subprotocols]);
  socket.binaryType = 'arraybuffer';
  let closed = false;
  const closeOnce = (reason: string): void => {
    if (closed) return;
    closed = true;
    handlers.onClose(reason);
  };
  socket.addEventListener('open', () => {
    if (!closed) handlers.onOpen();
  });
  socket.addEventListener('message', (event: MessageLike) => {
    if (closed) return;
    // The protocol has no text messages. The decoder refuses this empty frame.
    handlers.onMessage(event.data instanceof ArrayBuffer
      ? new Uint8Array(event.data) : new Uint8Array(0));
  });
  socket.addEventListener('close', (event: CloseLike) => {
    const { code, reason } = event;
    closeOnce(reason === '' ? `closed with code ${code}` : `closed with code ${code}: ${reason}`);
  });
  return {
    send(bytes) {
      // The copy has the plain ArrayBuffer that the socket's type requires.
      if (socket.readyState === socket.OPEN) socket.send(Uint8Array.from(bytes));
    },
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
    ping: () => false,
    close: () => socket.close(1000),
    terminate() {
      socket.close();
      // A browser reports a dead peer only after the network's timeout. The owner need not wait for
      // it.
      closeOnce('dropped by this client');
    },
  };
};
