import type { ErrorCode } from '../../src/base/error-codes.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { TextTable } from '../../src/base/text-table.js';
import type { SentRows } from '../../src/questions/columns.js';
import type { KnownKeys } from '../../src/base/remembered-keys.js';
import type { EncryptedSeries } from '../../src/base/running-totals.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

/** For each column of a batch its texts. Columns of other types have none. */
export type TextTables = readonly (TextTable | null | undefined)[];

/**
 * One accepted batch, in journal order. Row-major: rows * columns numbers, finite but for absent
 * cells.
 */
export interface AcceptedBatch extends SentRows {
  readonly texts?: TextTables | undefined;
  /** 32 bytes. */
  readonly contributor: Uint8Array;
  readonly sequence: bigint;
  /** The batch completes the contribution. */
  readonly complete: boolean;
}

/** A question whose release failed while those of others went on. */
export interface QuestionFailure {
  readonly question: string;
  readonly code: ErrorCode;
  readonly message: string;
}

/** The result of a release. */
export interface EpochResult {
  /** One for each question of the study, in their order. */
  readonly outcomes: readonly Outcome[];
  /** For the operator's log. */
  readonly failures: readonly QuestionFailure[];
  /** The series that running totals hand on to the next epoch; empty without running totals. */
  readonly series: readonly EncryptedSeries[];
}

/** The series that the previous release handed on, and the key that opens them: 32 bytes. */
export interface SeriesInput {
  readonly key: Uint8Array;
  readonly series: readonly EncryptedSeries[];
}

/** The facts that a runner needs to hold one epoch. Every runner makes the same plan from them. */
export interface EpochSetup {
  readonly studyId: string;
  readonly epoch: bigint;
  readonly document: StudyDocument;
  readonly target: {
    readonly rho: number;
    readonly delta: number;
    readonly epsilon: number;
    readonly deltaTotal: number;
  };
  readonly assignmentKey: Uint8Array;
  readonly workSeed: Uint8Array;
  /** Some of the contributors. They have summaries, and no noise and no release. */
  readonly isSlice?: true;
}

/** The progress of an open epoch. */
export interface EpochProgress {
  /** For the operator only. */
  readonly contributors: number;
  readonly complete: number;
  readonly groupsReached: number;
  readonly groups: number;
  /**
   * The people who came, including those who took everything back, and the most that an epoch
   * accepts.
   */
  readonly people?: { readonly came: number; readonly most: number };
}

/**
 * Holds the summaries of open epochs and runs releases: on a worker thread in the server, on the
 * calling thread in tests and simulation. The same parts in the same order give the same result,
 * except for noise.
 */
export interface EpochRunner {
  /**
   * Bytes of parts that are passed in and not folded yet. The server refuses batches before this
   * grows without bound.
   */
  readonly backlogBytes: number;
  open(setup: EpochSetup): Promise<void>;
  /** Adds parts in journal order. Callers on the hot path do not wait for it. */
  add(studyId: string, epoch: bigint, parts: readonly AcceptedBatch[]): void;
  progress(studyId: string, epoch: bigint): Promise<EpochProgress>;
  /** The summaries of a slice, for `merge`. Then the slice is dropped. */
  encode(studyId: string, epoch: bigint): Promise<Uint8Array>;
  /** Adds the result of `encode` for a slice of the epoch's contributors. */
  merge(studyId: string, epoch: bigint, encoded: Uint8Array): Promise<void>;
  /**
   * Adds noise, drawn earlier or now. Call it once per epoch, after the charge is durable. Then the
   * epoch is dropped.
   * @param before of a study with running totals. Absent: their series begin, and leave nothing.
   * @param known of a study that remembers keys: those that its releases showed. Default: none.
   */
  release(
    studyId: string, epoch: bigint, before?: SeriesInput, known?: readonly KnownKeys[],
  ): Promise<EpochResult>;
  /** Drops the epoch without a release. */
  drop(studyId: string, epoch: bigint): void;
  close(): Promise<void>;
}
