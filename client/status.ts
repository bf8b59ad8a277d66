import type { WireCode } from '../src/base/error-codes.js';
import type { KeelsonError } from '../src/base/errors.js';
import type { Settled } from './session/settled.js';

/** Where a contributor stands. */
export type ContributorState =
  /** The first connection is being made. */
  | { readonly kind: 'connecting' }
  /** Connected and proven; the study has no open epoch. Rows wait. */
  | { readonly kind: 'waiting-for-epoch' }
  /**
   * Rows are sent to this epoch. `closesInMs`: as of the server's last word; null when it did not say, or closes on
   * a count.
   */
  | { readonly kind: 'ready'; readonly epoch: bigint; readonly closesInMs: number | null }
  /** The connection was lost; rows wait for the next one. */
  | { readonly kind: 'reconnecting'; readonly reason: string; readonly retryInMs: number; readonly attempt: number }
  /** Over; `error` is null after `close`. */
  | { readonly kind: 'ended'; readonly error: KeelsonError | null };

/** What `status` yields: each new state, and three things that happen without changing it. */
export type ContributorStatus =
  | ContributorState
  /** Rows that cannot be sent yet are in the outbox: with a durable one, a later run finds them. */
  | { readonly kind: 'kept' }
  /** The server asked to try later; this is done without help. */
  | { readonly kind: 'put-off'; readonly code: WireCode }
  /** Rows that an earlier run had left in the outbox are settled. */
  | { readonly kind: 'recovered'; readonly result: Settled };

/** An open epoch, as `epochs` yields it. */
export interface OpenEpochNews {
  readonly epoch: bigint;
  /** Null when the server did not say, or the epoch closes on a count. */
  readonly closesInMs: number | null;
}
