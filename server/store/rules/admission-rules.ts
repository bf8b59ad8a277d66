import { equalBytes } from '../../../src/base/bytes.js';
import type { WireCode } from '../../../src/base/error-codes.js';
import { protocolLimits } from '../../../src/base/limits.js';
import type { AdmissionRequest, StudyStateName } from '../contract.js';
import { settledEntry, type ReplayWindow } from './replay-window.js';

/** The facts about a study that the rules need. */
export interface AdmissionStudy {
  readonly state: StudyStateName;
  readonly open: OpenEpochFacts | null;
  /** The newest epoch, open or not; 0 before the first. The next epoch is this one plus 1. */
  readonly newest: bigint;
  /** The rule of the newest epoch. */
  readonly late: 'next' | 'drop';
}

export interface OpenEpochFacts {
  readonly epochKey: bigint;
  readonly epoch: bigint;
  readonly rowsMax: number;
}

/**
 * The facts about a contributor to that study that the rules need. `rows` and `complete` are about
 * the epoch `epochKey`.
 */
export interface ContributionState {
  readonly window: ReplayWindow;
  readonly epochKey: bigint;
  readonly rows: number;
  readonly complete: boolean;
  /** The first epoch that leaves the key out; null when none does. */
  readonly excludedFrom: bigint | null;
}

/**
 * Stored in place of a row count: the epoch left the contributor out, because its own budget did
 * not pay for it.
 */
export const leftOutRows = -1;

export type Judgement =
  /** Journal it in the open epoch; `rows` is the contribution's new count. */
  | {
    readonly kind: 'accept'; readonly rows: number; readonly complete: boolean;
    readonly first: boolean;
  }
  /** Settled earlier: repeats the answer. */
  | { readonly kind: 'repeat'; readonly code: WireCode | undefined; readonly epoch: bigint }
  /** Refused for good: the sequence is consumed. */
  | { readonly kind: 'consume'; readonly code: WireCode }
  /** Refused; nothing is stored about it. */
  | { readonly kind: 'refuse'; readonly code: WireCode };

const refuse = (code: WireCode): Judgement => ({ kind: 'refuse', code });
const consume = (code: WireCode): Judgement => ({ kind: 'consume', code });

/** The reason why a study accepts no more batches; null while it accepts them. */
function stopOf(state: StudyStateName): WireCode | null {
  if (state === 'open') return null;
  return state === 'ended' ? 'study-ended' : 'budget-exhausted';
}

/**
 * Fingerprint of the batch's digest under the key of `epoch`; undefined when the key is deleted.
 */
export type FingerprintAt = (epoch: bigint) => Uint8Array | undefined;

/** True if the contributor withdrew from the epoch that a late batch names. */
export type HasWithdrawn = () => boolean;

/**
 * The admission rules of contract.ts, in their order. The fingerprint key of a settled sequence may
 * be deleted. Then the stored verdict is repeated without a comparison: if a refusal became a
 * duplicate, its sender would believe that it counts. A sequence that was accepted, or is behind
 * the window, is a duplicate.
 */
export function judge(
  batch: AdmissionRequest, study: AdmissionStudy | undefined, state: ContributionState,
  fingerprintAt: FingerprintAt, hasWithdrawn: HasWithdrawn,
): Judgement {
  if (study === undefined) return refuse('study-ended');
  const { window } = state;
  // Sequences start at 1. The wire refuses 0; here 0 would look like a settled sequence.
  if (batch.sequence < 1n) return refuse('malformed');
  const stopped = stopOf(study.state);
  if (batch.sequence > BigInt(window.contiguous + protocolLimits.sequenceWindow)) {
    return refuse(stopped ?? 'sequence-too-far');
  }
  const earlier = settledEntry(window, Number(batch.sequence));
  const fingerprint = earlier === undefined ? undefined : fingerprintAt(earlier.epoch);
  if (earlier !== undefined && fingerprint !== undefined) {
    if (!equalBytes(earlier.fingerprint, fingerprint)) return refuse('mutated');
    return { kind: 'repeat', code: earlier.code, epoch: earlier.epoch };
  }
  const settled = earlier !== undefined || batch.sequence <= BigInt(window.contiguous);
  if (settled) return { kind: 'repeat', code: earlier?.code, epoch: 0n };
  if (stopped !== null) return refuse(stopped);
  if (batch.rejectAs !== undefined) return consume(batch.rejectAs);
  const { open } = study;
  const coming = open?.epoch ?? study.newest + 1n;
  // Also answered while no epoch is open: the next one would not accept the batch, so waiting is
  // useless.
  if (batch.epoch < (study.late === 'next' ? coming - 1n : coming)) return consume('stale-epoch');
  if (open === null || batch.epoch > open.epoch) return refuse('epoch-not-open');
  if (state.excludedFrom !== null && open.epoch >= state.excludedFrom) {
    return consume('quarantined');
  }
  // A withdrawal is about all rows for the epoch, including those that arrive in the next one.
  if (batch.epoch < open.epoch && hasWithdrawn()) return consume('contribution-full');
  const first = state.epochKey !== open.epochKey;
  if (!first && state.rows === leftOutRows) return consume('contributor-budget-exhausted');
  const rows = (first ? 0 : state.rows) + batch.rows;
  if ((!first && state.complete) || rows > open.rowsMax) return consume('contribution-full');
  return { kind: 'accept', rows, complete: batch.last || rows === open.rowsMax, first };
}
