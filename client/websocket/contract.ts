import type { Notice, Ready, SignedHead, SignedRelease } from '../../src/wire/index.js';

/** A Hello for another nonce of the server. */
export interface HelloAgain {
  /** The frame. */
  hello(): Promise<Uint8Array>;
  /** True when the server signed both nonces. */
  isProvenBy(ready: Ready): Promise<boolean>;
}

/**
 * Events that a transport reports to its owner. `onClose` comes exactly once, and nothing after it.
 */
export interface TransportHandlers {
  onOpen(): void;
  /**
   * One binary message, whose bytes belong to the receiver, or a frame that came in another form.
   */
  onMessage(message: Uint8Array | SignedRelease | SignedHead | Notice): void;
  /** A ping or a pong came from the server. */
  onActivity(): void;
  /** `reason` is for people: close code, HTTP status or system error. */
  onClose(reason: string): void;
  /**
   * For transports whose every request begins with a Hello of its own. Null when there is no
   * channel to greet for. Absent: the owner cannot.
   */
  regreet?(serverNonce: Uint8Array): HelloAgain | null;
}

/** One WebSocket, open or opening. Methods never throw: `onClose` reports a dead socket. */
export interface Transport {
  /** Does nothing when the socket is not open. */
  send(bytes: Uint8Array): void;
  /** Bytes passed to `send` that the system has not taken yet. */
  readonly bufferedAmount: number;
  /** Asks for a pong. Returns false if the platform cannot (browsers). */
  ping(): boolean;
  /** Closes with a close frame. */
  close(): void;
  /** Drops the connection at once. */
  terminate(): void;
}

/**
 * Opens a WebSocket. `#websocket` resolves to node.ts (package ws) on Node and to browser.ts
 * elsewhere; both export `openTransport: OpenTransport`.
 * @param subprotocols those that the client offers, best first; the server takes one.
 * @throws KeelsonError('invalid-parameter') for a URL that can never work. `onClose` reports all
 *   other failures.
 */
export type OpenTransport =
  (url: string, subprotocols: readonly string[], handlers: TransportHandlers) => Transport;
