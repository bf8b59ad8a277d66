import { assert } from '../../../src/base/assert.js';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import { coversCharge } from '../../../src/privacy/accounting/budget.js';
import type { EpochProgress } from '../../epochs/contract.js';
import { ownRows } from '../../epochs/packing.js';
import type { HubEvent, StudyView, SubmitResult, VerifiedBatch } from '../contract.js';
import type {
  AdmissionResult, EpochRecord, OpenEpochResult, StudyRecord, StudyStateName, WithdrawalRequest,
  WithdrawalResult,
} from '../../store/contract.js';
import type { Waiting } from '../budget-turns.js';
import type { HubContext } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import { excludeAfterRestart } from '../keep/exclusion.js';
import {
  freshEpoch, heldEpochOf, setupOf, turnEpochs, type HeldEpoch,
} from '../release/held-epoch.js';
import { LatestView, type StudyIdentity } from '../latest-view.js';
import { rebuildEpoch, recoveriesMax } from '../release/recovery.js';
import { ReleaseLine, type ClosedEpoch } from '../release/release-line.js';
import type { LiveStudyOptions } from './live-study-options.js';
import type { Retention } from '../keep/retention.js';
import {
  closeTime, delayUntilClose, dueTime, lastTick, nextTimes, waitingMost,
} from '../release/schedule.js';
import type { LocalStudy, StudyMode } from '../study-list.js';
import { answerOf } from './submit-answer.js';

/** One study of a running server: its open epoch, its schedule, its releases. */
export class LiveStudy implements Waiting, LocalStudy {
  readonly #line: ReleaseLine;
  readonly #retention: Retention;
  /** Epochs in which batches can still count, or that wait for their release. */
  readonly #held = new Map<bigint, HeldEpoch>();
  readonly #view: LatestView;
  #state: StudyStateName;
  #exhausted: boolean;
  #open: HeldEpoch | null = null;
  #lastEpoch: bigint;
  /**
   * When the next epoch should open: at the scheduled close of the last one, or when the budget
   * renews. 0: not planned.
   */
  #nextOpenMs = 0;
  #cancelTimer: (() => void) | undefined;
  #turning: Promise<void> | null = null;
  #overdue = false;
  #closing = false;
  /** `recovering`: no batch is taken until the rows of open epochs are counted. */
  #phase: 'recovering' | 'running' | 'abandoned' = 'recovering';
  #mode: StudyMode;
  #isHeld: boolean;
  readonly #onDone: () => void;

  constructor(
    private readonly context: HubContext,
    readonly definition: StudyDefinition,
    readonly identity: StudyIdentity,
    record: StudyRecord,
    options: LiveStudyOptions,
  ) {
    this.#view = new LatestView(definition, identity);
    this.#mode = options.mode;
    this.#isHeld = options.held;
    this.#retention = options.retention;
    this.#onDone = options.onDone;
    this.#state = record.state;
    this.#exhausted = record.state === 'exhausted';
    this.#lastEpoch = record.lastEpoch;
    this.#line = new ReleaseLine(context, definition, identity.studyId, record, (closed) =>
      this.#onReleased(closed));
  }

  get view(): StudyView {
    return this.#view.of({
      state: this.#state,
      epoch: this.#open?.epoch ?? 0n,
      closesAtMs: this.#open?.closesAtMs ?? 0,
      releaseCount: this.#line.count,
    });
  }

  get mode(): StudyMode {
    return this.#mode;
  }

  /** SHA-512 of the last release body, hex. */
  get digest(): string {
    return this.#line.digest;
  }

  /** True if batches and withdrawals can be taken. */
  get isRunning(): boolean {
    return this.#phase === 'running';
  }

  /**
   * Continues the work of an earlier process, oldest first. Then opens an epoch, or keeps the one
   * that is open.
   * @throws the error of the start. The caller must then `abandon` the study.
   */
  async start(unfinished: readonly EpochRecord[]): Promise<void> {
    const { clock, releaseTickMs } = this.context;
    // A key that cannot be read must fail here, not at a release.
    if (this.definition.document.running !== undefined) this.context.seriesKey();
    // The duration of the work below depends on rows. So the schedule counts from here.
    const startedMs = lastTick(clock.nowMs(), releaseTickMs);
    // The study has not stopped for readers: releases made here still come.
    if (this.#exhausted && unfinished.length > 0) this.#state = 'open';
    await excludeAfterRestart(this.context, this.view, this.#line.count);
    for (const record of unfinished) await this.#resume(record, startedMs + releaseTickMs);
    this.#phase = 'running';
    if (this.#open !== null && !this.#isDue(this.#open)) return this.#arm(this.#open);
    const failures: unknown[] = [];
    await this.#turnOver(startedMs, (error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  /**
   * After a failed start: opens nothing and counts nothing. Releases in progress are finished. The
   * rest stays unchanged in the store, for the next start.
   * @returns when no release is in progress.
   */
  async abandon(): Promise<void> {
    this.#phase = 'abandoned';
    if (this.#open !== null) this.#drop(this.#open);
    this.#open = null;
    await this.close();
    for (const held of this.#held.values()) this.#drop(held);
  }

  /** If summaries are read from the journal: the number of complete contributions. */
  noteComplete(epoch: bigint, complete: number): void {
    const held = this.#open;
    if (held === null || held.epoch !== epoch) return;
    held.complete = complete;
    if (this.#isDue(held)) this.#onDue();
  }

  /** The open epoch; null when none. */
  get open(): bigint | null {
    return this.#open?.epoch ?? null;
  }

  /**
   * Applies a durable verdict. Called in journal order.
   * @returns the answer for the sender.
   */
  settle(batch: VerifiedBatch, result: AdmissionResult): SubmitResult {
    if (result.verdict === 'accepted') this.#count(batch, result);
    return answerOf(this.definition, result);
  }

  /**
   * Takes rows back. The epoch is marked before the store is asked. So its release takes into
   * account every withdrawal that the store accepts before it closes the epoch. A mark without a
   * withdrawal costs one pass over the journal.
   */
  async withdraw(request: WithdrawalRequest): Promise<WithdrawalResult> {
    const held = this.#held.get(request.epoch);
    if (held !== undefined) held.withdrawn = true;
    const result = await this.context.store.withdraw(request);
    if (result.kind === 'withdrawn' && result.complete && held !== undefined) held.complete -= 1;
    return result;
  }

  async progress(): Promise<EpochProgress | null> {
    const held = this.#open;
    return held === null
      ? null : this.context.runner.progress(this.identity.studyId, held.epoch);
  }

  /** Opens the next epoch of a study that was held or paused, if none is open. */
  async begin(): Promise<void> {
    if (!this.#isHeld || this.#closing) return;
    this.#isHeld = false;
    await this.#turning;
    if (this.#open === null) await this.#turnOver();
  }

  /** Lets the open epoch end as planned; none follows until `begin`. */
  pause(): void {
    this.#isHeld = true;
    // Other studies of the budget need not wait for this one.
    this.#leaveLine();
  }

  /** Lets the open epoch end as planned; none follows. An epoch that closes on a count ends now. */
  async end(): Promise<void> {
    this.#mode = 'end';
    this.#leaveLine();
    if (this.#open === null) return this.#stopIfDone();
    if (this.#open.closesAtMs === 0) await this.#turnOver();
  }

  /** Called when no study before this one waits for the budget any more. */
  onTurn(atMs: number): void {
    // A turn in progress may have seen other studies before this one.
    void (this.#turning ?? Promise.resolve()).then(() => {
      this.#nextOpenMs = atMs;
      this.#askAgain();
    });
  }

  /** Resolves when no epoch is being opened or released. */
  async settled(): Promise<void> {
    await this.#turning;
    await this.#line.settled();
  }

  /**
   * Stops the schedule. A release in progress is finished. An open epoch stays open for the next
   * start.
   */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#turning;
    await this.#line.settled();
    this.#leaveLine();
    // Not earlier: a turn that was in progress has set the timer of the next one.
    this.#cancelTimer?.();
  }

  #count(batch: VerifiedBatch, result: AdmissionResult): void {
    const { runner, stopped } = this.context;
    const held = this.#held.get(result.epoch);
    // A stopped process needs no summaries: the next start rebuilds them from the journal.
    if (stopped() || this.#phase === 'abandoned') return;
    assert(held !== undefined
      && batch.values !== undefined, 'rows are accepted into an epoch that is held');
    const { contributor, sequence, values, rows, texts } = batch;
    const part = ownRows({
      contributor, sequence, values, rows, texts, complete: result.complete,
    });
    runner.add(this.identity.studyId, result.epoch, [part]);
    if (!result.complete) return;
    held.complete += 1;
    if (held === this.#open && this.#isDue(held)) this.#onDue();
  }

  async #resume(record: EpochRecord, dueMs: number): Promise<void> {
    const { store, logger, readsJournal } = this.context;
    const { studyId } = this.identity;
    const { epoch } = record;
    // Facts that are read only after the charge cannot stop a server again and again.
    const attempts = readsJournal ? 0 : await store.noteRecovery(studyId, epoch);
    this.#lastEpoch = epoch > this.#lastEpoch ? epoch : this.#lastEpoch;
    this.#nextOpenMs = record.closesAtMs;
    if (record.state === 'charged') {
      return this.#enqueue(heldEpochOf(record), 'interrupted', dueMs);
    }
    const held = attempts > recoveriesMax ? null : await this.#rebuilt(record);
    if (held === null) {
      logger.error({ study: this.view.name, epoch, attempts }, 'an epoch could not be rebuilt; it '
        + 'ends as interrupted');
      await store.beginClose(studyId, epoch);
      return this.#enqueue(heldEpochOf(record), 'interrupt', dueMs);
    }
    if (attempts > 0) await store.noteRecovered?.(studyId, epoch);
    this.#held.set(epoch, held);
    if (record.state === 'open') this.#open = held;
    else this.#enqueue(held, 'release', dueMs);
  }

  /**
   * Returns null when this program cannot rebuild the epoch. Other epochs and studies are not
   * affected.
   */
  async #rebuilt(record: EpochRecord): Promise<HeldEpoch | null> {
    const { runner, logger } = this.context;
    const { studyId } = this.identity;
    const { charge } = this.definition;
    // A newer program may plan other noise for the same facts. The reservation must cover the noise
    // that would be drawn.
    if (!coversCharge(record, charge)) return null;
    try {
      return await rebuildEpoch(this.context, this.definition, studyId, record);
    } catch (error) {
      runner.drop(studyId, record.epoch);
      if (error instanceof StorageError
          || (error instanceof KeelsonError && error.code === 'closed')) throw error;
      logger.error(
        { study: this.view.name, epoch: record.epoch, err: error }, 'an epoch cannot be rebuilt',
      );
      return null;
    }
  }

  #isDue(held: HeldEpoch): boolean {
    const { epoch } = this.definition.document;
    if ('contributors' in epoch) return held.complete >= epoch.contributors;
    return delayUntilClose(epoch, this.context.clock.nowMs(), held.closesAtMs) === 0;
  }

  #arm(held: HeldEpoch): void {
    this.#cancelTimer?.();
    if (held.closesAtMs === 0) return;
    const { clock } = this.context;
    const delayMs = delayUntilClose(this.definition.document.epoch, clock.nowMs(), held.closesAtMs);
    this.#cancelTimer = clock.after(delayMs, () => this.#onDue());
  }

  #onDue(): void {
    if (this.context.stopped() || this.#closing || this.#turning !== null) return;
    if (this.#line.pending < waitingMost(this.definition.document)) return void this.#turnOver();
    if (this.#overdue) return;
    this.#overdue = true;
    const { logger } = this.context;
    logger.warn(
      { study: this.view.name },
      'releases take longer than epochs: the open epoch is extended; make epochs longer',
    );
  }

  /**
   * Puts the epoch in line for its release. Its rows stay until it has left the line: exclusions
   * may be decided by them.
   * @param fromMs Unix time of the close, or the tick after the start of the server: a public
   *   number.
   */
  #enqueue(held: HeldEpoch, kind: ClosedEpoch['kind'], fromMs: number): void {
    this.#retention.spare(held.epoch);
    const closedAtMs = closeTime(held.closesAtMs, fromMs);
    const { clock, releaseTickMs } = this.context;
    const dueFromMs = dueTime(closedAtMs, fromMs, clock.nowMs(), releaseTickMs);
    this.#line.enqueue({ held, kind, closedAtMs, dueFromMs });
  }

  /**
   * Closes the open epoch and opens the next one if possible. Never rejects.
   * @param startedMs for a turn at the start of the server: the tick before the start, a public
   *   number.
   */
  #turnOver(startedMs = 0, onError: (error: unknown) => void = this.context.fatal): Promise<void> {
    this.#turning ??= this.#turn(startedMs)
      .catch(onError)
      .finally(() => { this.#turning = null; });
    return this.#turning;
  }

  async #turn(startedMs: number): Promise<void> {
    const { store, clock, stopped, releaseTickMs } = this.context;
    const { studyId } = this.identity;
    const old = this.#open;
    const atMs = startedMs > 0 ? startedMs + releaseTickMs : lastTick(clock.nowMs(), releaseTickMs);
    const next = this.#nextEpoch(startedMs);
    this.#overdue = false;
    const opened = await turnEpochs(store, studyId, this.definition, old, next)
      .catch((error: unknown) => {
        if (next !== null) this.#drop(next);
        throw error;
      });
    if (stopped()) return;
    this.#open = null;
    if (next !== null) this.#opened(next, opened!);
    else if (old !== null && this.#isHeld) this.context.emit(noEpoch(studyId));
    // An epoch that closes on a count states when the count was reached: after every row that
    // counts.
    if (old !== null) this.#enqueue(old, 'release', old.closesAtMs === 0 ? clock.nowMs() : atMs);
    await this.#stopIfDone();
  }

  /**
   * The next epoch, held here and open in the runner before the store can accept a batch for it.
   */
  #nextEpoch(startedMs: number): HeldEpoch | null {
    if (this.#isHeld || this.#mode !== 'run' || this.#state !== 'open' || this.#exhausted) {
      return null;
    }
    const { clock, runner, logger, turns, readsJournal } = this.context;
    const { document, budget } = this.definition;
    if (!turns.isFirst(budget.key, this)) {
      turns.join(budget.key, this);
      logger.info(
        { study: document.study, budget: budget.key },
        'the study waits for its epoch: others have waited longer for the budget',
      );
      return null;
    }
    const planned = [this.#nextOpenMs, startedMs];
    const times = nextTimes(document.epoch, clock.nowMs(), planned, this.context.releaseTickMs);
    const next = freshEpoch(this.definition, this.#lastEpoch + 1n, times);
    this.#held.set(next.epoch, next);
    if (readsJournal) return next;
    // If the runner cannot hold the epoch, its release will fail with the same error.
    runner.open(setupOf(this.identity.studyId, this.definition, next)).catch((error: unknown) => {
      if (this.#closing) return;
      logger.error(
        { study: document.study, epoch: next.epoch, err: error }, 'an epoch has no summaries',
      );
    });
    return next;
  }

  #opened(next: HeldEpoch, result: OpenEpochResult): void {
    const { emit, logger } = this.context;
    const { studyId } = this.identity;
    if (result.kind === 'opened') {
      this.#open = next;
      this.#lastEpoch = next.epoch;
      this.#nextOpenMs = next.closesAtMs;
      this.#arm(next);
      this.#leaveLine(next.opensAtMs);
      emit({ kind: 'epoch-opened', studyId, epoch: next.epoch, closesAtMs: next.closesAtMs });
      return;
    }
    this.#drop(next);
    const { key } = result.balance;
    if (result.retryAtMs !== undefined) {
      const { retryAtMs } = result;
      logger.info(
        { study: this.view.name, budget: key, retryAtMs }, 'no epoch until the budget renews',
      );
      return this.#waitUntil(retryAtMs);
    }
    this.#exhausted = true;
    this.#leaveLine();
    logger.info({ study: this.view.name, budget: key }, 'the budget has no room for another epoch');
  }

  #drop(held: HeldEpoch): void {
    this.#held.delete(held.epoch);
    this.context.runner.drop(this.identity.studyId, held.epoch);
  }

  /**
   * Asks for an epoch again when the budget will have renewed. Never at once, because the clock may
   * have been set back.
   */
  #waitUntil(retryAtMs: number): void {
    const { clock, turns } = this.context;
    turns.join(this.definition.budget.key, this);
    this.#cancelTimer?.();
    this.#nextOpenMs = retryAtMs;
    this.#cancelTimer = clock.after(Math.max(retryAtMs - clock.nowMs(), 1), () => this.#askAgain());
  }

  #askAgain(): void {
    if (!this.context.stopped() && !this.#closing && this.#open === null) void this.#turnOver();
  }

  /** Leaves the budget's line. Does nothing if the study is not in it. */
  #leaveLine(atMs = lastTick(this.context.clock.nowMs(), this.context.releaseTickMs)): void {
    this.context.turns.leave(this.definition.budget.key, this, atMs);
  }

  async #onReleased(closed: ClosedEpoch): Promise<void> {
    this.#held.delete(closed.held.epoch);
    this.#retention.free(closed.held.epoch);
    void this.#retention.sweep();
    if (this.#overdue && !this.#closing) await this.#turnOver();
    await this.#stopIfDone();
  }

  /**
   * The state changes after the last release is published, so that the head that follows is the
   * last one.
   */
  async #stopIfDone(): Promise<void> {
    if (this.#open !== null || this.#line.pending > 0 || this.#phase === 'abandoned') return;
    if (this.#state !== 'open') return this.#onDone();
    const { store, emit, logger } = this.context;
    const { studyId } = this.identity;
    if (this.#mode === 'drain') return this.#onDone();
    if (this.#mode === 'end') await store.setStudyState(studyId, 'ended');
    else if (!this.#exhausted) return;
    this.#state = this.#mode === 'end' ? 'ended' : 'exhausted';
    logger.info(
      { study: this.view.name, state: this.#state, releases: this.#line.count }, 'a study stopped',
    );
    emit({ kind: 'study-stopped', studyId, state: this.#state });
    this.#onDone();
  }
}

/** Reports that no epoch is open. */
function noEpoch(studyId: string): HubEvent {
  return { kind: 'epoch-opened', studyId, epoch: 0n, closesAtMs: 0 };
}
