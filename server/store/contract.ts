import type { Amount } from '../../src/privacy/accounting/amount.js';
import type { BudgetRule } from '../../src/privacy/accounting/cost.js';
import type { KeyRotation } from '../../src/signing/index.js';
import type { WireCode } from '../../src/base/error-codes.js';

/**
 * The durable record of a server: journal, replay windows, epochs, ledger and releases, in one
 * transaction domain. Every method is one whole named transaction; its promise resolves after the
 * transaction is durable (fsync) and rejects with StorageError when it is not. One writer.
 * test/support/store-suite.ts is the contract's test, run over every implementation.
 *
 * Study ids and contributor keys travel as lower-case hex of 32 bytes.
 */
export type StudyId = string;
export type ContributorKey = string;

export type StudyStateName = 'open' | 'exhausted' | 'ended';
/**
 * open -> closing -> charged -> released. From `open` or `closing`: -> lapsed (no noise was taken;
 * the reservation is given back). From `charged` without a release after a crash, the release
 * stored is `refused: interrupted`.
 */
export type EpochState = 'open' | 'closing' | 'charged' | 'released' | 'lapsed';

export interface BudgetSpec {
  /** `study:<name>` or `population:<name>`: a new version of a study goes on with the same budget. */
  readonly key: string;
  readonly scope: 'study' | 'contributor' | 'population';
  readonly rule: BudgetRule;
  /** Under zcdp: rho and delta caps. Under pure: rhoCap holds the epsilon cap, delta 0. */
  readonly rhoCap: Amount;
  readonly deltaCap: Amount;
  /** The statement the caps came from, for reports. */
  readonly epsilon: number;
  readonly delta: number;
  /**
   * The budget renews: a charge counts for this many milliseconds, then no longer. Fixed at creation. Absent: a charge
   * counts for ever.
   */
  readonly windowMs?: number;
}

export interface StudyRegistration {
  readonly studyId: StudyId;
  readonly name: string;
  /** Canonical JSON of the StudyDocument. */
  readonly document: string;
  readonly budget: BudgetSpec;
  readonly nowMs: number;
}

export interface StudyRecord {
  readonly studyId: StudyId;
  readonly name: string;
  readonly document: string;
  readonly budgetKey: string;
  readonly state: StudyStateName;
  readonly releaseCount: number;
  /** SHA-512 of the last release body, hex; 128 zeros when none. */
  readonly lastDigest: string;
  /** Highest epoch ever opened, also when it lapsed; 0n when none. The next one is larger. */
  readonly lastEpoch: bigint;
}

export interface LedgerBalance {
  readonly key: string;
  readonly scope: BudgetSpec['scope'];
  readonly rule: BudgetRule;
  readonly rhoCap: Amount;
  readonly deltaCap: Amount;
  readonly rhoSpent: Amount;
  readonly deltaSpent: Amount;
  readonly rhoReserved: Amount;
  readonly deltaReserved: Amount;
  readonly epsilon: number;
  readonly delta: number;
  /** Set for a budget that renews: `spent` is then what was charged within the last `windowMs`. */
  readonly windowMs?: number;
}

export interface OpenEpoch {
  readonly studyId: StudyId;
  readonly epoch: bigint;
  readonly opensAtMs: number;
  /** 0 when the epoch closes on a count. */
  readonly closesAtMs: number;
  /** The plan's cost under the budget's rule: reserved now. */
  readonly rho: Amount;
  readonly delta: Amount;
  /** Secret: the HMAC key that assigns contributors to groups. Kept so that replay rebuilds the same groups; empty once purged. */
  readonly assignmentKey: Uint8Array;
  /** Seed of the epoch's work randomness. Not secret-critical. Empty once purged. */
  readonly workSeed: Uint8Array;
  /** Contribution rule, enforced in `admit`. */
  readonly rowsMax: number;
  readonly late: 'next' | 'drop';
}

export type OpenEpochResult =
  | { readonly kind: 'opened'; readonly balance: LedgerBalance }
  /**
   * The budget does not fit: nothing was written but the ledger's note of it and, unless the budget renews, the study's
   * state `exhausted`. `retryAtMs`: when enough of a budget that renews will have left its window.
   */
  | {
    readonly kind: 'declined'; readonly balance: LedgerBalance; readonly rhoAsked: Amount; readonly deltaAsked: Amount;
    readonly retryAtMs?: number;
  };

export interface EpochRecord {
  readonly studyId: StudyId;
  readonly epoch: bigint;
  readonly state: EpochState;
  readonly opensAtMs: number;
  readonly closesAtMs: number;
  readonly rho: Amount;
  readonly delta: Amount;
  readonly assignmentKey: Uint8Array;
  readonly workSeed: Uint8Array;
  readonly rowsMax: number;
  /** Times recovery began to rebuild this epoch: the crash-loop guard. */
  readonly recoveries: number;
}

/** One verified, decoded batch that waits for its verdict. */
export interface AdmissionRequest {
  readonly studyId: StudyId;
  readonly contributor: ContributorKey;
  readonly sequence: bigint;
  /** The epoch that the sender named. */
  readonly epoch: bigint;
  readonly last: boolean;
  readonly rows: number;
  /** SHA-512 of body, 64 bytes. */
  readonly digest: Uint8Array;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  /** Set when the contents were already judged unusable (NaN, wrong dimension): the sequence is consumed, nothing is journalled. */
  readonly rejectAs?: WireCode;
}

export interface AdmissionResult {
  /** accepted: journalled now. duplicate: it was accepted before, by the same digest. rejected: see code. */
  readonly verdict: 'accepted' | 'duplicate' | 'rejected';
  /** The epoch the batch counts in; 0 when rejected. */
  readonly epoch: bigint;
  readonly code?: WireCode;
  /** Position in the journal, increasing: the replay order. 0 unless accepted. */
  readonly position: bigint;
  /** The contributor's contribution to that epoch is complete with this batch. */
  readonly complete: boolean;
  /**
   * Under contributor scope, with the first row of an epoch (also when it did not fit): what the contributor has now
   * spent.
   */
  readonly spend?: { readonly rho: Amount; readonly delta: Amount };
  /** With `too-many-new-keys`: the Unix time from which the study takes new keys again. */
  readonly retryAtMs?: number;
}

/** A contributor takes back what it gave to an epoch. Its signature is verified. */
export interface WithdrawalRequest {
  readonly studyId: StudyId;
  readonly contributor: ContributorKey;
  readonly epoch: bigint;
  /** 64 bytes, label "withdraw": kept, so that the record can be verified by others. */
  readonly signature: Uint8Array;
  readonly nowMs: number;
}

export type WithdrawalResult =
  /**
   * Its rows of the epoch count nowhere. `undone`: there were rows that counted until now, and `complete`: their
   * contribution was complete. Both false when it had been withdrawn before, or there was nothing.
   */
  | { readonly kind: 'withdrawn'; readonly undone: boolean; readonly complete: boolean }
  | { readonly kind: 'refused'; readonly code: Extract<WireCode, 'too-late' | 'epoch-not-open'> };

export interface ContributorState {
  /** The first sequence never seen. */
  readonly nextSequence: bigint;
  /** Unsettled sequences below nextSequence. */
  readonly holes: readonly bigint[];
  /** Something of this contributor was settled for the epoch that is open, whether it still counts there or not. */
  readonly inOpenEpoch: boolean;
  /** Under contributor scope: what this contributor has spent. */
  readonly spend: { readonly rho: Amount; readonly delta: Amount } | null;
}

export interface JournalEntry {
  readonly position: bigint;
  readonly contributor: ContributorKey;
  readonly sequence: bigint;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  readonly complete: boolean;
}

export interface ReleaseRecord {
  readonly studyId: StudyId;
  /** Position in the study's log, from 0. */
  readonly index: number;
  readonly epoch: bigint;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  /** SHA-512 of body, hex. */
  readonly digest: string;
}

export interface StoreRelease extends ReleaseRecord {
  readonly nowMs: number;
}

/** A key that is left out of a study's epochs. Never withdrawn. */
export interface Quarantine {
  readonly studyId: StudyId;
  readonly contributor: ContributorKey;
  /** The first epoch without it. */
  readonly fromEpoch: bigint;
  /** What decided: the distance of its own rows, the study's bound, and the release that they were compared with. */
  readonly distance: number;
  readonly beyond: number;
  readonly releaseIndex: number;
  readonly atMs: number;
}

export type NewQuarantine = Omit<Quarantine, 'fromEpoch'> & Partial<Pick<Quarantine, 'fromEpoch'>>;

export interface LedgerEntry {
  readonly budgetKey: string;
  readonly studyId: StudyId;
  readonly epoch: bigint;
  /** `rollback`: charged when a start accepted an older database, for charges that it had lost. */
  readonly kind: 'reserved' | 'charged' | 'lapsed' | 'declined' | 'rollback';
  readonly rho: Amount;
  readonly delta: Amount;
  /** Canonical JSON of the plan's mechanism events; only for `charged`. */
  readonly events: string;
  readonly atMs: number;
}

/**
 * A start that went on although the database held less than was charged or released. Both counts
 * are public.
 */
export interface Rollback {
  readonly atMs: number;
  /**
   * Entries of the ledger: in the database that was accepted, and by the mark; null when there was
   * no mark.
   */
  readonly ledger: { readonly found: number; readonly marked: number | null };
  /** Releases of all studies together. */
  readonly releases: { readonly found: number; readonly marked: number | null };
}

export interface Store {
  // ---- studies
  /**
   * Creates the study and its budget, or returns the ones there. A budget that exists keeps its
   * rule and scope and may only shrink.
   * @throws KeelsonError('invalid-study') when the budget would grow or change its rule or scope.
   */
  registerStudy(input: StudyRegistration): Promise<StudyRecord>;
  study(studyId: StudyId): Promise<StudyRecord | null>;
  studies(): Promise<readonly StudyRecord[]>;
  setStudyState(studyId: StudyId, state: StudyStateName): Promise<void>;

  // ---- epochs and ledger
  /** Reserves and opens, or declines and marks the study exhausted. Idempotent for an epoch that is open. */
  openEpoch(input: OpenEpoch): Promise<OpenEpochResult>;
  /** open -> closing: `admit` puts later batches elsewhere. Idempotent. Returns the number of journalled batches. */
  beginClose(studyId: StudyId, epoch: bigint): Promise<void>;
  /**
   * closing -> charged: reserved becomes spent. Idempotent.
   * @param atMs Unix time from which the charge counts, where the budget renews: not before the
   *   scheduled close of the epoch. A public number: the ledger's balances show it.
   * @returns the balance at that time.
   */
  chargeEpoch(studyId: StudyId, epoch: bigint, events: string, atMs: number): Promise<LedgerBalance>;
  /** open or closing -> lapsed: the reservation is given back. Only when no noise was taken. */
  lapseEpoch(studyId: StudyId, epoch: bigint, nowMs: number): Promise<void>;
  /** charged -> released; appends to the study's log. The index must be the next one. Idempotent for the same bytes. */
  storeRelease(input: StoreRelease): Promise<void>;
  /** Deletes the epoch's journal rows (secure_delete) and replay rows that no batch can name any more. Truncates the WAL. */
  purgeEpoch(studyId: StudyId, epoch: bigint): Promise<void>;
  epoch(studyId: StudyId, epoch: bigint): Promise<EpochRecord | null>;
  /** Epochs that are not released or lapsed, oldest first. */
  unfinishedEpochs(): Promise<readonly EpochRecord[]>;
  /** Released epochs whose rows are still in the journal, oldest first: for retention by duration. */
  unpurgedEpochs(studyId: StudyId): Promise<readonly { readonly epoch: bigint; readonly releasedAtMs: number }[]>;
  /** Counts a recovery attempt; returns the new count. */
  noteRecovery(studyId: StudyId, epoch: bigint): Promise<number>;
  /**
   * The epoch was rebuilt: forgets the attempts counted so far, so that clean restarts within one long epoch do not
   * add up to a crash loop. Optional: without it every restart counts.
   */
  noteRecovered?(studyId: StudyId, epoch: bigint): Promise<void>;
  balance(budgetKey: string): Promise<LedgerBalance | null>;
  balances(): Promise<readonly LedgerBalance[]>;
  /** Newest first. */
  ledgerEntries(budgetKey: string, limit: number): Promise<readonly LedgerEntry[]>;

  /**
   * Charges what an older database lacks, stamped with `nowMs`, and ends epochs that had their
   * release. Until then a store that was opened with an older database takes no write but
   * `repairTimes`. Check the clock first. Does nothing where nothing is missing. Optional: as
   * `rollbacks`.
   */
  acceptRollback?(nowMs: number): Promise<void>;
  /** Oldest first. Optional: a store without it cannot be rolled back. */
  rollbacks?(): Promise<readonly Rollback[]>;

  // ---- quarantine
  /**
   * Leaves keys of one study out of every epoch that opens from now on; the open one, and one that closes, keep their
   * rows. One transaction for the whole list. Idempotent: an entry that exists is returned as it is. Optional: a store
   * without it excludes nobody. With `fromEpoch` not before that epoch.
   */
  quarantine?(inputs: readonly NewQuarantine[]): Promise<readonly Quarantine[]>;
  /** The newest `limit`, the newest first. For the operator only. */
  quarantines?(studyId: StudyId, limit: number): Promise<readonly Quarantine[]>;
  /** Of this key; null when it is not left out. */
  quarantineOf?(studyId: StudyId, contributor: ContributorKey): Promise<Quarantine | null>;

  // ---- the clock
  /**
   * Unix time of the newest thing that was done; null when there is nothing, or a clock before 2020 did it. Optional: a
   * store without it does not notice a wrong clock.
   */
  newestTime?(): Promise<number | null>;
  /**
   * Sets time stamps that a wrong clock left behind to `nowMs`: those before 2020, and with `confirmed` those that are
   * still to come. Give `confirmed` only when somebody has said that the clock is right. Budgets that renew are counted
   * again. @returns how many were changed.
   */
  repairTimes?(nowMs: number, confirmed: boolean): Promise<number>;

  // ---- the server's key
  /** Changes of the server's key, oldest first: 192 bytes each. Optional: a store without it has one key for ever. */
  rotations?(): Promise<readonly KeyRotation[]>;
  /** Appends one. From then on its next key is the one in force. @throws InvariantError unless it continues the last one. */
  addRotation?(record: KeyRotation, nowMs: number): Promise<void>;

  // ---- journal
  /**
   * The hot path. Judges and journals in order, one transaction for the whole list. Per batch:
   * 1 unknown study -> rejected study-ended (retryable no).
   * 2 sequence at or below the window: duplicate when it is behind the watermark and settled.
   *   In the window: same digest -> the verdict it got before (accepted -> duplicate), also once the study has
   *   stopped, so that a sender whose ack was lost is told the truth;
   *   another digest -> rejected `mutated`, nothing changes. In the window, and the digest's key purged: a rejection is
   *   repeated, whatever the digest, so that nobody is told that rows count which do not.
   *   Otherwise, state not open -> rejected study-ended | budget-exhausted (retryable no), nothing is written;
   *   more than limits.sequenceWindow above the highest sequence below which all are settled -> `sequence-too-far`.
   * 3 rejectAs -> rejected for good, sequence consumed.
   * 4 epoch: let `coming` be the open epoch or, where none is open, the one after the newest.
   *   Named < coming, but with `late: next` < coming - 1 -> `stale-epoch` (permanent): no epoch takes it any more.
   *   None open, or named > open -> `epoch-not-open` (retryable). Otherwise it is for the open epoch.
   *   A key that is quarantined from that epoch or an earlier one -> `quarantined` (permanent).
   * 5 contribution complete already, or rows would pass rowsMax -> `contribution-full` (permanent).
   * 6 contributor scope and first row of the epoch: the cost is debited in this transaction, or, when it does not fit
   *   -> `contributor-budget-exhausted` (permanent), for this and every later batch of the contributor in the epoch.
   * 7 journal it; complete when `last` or rowsMax is reached.
   */
  admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]>;
  contributorState(studyId: StudyId, contributor: ContributorKey): Promise<ContributorState>;
  /**
   * Takes back what the contributor gave to the open epoch: `journal` hands those rows out no more, and later batches of it
   * for that epoch are `contribution-full`. Settled sequences stay settled. Idempotent: once withdrawn, the answer is
   * `withdrawn` also after the close, until the epoch after the next is open. An epoch that is not open any more: `too-late`.
   */
  withdraw(input: WithdrawalRequest): Promise<WithdrawalResult>;
  /**
   * Entries of an epoch after `position`, in journal order, without those that were withdrawn: at most `limit`, and no
   * further than the first one with which their bodies reach `bytesMost` (by default there is no such bound).
   */
  journal(
    studyId: StudyId, epoch: bigint, afterPosition: bigint, limit: number, bytesMost?: number,
  ): Promise<readonly JournalEntry[]>;
  /** Contributors with at least one accepted batch in the epoch, without those who withdrew. For the operator. */
  contributorCount(studyId: StudyId, epoch: bigint): Promise<number>;
  /** Contributors that the epoch left out because their own budget did not pay for it. For the operator. */
  leftOutCount(studyId: StudyId, epoch: bigint): Promise<number>;

  // ---- releases
  /**
   * In the order of the log, at most `limit` of them, and no further than the first one with which their bodies reach
   * `bytesMost` (by default there is no such bound).
   */
  releases(
    studyId: StudyId, fromIndex: number, limit: number, bytesMost?: number,
  ): Promise<readonly ReleaseRecord[]>;

  /** Latencies and sizes of the store itself, for metrics; no contributor data. */
  health(): Promise<StoreHealth>;
  /** Finishes what was begun, checkpoints, releases the folder. */
  close(): Promise<void>;
}

export interface StoreHealth {
  readonly commits: number;
  readonly batches: number;
  /** Seconds, of recent commits. */
  readonly commitSecondsMedian: number;
  readonly commitSeconds99: number;
  readonly fileBytes: number;
  readonly walBytes: number;
}
