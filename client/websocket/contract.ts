/** What a transport tells its owner. Nothing arrives after `onClose`, which comes exactly once. */
export interface TransportHandlers {
  onOpen(): void;
  /** One binary message. The bytes belong to the receiver. */
  onMessage(bytes: Uint8Array): void;
  /** Any other sign of life from the server (a ping or a pong). */
  onActivity(): void;
  /** `reason` is for people: close code, HTTP status or system error. */
  onClose(reason: string): void;
}

/** One WebSocket, open or opening. Methods never throw: a dead socket reports itself by `onClose`. */
export interface Transport {
  /** Dropped silently when the socket is not open. */
  send(bytes: Uint8Array): void;
  /** Bytes handed to `send` that the system has not taken yet. */
  readonly bufferedAmount: number;
  /** Asks for a pong. False where the platform cannot (browsers). */
  ping(): boolean;
  /** Says goodbye. */
  close(): void;
  /** Drops the connection at once. */
  terminate(): void;
}

/**
 * Opens a WebSocket. `#websocket` resolves to node.ts (package ws) on Node and to browser.ts elsewhere; both
 * export `openTransport: OpenTransport`.
 * @throws KeelsonError('invalid-parameter') for a URL that can never work; anything else arrives as `onClose`.
 */
export type OpenTransport = (url: string, subprotocol: string, handlers: TransportHandlers) => Transport;
