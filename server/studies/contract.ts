import type { WireCode } from '../../src/base/error-codes.js';
import type { KeyRotation } from '../../src/signing/index.js';
import type { Spend } from '../../src/wire/messages.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type {
  ContributorState, LedgerBalance, Quarantine, ReleaseRecord, Rollback, StudyStateName, WithdrawalRequest,
  WithdrawalResult,
} from '../store/contract.js';
import type { EpochProgress } from '../epochs/contract.js';
import type { ContributorEvidence, QuarantineOutcome } from './evidence-contract.js';
import type { RefusedStudy } from './refused-study.js';

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
}

/** A batch whose signature was verified over `body` and whose fields were decoded. */
export interface VerifiedBatch {
  readonly studyId: string;
  /** 32 bytes. */
  readonly contributor: Uint8Array;
  readonly sequence: bigint;
  readonly epoch: bigint;
  readonly last: boolean;
  readonly rows: number;
  readonly columns: number;
  /** Row-major doubles; absent when `rejectAs` is set. */
  readonly values?: Float64Array;
  readonly digest: Uint8Array;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
  /** Contents are unusable: settle the sequence with this code. */
  readonly rejectAs?: WireCode;
}

export interface SubmitResult {
  readonly verdict: 'accepted' | 'duplicate' | 'rejected';
  readonly code?: WireCode;
  /** Under contributor scope, with the first row of an epoch: what the contributor has now spent. For its eyes only. */
  readonly ownSpend?: Spend;
  /** With `too-many-new-keys`: the Unix time from which the study takes new keys again. */
  readonly retryAtMs?: number;
}

export type HubEvent =
  | { readonly kind: 'epoch-opened'; readonly studyId: string; readonly epoch: bigint; readonly closesAtMs: number }
  | { readonly kind: 'release'; readonly studyId: string; readonly release: ReleaseRecord }
  /** A newer version of the study runs; this one goes on until its open epoch ends. */
  | { readonly kind: 'study-replaced'; readonly studyId: string }
  | { readonly kind: 'study-stopped'; readonly studyId: string; readonly state: StudyStateName };

/** What the listener, the operator pages and embedding code may do with the studies of a server. */
export interface StudyHub {
  /** The server's Ed25519 public key. */
  readonly serverKey: Uint8Array;
  /** How that key came about: one record for each change of it, oldest first. */
  readonly rotations: readonly KeyRotation[];
  /** Of several versions of one name the newest comes first. */
  studies(): readonly StudyView[];
  study(studyId: string): StudyView | undefined;
  /** Resolves after the batch is durable, or refused. Never rejects on account of a client's bytes. */
  submit(batch: VerifiedBatch): Promise<SubmitResult>;
  /**
   * Takes back what a contributor gave to the open epoch: durable when this resolves, counted in no release. The signature was
   * verified. Never rejects on account of a client's bytes.
   */
  withdraw(request: Omit<WithdrawalRequest, 'nowMs'>): Promise<WithdrawalResult>;
  /** True when the journal queue is past its bound: pause the socket, answer `overloaded`. */
  overloaded(): boolean;
  /** True when no list of keys keeps the key out of the study. Enrolment tokens are checked by who takes the Hello. */
  admits(studyId: string, contributor: Uint8Array): boolean;
  contributorState(studyId: string, contributor: Uint8Array): Promise<ContributorState>;
  /** As `Store.releases`. */
  releases(
    studyId: string, fromIndex: number, limit: number, bytesMost?: number,
  ): Promise<readonly ReleaseRecord[]>;
  /** Signed head of the log as it stands: encoded SignedHead parts. */
  head(studyId: string): Promise<{ readonly body: Uint8Array; readonly signature: Uint8Array }>;
  /** Signs for the handshake: label "ready" over both nonces. */
  signReady(studyId: string, contributor: Uint8Array, serverNonce: Uint8Array, clientNonce: Uint8Array): Uint8Array;
  balances(): Promise<readonly LedgerBalance[]>;
  /** Older databases that starts of this server accepted, the oldest first. Public. */
  rollbacks?(): Promise<readonly Rollback[]>;
  progress(studyId: string): Promise<EpochProgress | null>;
  /** Contributors that the open epoch left out because their own budget did not pay for it. For the operator only. */
  leftOut?(studyId: string): Promise<number>;
  /** How far a contributor's own rows are from published answers. For the operator only; it decides nothing. */
  evidence?(studyId: string, contributor: Uint8Array): Promise<ContributorEvidence>;
  /** Excludes a key from the next epoch on where the study's rule and the key's own rows allow it. For the operator only. */
  quarantine?(studyId: string, contributor: Uint8Array): Promise<QuarantineOutcome>;
  /** The newest exclusions, at most `limit` of them, the newest first. For the operator only. */
  quarantines?(studyId: string, limit: number): Promise<readonly Quarantine[]>;
  /** The open epoch ends as planned, then the study is ended for good. For the operator only. */
  endStudy?(studyId: string): Promise<void>;
  /** Studies that were asked for and do not run. For the operator only. */
  refused?(): readonly RefusedStudy[];
  onEvent(listener: (event: HubEvent) => void): () => void;
}
