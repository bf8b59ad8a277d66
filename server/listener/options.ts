import type { Limits } from '../../src/base/limits.js';
import type { Clock } from '../clock.js';
import type { StudyHub } from '../hub.js';
import type { ServerMetrics } from '../operator/server-metrics.js';
import type { StoreHealth } from '../store/contract.js';

/** What the listener writes to; a pino logger is one. Fields are public or about the socket, never rows. */
export interface ListenerLogger {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** The limits of src/base/limits.ts as plain numbers, so that an embedder can tighten them. */
export type ListenerLimits = { readonly [Name in keyof Limits]: number };

export interface ListenerOptions {
  readonly hub: StudyHub;
  readonly clock: Clock;
  readonly logger: ListenerLogger;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Opens /metrics, details of /healthz and /v1/operator/*. Never logged. */
  readonly operatorToken: string;
  /** One is made when absent. */
  readonly metrics?: ServerMetrics;
  /** Latencies of the store, for metrics and health. */
  readonly storeHealth?: () => Promise<StoreHealth>;
  /** Origins (`https://host[:port]`) other than the server's own whose pages may connect. */
  readonly allowedOrigins?: readonly string[];
  /** Names under which browsers may reach the server, besides localhost and IP addresses. */
  readonly allowedHosts?: readonly string[];
  /** Replaces single limits. */
  readonly limits?: Partial<ListenerLimits>;
}

/** A server that listens. */
export interface Listener {
  readonly port: number;
  /** `http://host:port`, for people and for clients (who say `ws://`). */
  readonly address: string;
  /**
   * Takes no more connections, lets batches in flight settle and their acks go out, closes sockets with
   * 1001. Not graceful: cuts everything at once.
   */
  close(graceful?: boolean): Promise<void>;
}
