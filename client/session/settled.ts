import type { WireError } from '../../src/base/errors.js';

/** What became of rows that were sent. */
export type Settled =
  | {
      readonly kind: 'accepted';
      /** The epoch that the batches named. They count in it or, where the study takes late rows, in the next. */
      readonly epoch: bigint;
      /** The epoch that was open when the last of them was acknowledged; 0n when none. */
      readonly openEpoch: bigint;
      /** One per batch, ascending. */
      readonly sequences: readonly bigint[];
    }
  | {
      readonly kind: 'refused';
      /** Why; `error.code` is stable. Sending the same rows again needs a reason to end differently. */
      readonly error: WireError;
      /** Of the batches that were signed; none when the rows never left. */
      readonly sequences: readonly bigint[];
    };
