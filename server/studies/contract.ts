import type { WireCode } from '../../src/base/error-codes.js';
import type { KeyShare } from '../../src/base/key-share.js';
import type { Charge } from '../../src/privacy/accounting/budget.js';
import type { KeyRotation } from '../../src/signing/index.js';
import type { Spend } from '../../src/wire/messages.js';
import type { TextTable } from '../../src/base/text-table.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type {
  ContributorState, LedgerBalance, ReleaseRecord, StudyStateName, WithdrawalRequest,
  WithdrawalResult,
} from '../store/contract.js';
import type { Quarantine, Rollback } from '../store/records.js';
import type { EpochProgress } from '../epochs/contract.js';
import type { ContributorEvidence, QuarantineOutcome } from './evidence-contract.js';
import type { RefusedStudy } from './refused-study.js';
import type { NodeHealth } from './node-health.js';

/** One study as sessions, HTTP and metrics see it. */
export interface StudyView {
  readonly studyId: string;
  readonly name: string;
  readonly document: StudyDocument;
  /** Canonical JSON bytes of the document and the server's signature over them. */
  readonly facts: Uint8Array;
  readonly factsSignature: Uint8Array;
  readonly state: StudyStateName;
  /** The open epoch, 0n when none. */
  readonly epoch: bigint;
  /** Unix ms; 0 when the epoch closes on a count or none is open. */
  readonly closesAtMs: number;
  readonly releaseCount: number;
  /**
   * For a sealed study with an open epoch: 96 bytes for each server, its box key for the epoch and
   * its signature.
   */
  readonly boxKeys?: readonly Uint8Array[];
  /** The key of the budget that pays, and the charge for one epoch. */
  readonly budget: string;
  readonly charge: Charge;
}

/**
 * A batch whose signature was verified over `body` and whose fields were decoded. The memory of
 * body, values and texts may be used again once the batch is settled: copy what is needed longer.
 */
export interface VerifiedBatch {
  readonly studyId: string;
  /** 32 bytes. */
  readonly contributor: Uint8Array;
  readonly sequence: bigint;
  readonly epoch: bigint;
  readonly last: boolean;
  readonly rows: number;
  readonly columns: number;
  /** Row-major doubles, as `batchCells` makes them; absent when `rejectAs` is set. */
  readonly values?: Float64Array;
  /**
   * For a study with typed columns: the texts of each text column, and null for other columns. They
   * view `body`.
   */
  readonly texts?: readonly (TextTable | null)[];
  readonly digest: Uint8Array;
  readonly body: Uint8Array;
  /** Empty if the batch came on an encrypted channel. */
  readonly signature: Uint8Array;
  /** Set when the contents are unusable: the sequence is settled with this code. */
  readonly rejectAs?: WireCode;
  /** With `rejectAs`: column, row and rule where one cell is at fault. Never a value. */
  readonly fault?: string;
}

/** The verdict on one batch, after it is durable. */
export interface SubmitResult {
  readonly verdict: 'accepted' | 'duplicate' | 'rejected';
  readonly code?: WireCode;
  /**
   * Under contributor scope, with the first row of an epoch: the contributor's spending. Sent to
   * that contributor only.
   */
  readonly ownSpend?: Spend;
  /** With `too-many-new-keys`: the Unix time from which the study accepts new keys again. */
  readonly retryAtMs?: number;
  /** With `overloaded`: the open epoch has all the people that it accepts. */
  readonly isFull?: true;
  /** With `overloaded`: the disk of the store is full. */
  readonly lacksDisk?: true;
}

/** An event in the studies of a hub. */
export type HubEvent =
  /** Epoch 0n: the epoch closed, and none is open: the study is sealed, held or paused. */
  | {
    readonly kind: 'epoch-opened'; readonly studyId: string; readonly epoch: bigint;
    readonly closesAtMs: number;
  }
  | { readonly kind: 'release'; readonly studyId: string; readonly release: ReleaseRecord }
  /** A newer version of the study runs. This one continues until its open epoch ends. */
  | { readonly kind: 'study-replaced'; readonly studyId: string }
  | { readonly kind: 'study-stopped'; readonly studyId: string; readonly state: StudyStateName };

/** The studies of a server, as the listener, the operator pages and embedding code use them. */
export interface StudyHub {
  /** The server's Ed25519 public key. */
  readonly serverKey: Uint8Array;
  /** The changes that led to that key, one record each, oldest first. */
  readonly rotations: readonly KeyRotation[];
  /** The studies. If several are versions of one name, the newest comes first. */
  studies(): readonly StudyView[];
  study(studyId: string): StudyView | undefined;
  /** Resolves after the batch is durable, or refused. A client's bytes never make it reject. */
  submit(batch: VerifiedBatch): Promise<SubmitResult>;
  /**
   * Takes back a contributor's rows from the open epoch. When it resolves, this is durable, and no
   * release will count them. The signature was verified before. A client's bytes never make it
   * reject.
   */
  withdraw(request: Omit<WithdrawalRequest, 'nowMs'>): Promise<WithdrawalResult>;
  /**
   * True when the journal queue exceeds its bound. The caller then pauses the socket and answers
   * `overloaded`.
   */
  overloaded(): boolean;
  /**
   * False when the study has a list of keys without this one. The listener checks enrolment tokens.
   */
  admits(studyId: string, contributor: Uint8Array): boolean;
  contributorState(studyId: string, contributor: Uint8Array): Promise<ContributorState>;
  /** See `Store.releases`. */
  releases(
    studyId: string, fromIndex: number, limit: number, bytesMost?: number,
  ): Promise<readonly ReleaseRecord[]>;
  /** The signed head of the log at this moment: encoded SignedHead parts. */
  head(studyId: string): Promise<{ readonly body: Uint8Array; readonly signature: Uint8Array }>;
  /** Signs both nonces for the handshake, with the label "ready". */
  signReady(
    studyId: string, contributor: Uint8Array, serverNonce: Uint8Array, clientNonce: Uint8Array,
  ): Uint8Array;
  /** Signs a key share of this process, with the label "share". */
  signShare(share: Omit<KeyShare, 'signature'>): Uint8Array;
  balances(): Promise<readonly LedgerBalance[]>;
  /** Older databases that starts of this server accepted, oldest first. Public. */
  rollbacks?(): Promise<readonly Rollback[]>;
  progress(studyId: string): Promise<EpochProgress | null>;
  /**
   * Number of contributors left out of the open epoch because their own budget did not pay. For the
   * operator only.
   */
  leftOut?(studyId: string): Promise<number>;
  /**
   * The distance of a contributor's own rows from published answers. For the operator only; nothing
   * is decided by it.
   */
  evidence?(studyId: string, contributor: Uint8Array): Promise<ContributorEvidence>;
  /**
   * Excludes a key from the next epoch on, if the study's rule and the key's own rows allow it. For
   * the operator only.
   */
  quarantine?(studyId: string, contributor: Uint8Array): Promise<QuarantineOutcome>;
  /** The newest exclusions, at most `limit`, newest first. For the operator only. */
  quarantines?(studyId: string, limit: number): Promise<readonly Quarantine[]>;
  /** Lets the open epoch end as planned, then ends the study for good. For the operator only. */
  endStudy?(studyId: string): Promise<void>;
  /**
   * Lets the open epoch end as planned, then opens none until `resumeStudy`, also across restarts.
   * For the operator only. @throws KeelsonError('unsupported') for a sealed study, or on a store
   * that several servers share.
   */
  pauseStudy?(studyId: string): Promise<void>;
  /**
   * Opens the next epoch of a paused study, or lets a held one go on. Does nothing for others. For
   * the operator only.
   * @param epoch - of a held study: the one in which it was held. So nobody resumes a study whose
   *   newest failure is unknown to them. @throws KeelsonError('unsupported') for another one.
   */
  resumeStudy?(studyId: string, epoch?: bigint): Promise<void>;
  /** True if the operator has paused the study. */
  isPaused?(studyId: string): boolean;
  /** Studies that are configured and do not run. For the operator only. */
  refused?(): readonly RefusedStudy[];
  /** This node's report of itself, on a store that several servers share; else null. */
  node?(): NodeHealth | null;
  /** True if the disk of the store is full, so that batches are refused and releases wait. */
  storeFull?(): boolean;
  onEvent(listener: (event: HubEvent) => void): () => void;
}
