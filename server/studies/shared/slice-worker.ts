import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import type { ClaimedSlice } from '../../store/shared.js';
import type { HubContext, Slicing } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import { noSlices, type SliceCounts } from '../node-health.js';
import { mayBeSliced, planDigest, summariseSlice } from '../release/slices.js';

/** After a failure, other nodes get this long to try the slices of the study. */
const retryMs = 60_000;

/** A study of this node. */
interface Known {
  readonly definition: StudyDefinition;
  /** The digest of its plan; null for a study that has no slices. */
  readonly plan: string | null;
  notBeforeMs: number;
}

/**
 * Claims slices of closed epochs and summarises them, one after the other: of studies that this
 * node leads, and of others. Only studies that this node runs, with the same plan as their leader.
 *
 * Success is not logged: the number of slices, and the time of each, depend on who came.
 */
export class SliceWorker {
  readonly #known = new Map<string, Known>();
  readonly #stopNews: () => void;
  #counts = noSlices;
  #working: Promise<void> | null = null;
  #isAsked = false;
  #isClosed = false;

  /** @param definitions of the studies that this node runs, by their ids. */
  constructor(
    private readonly context: HubContext, private readonly slicing: Slicing,
    private readonly definitions: () => ReadonlyMap<string, StudyDefinition>,
  ) {
    this.#stopNews = slicing.onNews(() => this.#wake());
  }

  get counts(): SliceCounts {
    return this.#counts;
  }

  /** Finishes the slice in progress, and claims no other. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopNews();
    await this.#working;
  }

  #wake(): void {
    this.#isAsked = true;
    this.#working ??= this.#work().catch((error: unknown) => this.#onFailure(error))
      .finally(() => { this.#working = null; });
  }

  async #work(): Promise<void> {
    while (this.#isAsked && !this.#isClosed) {
      this.#isAsked = false;
      const plans = this.#plans();
      const claimed = plans.size === 0 ? null : await this.slicing.slices.claim(plans);
      if (claimed === null) continue;
      this.#isAsked = true;
      await this.#summarise(this.#known.get(claimed.studyId)!, claimed);
    }
  }

  #plans(): ReadonlyMap<string, string> {
    const plans = new Map<string, string>();
    for (const [studyId, definition] of this.definitions()) {
      let known = this.#known.get(studyId);
      if (known?.definition !== definition) {
        const plan = mayBeSliced(definition) ? planDigest(definition) : null;
        known = { definition, plan, notBeforeMs: -Infinity };
        this.#known.set(studyId, known);
      }
      if (known.plan !== null && this.context.clock.monotonicMs() >= known.notBeforeMs) {
        plans.set(studyId, known.plan);
      }
    }
    return plans;
  }

  async #summarise(known: Known, claimed: ClaimedSlice): Promise<void> {
    const { logger, stopped, clock } = this.context;
    const { definition } = known;
    const told = { study: definition.document.study, epoch: claimed.epoch };
    const beganMs = clock.monotonicMs();
    try {
      await summariseSlice(this.context, this.slicing, definition, claimed);
      this.#count('done', (clock.monotonicMs() - beganMs) / 1_000);
    } catch (error) {
      if (stopped()) return;
      if (error instanceof KeelsonError && error.code === 'lease-lost') {
        this.#count('lost');
        return logger.warn(told, 'another server summarises rows of an epoch, since this one was '
          + 'too slow');
      }
      this.#count('failed');
      known.notBeforeMs = clock.monotonicMs() + retryMs;
      logger.error({ ...told, err: error }, 'rows of an epoch cannot be summarised here; another '
        + 'server may, and this one tries again in a minute');
      await this.slicing.slices.giveBack(claimed);
    }
  }

  #count(outcome: 'done' | 'failed' | 'lost', seconds = 0): void {
    const { [outcome]: before, secondsTotal } = this.#counts;
    this.#counts = { ...this.#counts, [outcome]: before + 1, secondsTotal: secondsTotal + seconds };
  }

  #onFailure(error: unknown): void {
    // A claim that is not given back ends by itself.
    const isAway = error instanceof StorageError && error.retryable;
    const isClosed = error instanceof KeelsonError && error.code === 'closed';
    if (!isAway && !isClosed && !this.context.stopped()) this.context.fatal(error);
  }
}
