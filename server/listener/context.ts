import type { Clock } from '../base/clock.js';
import { protocolLimits } from '../../src/base/limits.js';
import type { StudyHub } from '../studies/contract.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
import type { AddressCounts } from '../network/address-counts.js';
import type { BatchChecks } from '../checks/contract.js';
import type { SubscriberRegistry } from './subscriber-registry.js';
import type { ClientAddress } from '../network/client-address.js';
import type { KeyShares } from './key-shares.js';
import type { LogReads } from '../network/log-reads.js';
import type { Logger } from '../base/logger.js';
import type { Tracing } from '../base/tracing.js';
import type { ListenerLimits } from '../network/options.js';
import type { AddressRates, AddressTurns } from '../network/rates.js';
import type { Signal } from './signal.js';

/** State that all sessions of a listener share. */
export interface ListenerContext {
  readonly hub: StudyHub;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly limits: ListenerLimits;
  readonly metrics: ServerMetrics;
  readonly checks: BatchChecks;
  readonly subscribers: SubscriberRegistry;
  readonly clientAddress: ClientAddress;
  /** True if a connection comes from a reverse proxy. It then counts for no address. */
  readonly isTrustedProxy: (address: string | undefined) => boolean;
  /** Open channels of each address. */
  readonly channelsOf: AddressCounts;
  /** New connections of each address. */
  readonly connectionRates: AddressRates;
  readonly helloRates: AddressRates;
  readonly subscribeRates: AddressRates;
  /** Decides when a socket that was refused something is read again. */
  readonly rests: AddressTurns;
  readonly logReads: LogReads;
  readonly shares: KeyShares;
  /** Fires when a batch is settled or a socket is gone. */
  readonly settled: Signal;
  /** True if this server takes batches. If it does not, another server of the same store does. */
  readonly takesBatches: boolean;
  /** True if rows come on encrypted channels alone: see `NetworkOptions`. */
  readonly encryptedOnly: boolean;
  /** True once the listener closes: no new session is accepted. */
  stopping: boolean;
}

/** One connection, as sessions use it. socket.ts makes it from ws. */
export interface SessionSocket {
  /** For rate limits: see `addressKey`. */
  readonly address: string;
  /** Bytes written that the system has not taken yet. */
  readonly bufferedBytes: number;
  /** Never throws; does nothing once closed. */
  send(frame: Uint8Array): void;
  /** Sends everything that `write` sends with one system call. */
  together(write: () => void): void;
  /** Stops reading, so that TCP slows the sender down. */
  pause(): void;
  resume(): void;
  ping(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  /** Calls `action` whenever the buffer has emptied after being full. */
  onDrain(action: () => void): void;
}

/**
 * True if no batch may be taken now. Batches whose signature is being checked count as if they were
 * in the journal's queue already.
 */
export function isOverloaded({ hub, metrics: { totals } }: ListenerContext): boolean {
  return hub.overloaded()
    || totals.queuedBatches >= protocolLimits.journalQueueBatches
    || totals.queuedBytes >= protocolLimits.journalQueueBytes;
}
