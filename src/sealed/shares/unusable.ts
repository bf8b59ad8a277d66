import { KeelsonError } from '../../base/errors.js';

/**
 * Why a server cannot use a contributor's entry:
 * - `length`: the body does not have the bytes of its study's form.
 * - `study`, `epoch`: the body was signed for another study or epoch.
 * - `signature`: the contributor did not sign the body for this study.
 * - `box`: the box was not sealed for this server, or was changed.
 * - `copied`: the box was sealed for another body: of another contributor, epoch or sequence.
 * - `commitment`: the share is not the one that the body commits to.
 */
export type UnusableReason =
  'length' | 'study' | 'epoch' | 'signature' | 'box' | 'copied' | 'commitment';

const codes = {
  length: 'malformed', study: 'unknown-study', epoch: 'stale-epoch', signature: 'bad-signature',
  box: 'malformed', copied: 'malformed', commitment: 'malformed',
} as const;

/** An entry that a server cannot use. It is left out of the epoch by all three servers. */
export class UnusableEntryError extends KeelsonError {
  constructor(readonly reason: UnusableReason, message: string) {
    super(codes[reason], message, { details: { reason } });
  }
}
