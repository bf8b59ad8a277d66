import type { Amount, PureAmount } from '../../src/privacy/accounting/amount.js';
import type { Balance, Charge } from '../../src/privacy/accounting/budget.js';
import type { BudgetRule } from '../../src/privacy/accounting/cost.js';
import type { KeyRotation } from '../../src/signing/index.js';
import type { WireCode } from '../../src/base/error-codes.js';
import type { EncryptedSeries } from '../../src/base/running-totals.js';
import type { StoreHealth, Waits } from './health.js';
import type { NewQuarantine, Quarantine, Rollback } from './records.js';

/** Lower-case hex of 32 bytes. */
export type StudyId = string;
/** The contributor's public key: lower-case hex of 32 bytes. */
export type ContributorKey = string;

/** `exhausted`: the budget pays for no further epoch. `ended`: the operator ended the study. */
export type StudyStateName = 'open' | 'exhausted' | 'ended';

/**
 * open -> closing -> charged -> released. From `open` or `closing`: -> lapsed (no noise was drawn;
 * the reservation is given back). When a crash leaves an epoch `charged` without a release, the
 * stored release is `refused: interrupted`.
 */
export type EpochState = 'open' | 'closing' | 'charged' | 'released' | 'lapsed';

/** The caps of a budget and how releases are charged to it. */
export interface BudgetSpec {
  /** `study:<name>` or `population:<name>`: a new version of a study keeps the same budget. */
  readonly key: string;
  readonly scope: 'study' | 'contributor' | 'population';
  readonly rule: BudgetRule;
  /**
   * Under zcdp: rho and delta caps. Under pure: rhoCap holds the epsilon cap, delta 0. `epsilon` is
   * the cap of the pure sum under every rule.
   */
  readonly rhoCap: Amount;
  readonly deltaCap: Amount;
  /** The statement that the caps came from. */
  readonly epsilon: number;
  readonly delta: number;
  /**
   * Set for a budget that renews: a charge counts for this many milliseconds. Fixed at creation.
   * Absent: a charge counts without end.
   */
  readonly windowMs?: number;
}

/** A study to create in the store, with its budget. */
export interface StudyRegistration {
  readonly studyId: StudyId;
  readonly name: string;
  /** Canonical JSON of the StudyDocument. */
  readonly document: string;
  readonly budget: BudgetSpec;
  readonly nowMs: number;
}

/** A study as the store has it. */
export interface StudyRecord {
  readonly studyId: StudyId;
  readonly name: string;
  readonly document: string;
  readonly budgetKey: string;
  readonly state: StudyStateName;
  readonly releaseCount: number;
  /** SHA-512 of the last release body, hex; 128 zeros when none. */
  readonly lastDigest: string;
  /**
   * Highest epoch ever opened, even if it lapsed; 0n when none. The next epoch has a larger number.
   */
  readonly lastEpoch: bigint;
}

/** The limits of a budget, its spending, and the reservations of open epochs. Public. */
export interface LedgerBalance extends Balance {
  readonly key: string;
  readonly scope: BudgetSpec['scope'];
  readonly rule: BudgetRule;
  readonly epsilon: number;
  readonly delta: number;
  /** Set for a budget that renews: `spent` is then the charges within the last `windowMs`. */
  readonly windowMs?: number;
}

/** An epoch to open. */
export interface OpenEpoch {
  readonly studyId: StudyId;
  readonly epoch: bigint;
  readonly opensAtMs: number;
  /** 0 when the epoch closes on a count. */
  readonly closesAtMs: number;
  /** The plan's cost under the budget's rule, reserved when the epoch opens. */
  readonly rho: Amount;
  readonly delta: Amount;
  /** Default: `none`. */
  readonly pure?: PureAmount;
  /**
   * Secret: the HMAC key that assigns contributors to groups. It is kept so that replay rebuilds
   * the same groups. Empty once purged.
   */
  readonly assignmentKey: Uint8Array;
  /** Seed of the epoch's work randomness. Not secret-critical. Empty once purged. */
  readonly workSeed: Uint8Array;
  /** Contribution rule, enforced in `admit`. */
  readonly rowsMax: number;
  readonly late: 'next' | 'drop';
}

/** The outcome of opening an epoch, for which the budget pays. */
export type OpenEpochResult =
  | { readonly kind: 'opened'; readonly balance: LedgerBalance }
  /**
   * The budget does not pay for the epoch. Written are only a ledger entry and, unless the budget
   * renews, the study's state `exhausted`. `retryAtMs`: when enough charges will have left the
   * window of a budget that renews.
   */
  | {
    readonly kind: 'declined'; readonly balance: LedgerBalance; readonly rhoAsked: Amount;
    readonly deltaAsked: Amount; readonly retryAtMs?: number;
  };

/** True if the reserved cost of an epoch became spent by this call. */
export interface ChargeResult {
  readonly balance: LedgerBalance;
  /**
   * True when this call moved the epoch from closing to charged. Only its caller may draw the
   * noise of the epoch. False when the epoch was charged before: somebody may have drawn already.
   */
  readonly isMine: boolean;
}

/** An epoch as the store has it. */
export interface EpochRecord extends Omit<OpenEpoch, 'late' | 'pure'> {
  readonly pure: PureAmount;
  readonly state: EpochState;
  /** The number of times that recovery began to rebuild this epoch. Guards against a crash loop. */
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
  /** SHA-512 of body, 64 bytes, or what the sender states as that. */
  readonly digest: Uint8Array;
  readonly body: Uint8Array;
  /** 64 bytes; empty if the batch came on an encrypted channel. */
  readonly signature: Uint8Array;
  /**
   * Set when the contents were already found unusable (NaN, wrong dimension). The sequence is then
   * consumed, and nothing is journalled.
   */
  readonly rejectAs?: WireCode;
  /** The most people of an epoch: a fact of the study, and the same in all its requests. */
  readonly peopleMax: number;
}

/** The verdict on one batch. */
export interface AdmissionResult {
  /**
   * accepted: journalled now. duplicate: accepted before, with the same digest. rejected: `code`
   * says why.
   */
  readonly verdict: 'accepted' | 'duplicate' | 'rejected';
  /** The epoch that the batch counts in; 0 when rejected. */
  readonly epoch: bigint;
  readonly code?: WireCode;
  /** Position in the journal. Positions increase; replay follows them. 0 unless accepted. */
  readonly position: bigint;
  /** This batch completes the contributor's contribution to the epoch. */
  readonly complete: boolean;
  /**
   * Under contributor scope, with the first row of an epoch: the contributor's spending afterwards.
   * Also set when the cost did not fit.
   */
  readonly spend?: Charge;
  /** With `too-many-new-keys`: the Unix time from which the study accepts new keys again. */
  readonly retryAtMs?: number;
  /** With `overloaded`: the epoch has all the people that it accepts. */
  readonly isFull?: true;
  /** With `overloaded`: the disk of the store is full. */
  readonly lacksDisk?: true;
}

/** A contributor takes back its rows from an epoch. The signature was verified before. */
export interface WithdrawalRequest {
  readonly studyId: StudyId;
  readonly contributor: ContributorKey;
  readonly epoch: bigint;
  /** 64 bytes, label "withdraw": kept, so that the record can be verified by others. */
  readonly signature: Uint8Array;
  readonly nowMs: number;
}

/** True if rows were taken back. */
export type WithdrawalResult =
  /**
   * Its rows of the epoch do not count. `undone`: rows that counted until now were removed.
   * `complete`: their contribution was complete. Both are false when the rows had been withdrawn
   * before, or when there were none.
   */
  | { readonly kind: 'withdrawn'; readonly undone: boolean; readonly complete: boolean }
  | { readonly kind: 'refused'; readonly code: Extract<WireCode, 'too-late' | 'epoch-not-open'> };

/** The store's record of one contributor to one study. For that contributor and the operator. */
export interface ContributorState {
  /** The first sequence never seen. */
  readonly nextSequence: bigint;
  /** Unsettled sequences below nextSequence. */
  readonly holes: readonly bigint[];
  /** A batch of this contributor was settled for the open epoch, whether or not it still counts. */
  readonly inOpenEpoch: boolean;
  /** Under contributor scope: this contributor's spending. */
  readonly spend: Charge | null;
}

/** An accepted batch as the journal has it. `body` holds rows, so it must stay in the server. */
export interface JournalEntry {
  readonly position: bigint;
  readonly contributor: ContributorKey;
  readonly sequence: bigint;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  readonly complete: boolean;
}

/** One signed release of a study's log. */
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

/** A release to append to the log, with the time. */
export interface StoreRelease extends ReleaseRecord {
  readonly nowMs: number;
  /**
   * The series that running totals hand on to the next release, sealed. They replace those of the
   * previous release in the same transaction. Default: none, so the series end.
   */
  readonly series?: readonly EncryptedSeries[];
}

/** One change of a budget. */
export interface LedgerEntry {
  readonly budgetKey: string;
  readonly studyId: StudyId;
  readonly epoch: bigint;
  /**
   * `rollback`: charged when a start accepted an older database, in place of charges that it had
   * lost.
   */
  readonly kind: 'reserved' | 'charged' | 'lapsed' | 'declined' | 'rollback';
  readonly rho: Amount;
  readonly delta: Amount;
  readonly pure: PureAmount;
  /** Canonical JSON of the plan's mechanism events; set only for `charged`. */
  readonly events: string;
  readonly atMs: number;
}

/**
 * The durable record of a server: journal, replay windows, epochs, ledger and releases, in one
 * transaction domain. Every method is one whole named transaction. Its promise resolves after the
 * transaction is durable (fsync), and rejects with StorageError when it is not. There is one
 * writer. test/support/store-suite.ts tests this contract on every implementation.
 */
export interface Store extends Waits {
  // ---- studies
  /**
   * Creates the study and its budget, or returns the existing ones. An existing budget keeps its
   * rule and scope, and can only shrink.
   * @throws KeelsonError('invalid-study') when the budget would grow or change its rule or scope.
   */
  registerStudy(input: StudyRegistration): Promise<StudyRecord>;
  study(studyId: StudyId): Promise<StudyRecord | null>;
  studies(): Promise<readonly StudyRecord[]>;
  setStudyState(studyId: StudyId, state: StudyStateName): Promise<void>;

  // ---- epochs and ledger
  /**
   * Reserves the cost and opens the epoch, or declines it and marks the study exhausted. Idempotent
   * for an open epoch.
   */
  openEpoch(input: OpenEpoch): Promise<OpenEpochResult>;
  /** open -> closing: `admit` accepts no later batch into this epoch. Idempotent. */
  beginClose(studyId: StudyId, epoch: bigint): Promise<void>;
  /**
   * `beginClose` of one epoch and `openEpoch` of the next, in one transaction. No other call sees
   * the study between the two, so contributors always find the next epoch open when the old one
   * closes. The reservation of the old one is still there, so the next one must fit beside it.
   */
  turnEpoch(studyId: StudyId, closing: bigint, next: OpenEpoch): Promise<OpenEpochResult>;
  /**
   * closing -> charged: the reserved cost becomes spent. Idempotent.
   * @param atMs Unix time from which the charge counts, where the budget renews: not before the
   *   scheduled close of the epoch. A public number: the ledger's balances show it.
   * @returns the balance at that time, and whether this call made the charge.
   */
  chargeEpoch(
    studyId: StudyId, epoch: bigint, events: string, atMs: number,
  ): Promise<ChargeResult>;
  /** open or closing -> lapsed: the reservation is given back. Only when no noise was taken. */
  lapseEpoch(studyId: StudyId, epoch: bigint, nowMs: number): Promise<void>;
  /**
   * charged -> released; appends to the study's log. The index must be the next one. Idempotent for
   * the same bytes.
   */
  storeRelease(input: StoreRelease): Promise<void>;
  /**
   * Deletes the epoch's journal rows (secure_delete), and the replay rows that no batch can refer
   * to any more. Truncates the WAL.
   */
  purgeEpoch(studyId: StudyId, epoch: bigint): Promise<void>;
  epoch(studyId: StudyId, epoch: bigint): Promise<EpochRecord | null>;
  /** Epochs that are neither released nor lapsed, oldest first. */
  unfinishedEpochs(): Promise<readonly EpochRecord[]>;
  /**
   * Released epochs whose rows are still in the journal, oldest first: for retention by duration.
   */
  unpurgedEpochs(studyId: StudyId): Promise<
    readonly { readonly epoch: bigint; readonly releasedAtMs: number }[]
  >;
  /** Counts a recovery attempt; returns the new count. */
  noteRecovery(studyId: StudyId, epoch: bigint): Promise<number>;
  /**
   * Forgets the recovery attempts counted so far, because the epoch was rebuilt. Otherwise clean
   * restarts within one long epoch would add up to a crash loop. Optional: without it every restart
   * counts.
   */
  noteRecovered?(studyId: StudyId, epoch: bigint): Promise<void>;
  balance(budgetKey: string): Promise<LedgerBalance | null>;
  balances(): Promise<readonly LedgerBalance[]>;
  /** Newest first. */
  ledgerEntries(budgetKey: string, limit: number): Promise<readonly LedgerEntry[]>;

  /**
   * Makes the charges that an older database lacks, with the time stamp `nowMs`, and ends epochs
   * that had their release. Until then a store that was opened with an older database refuses every
   * write except `repairTimes`. Check the clock first. Does nothing when nothing is missing.
   * Optional, like `rollbacks`.
   */
  acceptRollback?(nowMs: number): Promise<void>;
  /** Oldest first. Optional: a store without it cannot be rolled back. */
  rollbacks?(): Promise<readonly Rollback[]>;

  // ---- quarantine
  /**
   * Leaves keys of one study out of every epoch that opens from now on. Open and closing epochs
   * keep the rows of these keys. The whole list is one transaction. Idempotent: an existing entry
   * is returned unchanged. With `fromEpoch`, the keys are left out from that epoch at the earliest.
   * Optional: a store without it excludes nobody.
   */
  quarantine?(inputs: readonly NewQuarantine[]): Promise<readonly Quarantine[]>;
  /** The newest `limit` entries, newest first. For the operator only. */
  quarantines?(studyId: StudyId, limit: number): Promise<readonly Quarantine[]>;
  /** The entry of this key; null when the key is not quarantined. */
  quarantineOf?(studyId: StudyId, contributor: ContributorKey): Promise<Quarantine | null>;

  // ---- the clock
  /**
   * Unix time of the newest recorded action; null when there is none, or when it is before 2020.
   * Optional: a store without it does not notice a wrong clock.
   */
  newestTime?(): Promise<number | null>;
  /**
   * Sets the time stamps that a wrong clock left to `nowMs`: those before 2020 and, with
   * `confirmed`, those in the future. Pass `confirmed` only when somebody has confirmed the clock.
   * The totals of budgets that renew are computed again. @returns the number of changed time
   * stamps.
   */
  repairTimes?(nowMs: number, confirmed: boolean): Promise<number>;

  // ---- the server's key
  /**
   * Changes of the server's key, oldest first, 192 bytes each. Optional: a store without it never
   * changes its key.
   */
  rotations?(): Promise<readonly KeyRotation[]>;
  /**
   * Appends a change: its next key is in force from then on.
   * @throws InvariantError unless it continues the last one.
   */
  addRotation?(record: KeyRotation, nowMs: number): Promise<void>;

  // ---- journal
  /**
   * The hot path. Judges and journals in order, in one transaction for the whole list. Per batch:
   * 1 The study is unknown -> rejected `study-ended` (not retryable).
   * 2 The sequence is at or below the window. Behind the watermark and settled -> duplicate.
   *   In the window, same digest -> the verdict it got before (accepted -> duplicate), even when
   *   the study has stopped, so that a sender whose ack was lost gets the true answer.
   *   In the window, another digest -> rejected `mutated`, nothing changes.
   *   In the window, and the key of the digest is purged: a rejection is repeated for every digest,
   *   so that no sender believes that rejected rows count.
   *   Not settled, and the state is not open -> rejected `study-ended` or `budget-exhausted` (not
   *   retryable), nothing is written.
   *   More than limits.sequenceWindow above the highest sequence below which all are settled ->
   *   `sequence-too-far`.
   * 3 rejectAs is set -> rejected for good, sequence consumed.
   * 4 Epoch: `coming` is the open epoch or, if none is open, the one after the newest.
   *   Named < coming (with `late: next`: < coming - 1) -> `stale-epoch` (permanent): no epoch will
   *   take it. None open, or named > open -> `epoch-not-open` (retryable). Otherwise it is for the
   *   open epoch. The key is quarantined from that epoch or an earlier one -> `quarantined`
   *   (permanent).
   * 5 The contribution is complete, its rows would pass rowsMax, or the contributor withdrew from
   *   the epoch that is named -> `contribution-full` (permanent).
   * 6 It would be the contributor's first in the epoch, which has all the people that it takes ->
   *   `overloaded` with `isFull` (retryable), and nothing is written (rules/people.ts).
   * 7 Contributor scope and first row of the epoch: the cost is debited in this transaction. If it
   *   does not fit, or the study has running totals and the contributor was in one of the
   *   separation - 1 epochs before -> `contributor-budget-exhausted` (permanent), for this and
   *   every later batch of the contributor in the epoch.
   * 8 Journal it. The contribution is complete when `last` is set or rowsMax is reached.
   */
  admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]>;
  contributorState(studyId: StudyId, contributor: ContributorKey): Promise<ContributorState>;
  /**
   * Takes back the contributor's rows from the open epoch. `journal` no longer returns those rows,
   * and later batches of the contributor for that epoch are `contribution-full`, late ones too.
   * Settled sequences stay settled. Idempotent: a repeated call answers `withdrawn`, even after the
   * close, until the epoch after the next one opens. For an epoch that is no longer open:
   * `too-late`.
   */
  withdraw(input: WithdrawalRequest): Promise<WithdrawalResult>;
  /**
   * Entries of an epoch after `position`, in journal order, without withdrawn ones. Returns at most
   * `limit` entries, and stops after the entry with which the bodies reach `bytesMost` (default: no
   * such bound).
   */
  journal(
    studyId: StudyId, epoch: bigint, afterPosition: bigint, limit: number, bytesMost?: number,
  ): Promise<readonly JournalEntry[]>;
  /** Contributors with an accepted batch in the epoch, unless withdrawn. For the operator. */
  contributorCount(studyId: StudyId, epoch: bigint): Promise<number>;
  /** Contributors left out of the epoch because their own budget did not pay. For the operator. */
  leftOutCount(studyId: StudyId, epoch: bigint): Promise<number>;
  /** Contributors with an accepted batch in the epoch, also withdrawn. For the operator. */
  peopleCount(studyId: StudyId, epoch: bigint): Promise<number>;

  // ---- releases
  /**
   * Releases in the order of the log. Returns at most `limit`, and stops after the one with which
   * the bodies reach `bytesMost` (default: no such bound).
   */
  releases(
    studyId: StudyId, fromIndex: number, limit: number, bytesMost?: number,
  ): Promise<readonly ReleaseRecord[]>;

  /**
   * The series that the newest stored release handed on. Optional: without it, series of running
   * totals are one release long.
   */
  series?(studyId: StudyId): Promise<readonly EncryptedSeries[]>;

  /** Latencies and sizes of the store, for metrics; no contributor data. */
  health(): Promise<StoreHealth>;
  /** Finishes the calls in progress, checkpoints, and releases the folder. */
  close(): Promise<void>;
}
