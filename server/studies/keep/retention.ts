import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';
import type { HubContext } from '../context.js';

/** Delay after a reader of the data folder blocked a purge. */
const retryMs = 60_000;

/** Deletes rows from the store by the study's retention rule. */
export class Retention {
  readonly #keepMs: number;
  #sweeping: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | undefined;
  #closed = false;
  /** Epochs whose rows are still being read. */
  readonly #spared = new Set<bigint>();

  constructor(
    private readonly context: HubContext,
    private readonly studyId: string,
    retention: StudyDocument['retention'],
  ) {
    this.#keepMs = retention.kind === 'release' ? 0 : retention.keepMs;
  }

  /** Keeps an epoch's rows until `free`, whatever the retention rule. */
  spare(epoch: bigint): void {
    this.#spared.add(epoch);
  }

  free(epoch: bigint): void {
    this.#spared.delete(epoch);
  }

  /**
   * Purges the epochs that are due and sets a timer for the rest. Resolves when nothing more is due
   * now. Never rejects.
   */
  sweep(): Promise<void> {
    this.#sweeping = this.#sweeping.then(() => this.#sweep())
      .catch((error: unknown) => this.#onError(error));
    return this.#sweeping;
  }

  /** Sets no more timers. Resolves when the sweep in progress has ended. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer?.();
    await this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { store, clock, logger, stopped } = this.context;
    if (stopped()) return;
    this.#cancelTimer?.();
    const nowMs = clock.nowMs();
    let nextMs = Infinity;
    for (const { epoch, releasedAtMs } of await store.unpurgedEpochs(this.studyId)) {
      if (this.#spared.has(epoch)) continue;
      // A clock that was set back must not keep rows longer than the rule, counted from now.
      const leftMs = Math.min(releasedAtMs + this.#keepMs - nowMs, this.#keepMs);
      if (leftMs > 0) {
        nextMs = Math.min(nextMs, leftMs);
        continue;
      }
      if (stopped()) return;
      await store.purgeEpoch(this.studyId, epoch);
      logger.debug({ studyId: this.studyId, epoch }, 'the rows of an epoch were deleted');
    }
    if (nextMs < Infinity) this.#again(nextMs);
  }

  #again(delayMs: number): void {
    // A sweep that is in progress at the close must not leave a timer of days.
    if (this.context.stopped() || this.#closed) return;
    this.#cancelTimer?.();
    this.#cancelTimer = this.context.clock.after(delayMs, () => void this.sweep());
  }

  #onError(error: unknown): void {
    if (error instanceof KeelsonError && error.code === 'closed') return;
    if (!(error instanceof StorageError && error.retryable)) return this.context.fatal(error);
    this.context.logger.warn(
      { studyId: this.studyId, err: error },
      'rows could not be deleted yet; trying again in a minute',
    );
    this.#again(retryMs);
  }
}
