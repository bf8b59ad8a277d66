import { InvariantError } from '../../src/base/errors.js';
import type { KnownKeys } from '../../src/base/remembered-keys.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import type { Compute } from '../../src/estimators/contract/estimator.js';
import { findEstimator as findRegistered } from '../../src/estimators/registry.js';
import { secureNoise } from '../../src/random/secure.js';
import type { NoiseSource } from '../../src/random/source.js';
import type {
  AcceptedBatch, EpochProgress, EpochResult, EpochRunner, EpochSetup, SeriesInput,
} from './contract.js';
import { EpochEngine, type FindEstimator } from './engine.js';

export interface InlineRunnerOptions {
  /** Default: the registry. */
  readonly findEstimator?: FindEstimator;
  /**
   * @internal Noise for tests and demonstrations only. Called once per epoch. Default: the
   *   system's.
   */
  readonly noise?: () => NoiseSource;
  /** Threads for the large passes of a release. Default: the calling thread alone. */
  readonly compute?: Compute;
}

interface Holder {
  readonly engine: EpochEngine | null;
  /** The error that keeps the epoch from being released. The rest of the server is not affected. */
  failure: unknown;
}

/**
 * Epochs on the calling thread: for tests and simulation, and inside the worker thread of
 * WorkerEpochRunner.
 */
export class InlineEpochRunner implements EpochRunner {
  readonly backlogBytes = 0;
  readonly #epochs = new Map<string, Holder>();
  readonly #findEstimator: FindEstimator;
  readonly #noise: () => NoiseSource;
  readonly #compute: Compute;

  constructor(options: InlineRunnerOptions = {}) {
    this.#findEstimator = options.findEstimator ?? findRegistered;
    this.#noise = options.noise ?? secureNoise;
    this.#compute = options.compute ?? inlineCompute();
  }

  async open(setup: EpochSetup): Promise<void> {
    const name = nameOf(setup.studyId, setup.epoch);
    if (this.#epochs.has(name)) throw new InvariantError('an epoch is opened once');
    try {
      this.#epochs.set(
        name, { engine: new EpochEngine(setup, this.#findEstimator, this.#noise()), failure: null },
      );
    } catch (failure) {
      this.#epochs.set(name, { engine: null, failure });
      throw failure;
    }
  }

  add(studyId: string, epoch: bigint, parts: readonly AcceptedBatch[]): void {
    const holder = this.#holder(studyId, epoch);
    if (holder.engine === null || holder.failure !== null) return;
    try {
      holder.engine.add(parts);
    } catch (failure) {
      // The summaries are partly changed, so this epoch cannot be released. All others can.
      holder.failure = failure;
    }
  }

  async progress(studyId: string, epoch: bigint): Promise<EpochProgress> {
    return this.#holder(studyId, epoch).engine?.progress() ?? {
      contributors: 0, complete: 0, groupsReached: 0, groups: 0,
    };
  }

  async release(
    studyId: string, epoch: bigint, before?: SeriesInput, known?: readonly KnownKeys[],
  ): Promise<EpochResult> {
    return this.#taken(studyId, epoch).release(this.#compute, before, known);
  }

  async encode(studyId: string, epoch: bigint): Promise<Uint8Array> {
    return this.#taken(studyId, epoch).encode();
  }

  async merge(studyId: string, epoch: bigint, encoded: Uint8Array): Promise<void> {
    const { engine, failure } = this.#holder(studyId, epoch);
    if (engine === null || failure !== null) throw failure;
    engine.merge(encoded);
  }

  drop(studyId: string, epoch: bigint): void {
    this.#epochs.delete(nameOf(studyId, epoch));
  }

  async close(): Promise<void> {
    this.#epochs.clear();
  }

  /** The engine of an epoch, which is dropped. */
  #taken(studyId: string, epoch: bigint): EpochEngine {
    const { engine, failure } = this.#holder(studyId, epoch);
    this.drop(studyId, epoch);
    if (engine === null || failure !== null) throw failure;
    return engine;
  }

  #holder(studyId: string, epoch: bigint): Holder {
    const holder = this.#epochs.get(nameOf(studyId, epoch));
    if (holder === undefined) {
      throw new InvariantError('an epoch is open until it is released or dropped');
    }
    return holder;
  }
}

export function nameOf(studyId: string, epoch: bigint): string {
  return `${studyId}/${epoch}`;
}
