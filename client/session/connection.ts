import { KeelsonError, WireError } from '../../src/base/errors.js';
import { decodeServerFrame, subprotocols, type ServerFrame } from '../../src/wire/index.js';
import { clientDefaults } from '../base/defaults.js';
import type { ClientRuntime } from '../base/runtime.js';
import type { HelloAgain, OpenTransport, Transport } from '../websocket/contract.js';
import { Backoff } from './backoff.js';
import { verifyWelcome, type ReadFacts, type VerifiedWelcome } from './handshake.js';

/** Times and platform of a connection; client/base/defaults.ts explains each default. */
export interface ConnectionOptions {
  readonly url: string;
  readonly runtime: ClientRuntime;
  readonly openTransport: OpenTransport;
  /** As for `verifyWelcome`. */
  readonly readFacts?: ReadFacts;
  readonly backoffInitialMs?: number;
  readonly backoffMaxMs?: number;
  readonly handshakeTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
}

/** The owner's side of a connection: keys that it asks for, and events that it reports. */
export interface ConnectionHooks {
  /**
   * Keys that must all belong to the server, now or earlier. Empty: the offered key is accepted.
   */
  pinnedKeys(): readonly Uint8Array[];
  /**
   * A new socket is ready for Hello and Subscribe. The session on the socket before it has ended.
   */
  onWelcome(welcome: VerifiedWelcome): void;
  /** Any later message. */
  onFrame(frame: ServerFrame): void;
  /** The socket is lost. Another attempt begins after `retryInMs`. */
  onDown(reason: string, retryInMs: number, attempt: number): void;
  /** This server can never be used. The connection has stopped for good. */
  onFatal(error: KeelsonError): void;
  /**
   * True while an answer is expected. Silence is then suspicious, even if the platform cannot ping.
   */
  isAwaiting(): boolean;
  /** See `TransportHandlers`. */
  regreet?(serverNonce: Uint8Array): HelloAgain | null;
}

/**
 * One WebSocket, opened again whenever it is lost, until `close`. It verifies Welcome and watches
 * for silence. Its owner handles all later messages.
 */
export class Connection {
  private readonly backoff: Backoff;
  private readonly handshakeTimeoutMs: number;
  private readonly idleTimeoutMs: number;
  private transport: Transport | null = null;
  /** Counts sockets, so that late reports of an old socket are ignored. */
  private generation = 0;
  private welcomed = false;
  private lastSignMs = 0;
  private stopped = false;
  private cancelTimer: () => void = () => undefined;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly hooks: ConnectionHooks,
  ) {
    const { runtime, backoffInitialMs, backoffMaxMs } = options;
    this.backoff = new Backoff(
      runtime,
      backoffInitialMs ?? clientDefaults.backoffInitialMs,
      backoffMaxMs ?? clientDefaults.backoffMaxMs,
    );
    this.handshakeTimeoutMs = options.handshakeTimeoutMs ?? clientDefaults.handshakeTimeoutMs;
    this.idleTimeoutMs = options.idleTimeoutMs ?? clientDefaults.idleTimeoutMs;
  }

  /** @throws InvalidParameterError for a URL that can never work. */
  open(): void {
    const generation = ++this.generation;
    const { runtime, openTransport, url } = this.options;
    const current = (): boolean => !this.stopped && generation === this.generation;
    this.welcomed = false;
    this.lastSignMs = runtime.nowMs();
    this.transport = openTransport(url, subprotocols, {
      onOpen: () => undefined,
      regreet: (serverNonce) => this.hooks.regreet?.(serverNonce) ?? null,
      onMessage: (message) => {
        if (current()) this.receive(message, current);
      },
      onActivity: () => {
        this.lastSignMs = runtime.nowMs();
      },
      onClose: (reason) => {
        if (current()) this.down(reason);
      },
    });
    this.cancelTimer = runtime.after(this.handshakeTimeoutMs, () => {
      if (current() && !this.welcomed) this.drop(`no Welcome within ${this.handshakeTimeoutMs} ms`);
    });
  }

  /** True when there is a socket and room in its buffer. */
  get writable(): boolean {
    return this.welcomed && this.transport !== null
      && this.transport.bufferedAmount < clientDefaults.socketBufferBytes;
  }

  send(bytes: Uint8Array): void {
    if (this.welcomed) this.transport?.send(bytes);
  }

  /**
   * Reports that the server works as expected: after the next loss the first wait is the shortest
   * again.
   */
  progress(): void {
    this.backoff.reset();
  }

  /** Drops the socket and connects again after a wait. */
  drop(reason: string): void {
    const transport = this.transport;
    this.down(reason);
    transport?.terminate();
  }

  /**
   * Closes the socket and makes no further attempt until `open` is called again. Nothing is
   * reported.
   */
  pause(): void {
    this.generation += 1;
    this.cancelTimer();
    this.transport?.close();
    this.transport = null;
    this.welcomed = false;
  }

  /** Closes for good. Nothing is reported after it. */
  close(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.cancelTimer();
    this.transport?.close();
    this.transport = null;
    this.welcomed = false;
  }

  private receive(message: Uint8Array | ServerFrame, current: () => boolean): void {
    this.lastSignMs = this.options.runtime.nowMs();
    let frame: ServerFrame;
    try {
      frame = message instanceof Uint8Array ? decodeServerFrame(message) : message;
    } catch (error) {
      this.drop(error instanceof Error ? error.message : 'unreadable frame');
      return;
    }
    if (this.welcomed) {
      this.hooks.onFrame(frame);
    } else if (frame.kind === 'welcome') {
      const { runtime, readFacts } = this.options;
      verifyWelcome(frame, this.hooks.pinnedKeys(), runtime.unixMs(), readFacts).then(
        (welcome) => {
          if (!current()) return;
          this.welcomed = true;
          this.cancelTimer();
          this.watchSilence(current);
          this.hooks.onWelcome(welcome);
        },
        (error: unknown) => {
          if (current()) this.fatal(error);
        },
      );
    } else if (frame.kind === 'refusal') {
      // A refusal before Welcome: the server has no room, or is stopping.
      this.drop(frame.text);
    }
  }

  private fatal(error: unknown): void {
    this.close();
    this.hooks.onFatal(
      error instanceof KeelsonError
        ? error
        : new WireError('malformed', 'the server\'s Welcome cannot be verified', { cause: error }),
    );
  }

  private down(reason: string): void {
    this.generation += 1;
    this.cancelTimer();
    this.transport = null;
    this.welcomed = false;
    if (this.stopped) return;
    const retryInMs = this.backoff.nextMs();
    this.cancelTimer = this.options.runtime.after(retryInMs, () => {
      if (!this.stopped) this.open();
    });
    this.hooks.onDown(reason, retryInMs, this.backoff.attempt);
  }

  /** Pings at a third of the limit, and drops the socket at the limit. */
  private watchSilence(current: () => boolean): void {
    const { runtime } = this.options;
    const look = (): void => {
      if (!current()) return;
      const silentMs = runtime.nowMs() - this.lastSignMs;
      const canPing = silentMs < this.idleTimeoutMs / 3 || this.transport?.ping() === true;
      if (silentMs >= this.idleTimeoutMs && (canPing || this.hooks.isAwaiting())) {
        this.drop(`silent for ${Math.round(silentMs)} ms`);
        return;
      }
      this.cancelTimer = runtime.after(this.idleTimeoutMs / 3, look);
    };
    this.cancelTimer = runtime.after(this.idleTimeoutMs / 3, look);
  }
}
