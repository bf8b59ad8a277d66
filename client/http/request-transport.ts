import type { Transport, TransportHandlers } from '../websocket/contract.js';

/** A transport over requests of its own: it has no socket that could be pinged or closed. */
export abstract class RequestTransport implements Transport {
  bufferedAmount = 0;
  /** Aborted when the transport ends. */
  protected readonly aborter = new AbortController();
  /** Cancels what the transport does later. */
  protected cancelLater: () => void = () => undefined;

  constructor(protected readonly handlers: TransportHandlers) {}

  abstract send(bytes: Uint8Array): void;

  ping(): boolean {
    return false;
  }

  close(): void {
    this.end('closed by this client');
  }

  terminate(): void {
    this.end('dropped by this client');
  }

  protected get isClosed(): boolean {
    return this.aborter.signal.aborted;
  }

  protected end(reason: string): void {
    if (this.isClosed) return;
    this.cancelLater();
    this.aborter.abort();
    this.handlers.onClose(reason);
  }
}
