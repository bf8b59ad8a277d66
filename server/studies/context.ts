import type { Signer } from '../../src/signing/index.js';
import type { HeldStudies } from '../base/operator-records.js';
import type { Clock } from '../base/clock.js';
import type { EpochRunner } from '../epochs/contract.js';
import type { FindEstimator } from '../epochs/engine.js';
import type { HubEvent } from './contract.js';
import type { Logger } from '../base/logger.js';
import type { Tracing } from '../base/tracing.js';
import type { Store } from '../store/contract.js';
import type { EpochSlices, SharedStore } from '../store/shared.js';
import type { BudgetTurns } from './budget-turns.js';

/** The means by which nodes summarise one epoch together. */
export interface Slicing {
  readonly slices: EpochSlices;
  readonly onNews: SharedStore['onNews'];
  /** The approximate number of contributors in a slice. */
  readonly people: number;
  /** True if this node also summarises slices of studies that others lead. */
  readonly forOthers: boolean;
}

/** State that every study of a server shares. */
export interface HubContext {
  readonly store: Store;
  readonly runner: EpochRunner;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly logger: Logger;
  readonly tracing: Tracing;
  readonly findEstimator: FindEstimator;
  /**
   * Period of the ticks at which releases show, and their planned duration, in milliseconds. 0:
   * releases show when ready.
   */
  readonly releaseTickMs: number;
  /** Memory that the process may use, in bytes: see reserveKeyMemory. */
  readonly memoryBytes: number;
  /** The key that seals the series of running totals in the store: 32 bytes. */
  readonly seriesKey: () => Uint8Array;
  /**
   * True if epochs are summarised from the journal when they are released, and not while rows
   * arrive: on a shared store any node may get the rows, and any may have to release them.
   */
  readonly readsJournal: boolean;
  /**
   * The way in which several nodes summarise one epoch. Absent: the leader of a study reads all of
   * it.
   */
  readonly slicing?: Slicing;
  /** True if the operator has paused a study. */
  readonly isPaused: (studyId: string) => boolean;
  /** Sealed studies that wait for the operator. */
  readonly heldStudies: HeldStudies;
  /** Decides which study asks first for an epoch of a shared budget. */
  readonly turns: BudgetTurns;
  /** Calls every listener. A listener that throws is logged. */
  readonly emit: (event: HubEvent) => void;
  /**
   * Resolves when every batch submitted before is refused, or journalled and passed to the runner.
   */
  readonly drained: () => Promise<void>;
  /** Stops everything, once. For a failed store or a broken invariant. */
  readonly fatal: (error: unknown) => void;
  readonly stopped: () => boolean;
}
