import type { Signer } from '../../src/signing/index.js';
import type { Clock } from '../base/clock.js';
import type { EpochRunner } from '../epochs/contract.js';
import type { FindEstimator } from '../epochs/engine.js';
import type { HubEvent } from './contract.js';
import type { Logger } from '../base/logger.js';
import type { Store } from '../store/contract.js';
import type { BudgetTurns } from './budget-turns.js';

/** What every study of a server shares. */
export interface HubContext {
  readonly store: Store;
  readonly runner: EpochRunner;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly logger: Logger;
  readonly findEstimator: FindEstimator;
  /** The ticks at which releases show, and their planned time, in milliseconds; 0: when they are ready. */
  readonly releaseTickMs: number;
  /** Who asks for an epoch of a shared budget first. */
  readonly turns: BudgetTurns;
  /** Tells everybody; a listener that throws is logged. */
  readonly emit: (event: HubEvent) => void;
  /** Resolves when every batch that was submitted before is journalled and handed to the runner, or refused. */
  readonly drained: () => Promise<void>;
  /** The store failed or an invariant broke: stops everything, once. */
  readonly fatal: (error: unknown) => void;
  readonly stopped: () => boolean;
}
