import type { WireError } from '../../src/base/errors.js';

/** The result of sending rows. */
export type Settled =
  | {
      readonly kind: 'accepted';
      /**
       * The epoch that the batches named. They count in it, or in the next one if the study accepts
       * late rows.
       */
      readonly epoch: bigint;
      /** The epoch that was open when the last batch was acknowledged; 0n when none. */
      readonly openEpoch: bigint;
      /** One per batch, ascending. */
      readonly sequences: readonly bigint[];
    }
  | {
      readonly kind: 'refused';
      /**
       * The reason; `error.code` is stable. If it still applies, the same rows are refused again.
       */
      readonly error: WireError;
      /** Sequences of the signed batches; empty when the rows were never sent. */
      readonly sequences: readonly bigint[];
    };
