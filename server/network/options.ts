import type { Limits } from '../../src/base/limits.js';
import type { Clock } from '../base/clock.js';
import type { StudyHub } from '../studies/contract.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
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
  /** Reverse proxies whose X-Forwarded-For is believed: addresses or networks. Default none. */
  readonly trustedProxies?: readonly string[];
  /** Speak TLS (https, wss) with this certificate chain and key, both PEM. Default: plain. */
  readonly tls?: TlsIdentity;
  /** Descriptors that the process may have open: bounds the limits on connections. Default: what the system says. */
  readonly descriptors?: number;
  /** Replaces single limits. */
  readonly limits?: Partial<ListenerLimits>;
}

/** A certificate chain and its private key, PEM. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** A server that listens. */
export interface Listener {
  readonly port: number;
  /** `http://host:port` (`https://` with TLS), for people and for clients (who say `ws://`, `wss://`). */
  readonly address: string;
  /**
   * Takes a renewed certificate for connections from now on. Open ones keep theirs.
   * @throws InvalidInputError when the two do not belong together or cannot be read, or the server speaks no TLS.
   */
  renewTls(identity: TlsIdentity): void;
  /**
   * Takes no more connections, lets batches in flight settle and their acks go out, closes sockets with
   * 1001. Not graceful: cuts everything at once.
   */
  close(graceful?: boolean): Promise<void>;
}
