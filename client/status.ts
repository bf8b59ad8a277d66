import type { WireCode } from '../src/base/error-codes.js';
import type { KeelsonError } from '../src/base/errors.js';
import type { Via } from './http/fallback.js';
import type { Settled } from './session/settled.js';

/** The state of a contributor. */
export type ContributorState =
  /** The first connection is being made. */
  | { readonly kind: 'connecting' }
  /** Connected and proven; the study has no open epoch. Rows wait. */
  | { readonly kind: 'waiting-for-epoch' }
  /**
   * Rows are sent to this epoch. `closesInMs`: as the server last reported; null when it did not
   * report it, or when the epoch closes on a count.
   */
  | { readonly kind: 'ready'; readonly epoch: bigint; readonly closesInMs: number | null }
  /** The connection was lost; rows wait for the next one. */
  | {
    readonly kind: 'reconnecting'; readonly reason: string; readonly retryInMs: number;
    readonly attempt: number;
  }
  /** Ended; `error` is null after `close`. */
  | { readonly kind: 'ended'; readonly error: KeelsonError | null };

/**
 * The values that `status` yields: each new state, and four events that do not change the state.
 */
export type ContributorStatus =
  | ContributorState
  /** Rows that cannot be sent yet are in the outbox. If it is durable, a later run finds them. */
  | { readonly kind: 'kept' }
  /** The server asked to try later. The client does so without help. */
  | { readonly kind: 'put-off'; readonly code: WireCode }
  /**
   * Rows travel another way than before: over HTTP requests where no WebSocket gets through, or by
   * WebSocket again.
   */
  | { readonly kind: 'via'; readonly via: Via; readonly reason: string }
  /** Rows that an earlier run had left in the outbox are settled. */
  | { readonly kind: 'recovered'; readonly result: Settled };

/** An open epoch, as `epochs` yields it. */
export interface OpenEpochNews {
  readonly epoch: bigint;
  /** Null when the server did not report it, or the epoch closes on a count. */
  readonly closesInMs: number | null;
}
