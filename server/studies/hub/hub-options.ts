import type { KeelsonError } from '../../../src/base/errors.js';
import type { KeyRotation, Signer } from '../../../src/signing/index.js';
import type { Clock } from '../../base/clock.js';
import type { EpochRunner } from '../../epochs/contract.js';
import type { FindEstimator } from '../../epochs/engine.js';
import type { HeldStudies, PausedStudies } from '../../base/operator-records.js';
import type { OpenSealed } from '../live/open-sealed.js';
import type { StudyHub } from '../contract.js';
import type { Logger } from '../../base/logger.js';
import type { Tracing } from '../../base/tracing.js';
import type { StudyDefinition } from '../definition.js';
import type { RefusedStudy } from '../refused-study.js';
import type { SliceOptions } from '../release/slices.js';

export interface StudyHubOptions extends SliceOptions {
  /** @param onDeath the runner calls it when it has lost its epochs. */
  readonly runnerFactory: (onDeath: (error: KeelsonError) => void) => EpochRunner;
  readonly clock: Clock;
  /** The server's key. */
  readonly signer: Signer;
  /**
   * The changes that led to the key, oldest first, if it is not the server's first. Default: none.
   */
  readonly rotations?: readonly KeyRotation[];
  /** Studies with the same name are versions of one study. Pass only the current version. */
  readonly studies: readonly StudyDefinition[];
  /**
   * Studies that could not be defined. The operator sees them beside those that the store refuses.
   * Default: none.
   */
  readonly refused?: readonly RefusedStudy[];
  /**
   * True: one study that the store refuses makes the start fail. Default: the refused study is
   * logged and left out, and the others run; the start fails only when all are refused.
   */
  readonly strict?: boolean;
  readonly logger: Logger;
  /** Default: nothing is traced. */
  readonly tracing?: Tracing;
  /**
   * Called once when the store failed or an invariant broke. No batch is acknowledged any more.
   * Stop the process and start again: recovery determines what is durable.
   */
  readonly onFatal: (error: unknown) => void;
  /**
   * Releases are stored and published at whole multiples of this many milliseconds of Unix time.
   * This public grid step is also their planned duration: see `Deadline`. From 0 to 60,000. Default
   * 0: releases show when they are ready, so their times reveal how long the work took.
   */
  readonly releaseTickMs?: number;
  /**
   * True: no study opens an epoch before `startStudy`. Until then studies are listed, contributors
   * can connect, and nothing is charged. An epoch that an earlier process left open still closes
   * and is released. Default false.
   */
  readonly held?: boolean;
  /** The studies that the operator has paused. Default: in memory, so a restart resumes all. */
  readonly paused?: PausedStudies;
  /** Sealed studies that wait for the operator. Default: in memory, so a restart resumes all. */
  readonly heldStudies?: HeldStudies;
  /**
   * Returns the key that seals exact values of running totals in the store: 32 bytes, the same
   * after a restart. Called at the first release that needs it. Default: a fresh key, so that the
   * series begin again after a restart.
   */
  readonly seriesKey?: () => Uint8Array;
  /** Memory that the process may use, in bytes. Default: see machineBytes. */
  readonly memoryBytes?: number;
  /** Default: the registry. */
  readonly findEstimator?: FindEstimator;
  /** Default: sealed studies are refused. */
  readonly openSealed?: OpenSealed;
}

/** A hub with the controls for its owner. */
export interface RunningHub extends StudyHub {
  /**
   * Runs one more study. A running study of the same name ends when its open epoch ends.
   * @throws KeelsonError('invalid-study') when it would change its budget in a way that is not
   *   allowed.
   */
  addStudy(definition: StudyDefinition): Promise<void>;
  /** Studies that are configured and do not run. */
  refused(): readonly RefusedStudy[];
  /** Replaces the list that `refused` returns, after a reload. */
  noteRefused(refused: readonly RefusedStudy[]): void;
  /**
   * Opens the first epoch of a study that was held. Does nothing for a study that runs or is
   * paused. The moment is public: under `participation: secret` it must not depend on who is
   * connected. @throws WireError('unknown-study').
   */
  startStudy(studyId: string): Promise<void>;
  /**
   * Lets the open epoch end as planned, then ends the study for good. @throws
   * WireError('unknown-study').
   */
  endStudy(studyId: string): Promise<void>;
  /** See `StudyHub`. */
  pauseStudy(studyId: string): Promise<void>;
  resumeStudy(studyId: string, epoch?: bigint): Promise<void>;
  isPaused(studyId: string): boolean;
  /** Resolves when no epoch is being opened or released. */
  settled(): Promise<void>;
  /**
   * Refuses batches from now on, and waits for submitted batches and for releases in progress. Open
   * epochs stay open in the store. Closes the runner, not the store.
   */
  close(): Promise<void>;
}
