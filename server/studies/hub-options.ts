import type { KeelsonError } from '../../src/base/errors.js';
import type { KeyRotation, Signer } from '../../src/signing/index.js';
import type { Clock } from '../base/clock.js';
import type { EpochRunner } from '../epochs/contract.js';
import type { FindEstimator } from '../epochs/engine.js';
import type { StudyHub } from './contract.js';
import type { Logger } from '../base/logger.js';
import type { Store } from '../store/contract.js';
import type { StudyDefinition } from './definition.js';
import type { RefusedStudy } from './refused-study.js';

export interface StudyHubOptions {
  readonly store: Store;
  /** @param onDeath for the runner to call when its epochs are lost. */
  readonly runnerFactory: (onDeath: (error: KeelsonError) => void) => EpochRunner;
  readonly clock: Clock;
  /** The server's key. */
  readonly signer: Signer;
  /** How the key came about, oldest first, when it is not the server's first. Default: none. */
  readonly rotations?: readonly KeyRotation[];
  /** Studies with the same name are versions; give the current one only. */
  readonly studies: readonly StudyDefinition[];
  /** Studies that could not be defined: shown to the operator beside those that the store refuses. Default: none. */
  readonly refused?: readonly RefusedStudy[];
  /**
   * A study that the store refuses ends the start. Default: it is logged and left out, and the others run; only
   * when all are refused does the start fail.
   */
  readonly strict?: boolean;
  readonly logger: Logger;
  /**
   * The store failed, or an invariant broke. Nothing is acknowledged any more; stop the process and start again:
   * recovery decides what holds. Called once.
   */
  readonly onFatal: (error: unknown) => void;
  /**
   * Releases are stored and published at whole multiples of this many milliseconds of Unix time, a
   * public grid, and this is also their planned time: see `Deadline`. From 0 to 60,000. Default 0:
   * releases show when they are ready, so their times tell what the work took.
   */
  readonly releaseTickMs?: number;
  /**
   * True: no study opens an epoch before `startStudy`. Studies are listed and contributors connect meanwhile, and nothing
   * is charged. An epoch that an earlier process left open still closes and is released. Default false.
   */
  readonly held?: boolean;
  /** Default: the registry. */
  readonly findEstimator?: FindEstimator;
}

/** A hub with the controls of who runs it. */
export interface RunningHub extends StudyHub {
  /**
   * Runs one more study; a running one of the same name is ended when its open epoch ends.
   * @throws KeelsonError('invalid-study') when it would change its budget in a way that is not allowed.
   */
  addStudy(definition: StudyDefinition): Promise<void>;
  /** Studies that were asked for and do not run. */
  refused(): readonly RefusedStudy[];
  /** After a reload: what `refused` says from now on. */
  noteRefused(refused: readonly RefusedStudy[]): void;
  /**
   * Opens the first epoch of a study that was held; does nothing for a study that runs. The moment is public: under
   * `participation: secret` it must not depend on who is connected. @throws WireError('unknown-study').
   */
  startStudy(studyId: string): Promise<void>;
  /** The open epoch ends as planned, then the study is ended for good. @throws WireError('unknown-study'). */
  endStudy(studyId: string): Promise<void>;
  /** Resolves when no epoch is being opened or released. */
  settled(): Promise<void>;
  /**
   * Refuses batches from now on, waits for those that were submitted and for releases in progress. Epochs that are
   * open stay open in the store. Closes the runner, not the store.
   */
  close(): Promise<void>;
}
