import { clientDefaults } from '../base/defaults.js';
import type { ClientRuntime } from '../base/runtime.js';
import type { OpenTransport, Transport, TransportHandlers } from '../websocket/contract.js';
import { reasonOf } from './requests.js';

/** The way in which a client reaches its server. */
export type Via = 'websocket' | 'http';

/** The parts that a fallback needs besides the WebSocket. */
export interface FallbackOptions {
  readonly runtime: ClientRuntime;
  /** Every new connection tries a WebSocket first, for rows that HTTP may not carry. */
  readonly socketFirst?: boolean | undefined;
  /** Opens the transport that replaces the WebSocket. Its code may have to be loaded first. */
  overHttp(url: string, handlers: TransportHandlers): Promise<Transport>;
  /** Called when the first message arrives by another way than before. @param reason for people. */
  onVia(via: Via, reason: string): void;
}

/**
 * A transport that uses HTTP requests where WebSockets do not get through. A WebSocket that ends
 * before its first message counts as refused, by a proxy or by the server. While requests are used,
 * the transport tries a WebSocket now and then. It goes back when one brings a message.
 */
export function withHttpFallback(open: OpenTransport, options: FallbackOptions): OpenTransport {
  const { runtime } = options;
  let via: Via = 'websocket';
  /** A WebSocket brought nothing and was dropped: requests have the next turn. */
  let isHttpNext = false;
  const arrived = (now: Via, reason: string): void => {
    if (via === now) return;
    via = now;
    options.onVia(now, reason);
  };
  const overHttp = (
    url: string, subprotocols: readonly string[], handlers: TransportHandlers, refused: string,
  ): Transport => {
    let cancelProbe = (): void => undefined;
    let isHeard = false;
    const transport = transportLater((answer) => options.overHttp(url, answer), {
      ...handlers,
      onMessage(message) {
        if (!isHeard) arrived('http', refused);
        isHeard = true;
        handlers.onMessage(message);
      },
      onClose(reason) {
        cancelProbe();
        isHttpNext = isHeard && via === 'http' && options.socketFirst !== true;
        handlers.onClose(isHeard ? reason : refused);
      },
    });
    cancelProbe = keepProbing(runtime, (answer) => open(url, subprotocols, answer), () => {
      via = 'websocket';
      options.onVia(via, 'a WebSocket gets through again');
      transport.terminate();
    });
    return transport;
  };
  return (url, subprotocols, handlers) => {
    if (isHttpNext) return overHttp(url, subprotocols, handlers, 'no WebSocket gets through');
    let isHeard = false;
    let isEnded = false;
    let current = open(url, subprotocols, {
      ...handlers,
      onMessage(message) {
        isHeard = true;
        arrived('websocket', '');
        handlers.onMessage(message);
      },
      onClose(reason) {
        if (isHeard || isEnded) handlers.onClose(reason);
        else current = overHttp(url, subprotocols, handlers, reason);
      },
    });
    return {
      send: (bytes) => current.send(bytes),
      get bufferedAmount() {
        return current.bufferedAmount;
      },
      ping: () => current.ping(),
      close() {
        isEnded = true;
        current.close();
      },
      terminate() {
        isEnded = true;
        isHttpNext ||= !isHeard;
        current.terminate();
      },
    };
  };
}

/** A transport that is still loaded. Its owner sends nothing before the first message. */
function transportLater(
  load: (handlers: TransportHandlers) => Promise<Transport>, handlers: TransportHandlers,
): Transport {
  let transport: Transport | null = null;
  let isOver = false;
  const onClose = (reason: string): void => {
    if (!isOver) handlers.onClose(reason);
    isOver = true;
  };
  const end = (how: 'close' | 'terminate'): void => {
    transport?.[how]();
    onClose('ended by this client');
  };
  load({ ...handlers, onClose }).then((loaded) => {
    transport = loaded;
    if (isOver) loaded.terminate();
  }, (error: unknown) => onClose(reasonOf(error)));
  return {
    send: (bytes) => transport?.send(bytes),
    get bufferedAmount() {
      return transport?.bufferedAmount ?? 0;
    },
    ping: () => transport?.ping() ?? false,
    close: () => end('close'),
    terminate: () => end('terminate'),
  };
}

/**
 * Tries a WebSocket less and less often, until one brings a message.
 * @returns a function that stops it.
 */
function keepProbing(
  runtime: ClientRuntime, open: (handlers: TransportHandlers) => Transport, found: () => void,
): () => void {
  let stop = (): void => undefined;
  let isOver = false;
  const probe = (waitMs: number): void => {
    stop = runtime.after(waitMs, () => {
      let isDone = false;
      const done = (): boolean => {
        if (isDone || isOver) return false;
        isDone = true;
        cancel();
        return true;
      };
      const failed = (): void => {
        if (done()) probe(Math.min(2 * waitMs, clientDefaults.probeMaxMs));
      };
      const cancel = runtime.after(clientDefaults.handshakeTimeoutMs, () => {
        failed();
        socket.terminate();
      });
      const socket = open({
        onOpen: () => undefined,
        onActivity: () => undefined,
        onMessage() {
          if (!done()) return;
          isOver = true;
          socket.terminate();
          found();
        },
        onClose: failed,
      });
      stop = () => {
        cancel();
        socket.terminate();
      };
    });
  };
  probe(clientDefaults.probeInitialMs);
  return () => {
    isOver = true;
    stop();
  };
}
