import type { WireCode } from '../../src/base/error-codes.js';
import type { EpochProgress } from '../epochs/contract.js';
import type {
  AdmissionResult, EpochRecord, WithdrawalRequest, WithdrawalResult,
} from '../store/contract.js';
import type { NodeHealth } from './node-health.js';
import type { StudyView, SubmitResult, VerifiedBatch } from './contract.js';
import type { StudyDefinition } from './definition.js';
import type { StudyIdentity } from './latest-view.js';
import type { RefusedStudy } from './refused-study.js';

/**
 * `run`: epochs follow one another until the budget or the operator ends the study.
 * `drain`: epochs with acknowledged rows are released, and none is opened. `end`: the same, and
 * then the study ends.
 */
export type StudyMode = 'run' | 'drain' | 'end';

/** One study of a hub. */
export interface HubStudy {
  readonly definition: StudyDefinition;
  readonly identity: StudyIdentity;
  readonly mode: StudyMode;
  readonly view: StudyView;
  /** SHA-512 of the last release body, hex. */
  readonly digest: string;
  /** True if batches and withdrawals can be taken. */
  readonly isRunning: boolean;
  /**
   * The first server of a sealed study has it: why it cannot use an entry for the open epoch.
   * @returns undefined when this server sees no fault in it.
   */
  faultOf?(batch: VerifiedBatch): WireCode | undefined;
  /** Applies a durable verdict. @returns the answer for the sender. */
  settle(batch: VerifiedBatch, result: AdmissionResult): SubmitResult;
  withdraw(request: WithdrawalRequest): Promise<WithdrawalResult>;
  progress(): Promise<EpochProgress | null>;
  /** Opens the next epoch of a study that was held or paused. */
  begin(): Promise<void>;
  /** Lets the open epoch end as planned; none follows until `begin`. Absent: it has no pause. */
  pause?(): void;
  /** Lets the open epoch end as planned; none follows. */
  end(): Promise<void>;
}

/** A study that this process runs alone, or as one of the three servers of a sealed study. */
export interface LocalStudy extends HubStudy {
  /**
   * Continues the work of an earlier process, oldest first. Then opens an epoch, or keeps the one
   * that is open.
   * @throws the error of the start. The caller must then `abandon` the study.
   */
  start(unfinished: readonly EpochRecord[]): Promise<void>;
  /**
   * After a failed start: opens nothing and counts nothing. The rest stays unchanged in the store.
   * @returns when no release is in progress.
   */
  abandon(): Promise<void>;
  /** Resolves when no epoch is being opened or released. */
  settled(): Promise<void>;
  /** Stops the schedule. An open epoch stays open for the next start. */
  close(): Promise<void>;
}

/** The studies of a hub, and how they run. */
export interface StudyList {
  all(): readonly HubStudy[];
  get(studyId: string): HubStudy | undefined;
  /**
   * Registers and starts studies together, after continuing the work of an earlier process.
   * @returns the refused studies.
   */
  startAll(
    definitions: readonly StudyDefinition[], strict: boolean,
  ): Promise<readonly RefusedStudy[]>;
  /** Adds a study. Running versions of the same name end when their open epoch does. */
  add(definition: StudyDefinition): Promise<void>;
  /** On a shared store: reads the present state of the studies. */
  refresh?(): Promise<void>;
  /** On a shared store. */
  health?(): NodeHealth;
  settled(): Promise<void>;
  close(): Promise<void>;
}
