import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Limits } from '../../src/base/limits.js';
import type { BatchChecks } from '../checks/contract.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Tracing } from '../base/tracing.js';
import type { OperatorNotes } from '../base/operator-records.js';
import type { StudyHub } from '../studies/contract.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
import type { StoreHealth } from '../store/health.js';

/** The limits of src/base/limits.ts as plain numbers, so that embedding code can tighten them. */
export type ListenerLimits = { readonly [Name in keyof Limits]: number };

/** The clients that may connect to an aggregator, and their limits. */
export interface NetworkOptions {
  /** Origins (`https://host[:port]`) whose pages may connect, besides the server's own. */
  readonly allowedOrigins?: readonly string[];
  /** Names under which browsers may reach the server, besides localhost and IP addresses. */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins whose pages may show `/embed/STUDY` and `/kiosk` in a frame. Default none. Other pages
   * of the server are never shown in one.
   */
  readonly frameAncestors?: readonly string[];
  /** Reverse proxies whose X-Forwarded-For is used: addresses or networks. Default none. */
  readonly trustedProxies?: readonly string[];
  /**
   * Takes rows on encrypted channels alone. Hello and `POST /v1/once` are refused with
   * `unsupported`, but for entries of sealed studies, which are encrypted to three servers. Default
   * false.
   */
  readonly encryptedOnly?: boolean;
  /** Certificate chain and key for TLS (https, wss), both PEM. Default: no TLS. */
  readonly tls?: TlsIdentity;
  /** Replaces single limits. */
  readonly limits?: Partial<ListenerLimits>;
}

/** Options of a listener: the studies that it serves, and its address and limits. */
export interface ListenerOptions extends NetworkOptions {
  readonly hub: StudyHub;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Opens /metrics, details of /healthz and /v1/operator/*. Never logged. */
  readonly operatorToken: string;
  /** False: contributors are redirected to another server of the store. Default true. */
  readonly takesBatches?: boolean;
  /** Default: no server is one of three. */
  readonly takePeer?: TakePeer;
  /** Created when absent. */
  readonly metrics?: ServerMetrics;
  /** Checks the signatures of batches. The caller closes it. Default: the listener's thread. */
  readonly checks?: BatchChecks;
  /** Latencies of the store, for metrics and health. */
  readonly storeHealth?: () => Promise<StoreHealth>;
  /** The operator's notes about studies. Default: kept in memory. */
  readonly notes?: OperatorNotes;
  /**
   * Number of descriptors that the process may have open. It bounds the number of connections.
   * Default: the system's.
   */
  readonly descriptors?: number;
}

/** Handles the upgrades of other servers of sealed studies. @returns false for those of clients. */
export type TakePeer = (request: IncomingMessage, raw: Duplex, head: Buffer) => boolean;

/** A certificate chain and its private key, PEM. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

/** A server that listens. */
export interface Listener {
  readonly port: number;
  /** `http://host:port`, or `https://` with TLS. Clients use `ws://` or `wss://`. */
  readonly address: string;
  /**
   * Uses a renewed certificate for later connections. Open ones keep theirs.
   * @throws InvalidInputError when certificate and key do not belong together or cannot be read, or
   *   the server has no TLS.
   */
  renewTls(identity: TlsIdentity): void;
  /**
   * Accepts no more connections, lets batches in flight settle, sends their acks, and closes
   * sockets with 1001. Not graceful: cuts everything at once.
   */
  close(graceful?: boolean): Promise<void>;
}
