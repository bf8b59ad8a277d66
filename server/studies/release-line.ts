import type { Outcome } from '../../src/base/outcome.js';
import { KeelsonError, StorageError, WireError } from '../../src/base/errors.js';
import { eventsToJson } from '../../src/privacy/accounting/event-codec.js';
import { interrupted } from '../epochs/outcome.js';
import type { LedgerBalance, ReleaseRecord } from '../store/contract.js';
import type { HubContext } from './context.js';
import type { StudyDefinition } from './definition.js';
import { excludeFar } from './exclusion.js';
import type { HeldEpoch } from './held-epoch.js';
import { summarise } from './recovery.js';
import { signRelease } from './release-body.js';
import { Deadline, earlyMs, lastTick, plannedDuration } from './schedule.js';

/** A closed epoch on its way out. */
export interface ClosedEpoch {
  readonly held: HeldEpoch;
  /**
   * `release`: closing in the store, summaries in the runner. `interrupt`: closing, but cannot be released.
   * `interrupted`: charged before a crash, and its noise is lost.
   */
  readonly kind: 'release' | 'interrupt' | 'interrupted';
  /** Unix time. Scheduled where the epoch closes on time. */
  readonly closedAtMs: number;
  /**
   * Unix time from which its release is planned and its charge counts, a public number: the
   * scheduled close, or, where the server came to it later, the tick or the start at which it did.
   */
  readonly dueFromMs: number;
}

/** Entries of the ledger looked through for the events of a charge that was made before a crash. */
const ledgerPage = 10_000;

/**
 * Releases of one study, one after the other, in the order of their epochs.
 *
 * The order of steps for one epoch is what keeps the two promises of the ledger:
 *   reserved (at the opening) -> closing -> CHARGED, durable -> noise is drawn -> BYTES STORED, durable -> published.
 * Claim 1: what is published was charged. Noise is drawn only after chargeEpoch resolved, from mechanisms built of the
 * events whose cost was charged; and a charge is never undone.
 * Claim 2: no epoch has two answers. Before the bytes are stored nobody saw anything; a restart that finds the charge
 * without the bytes publishes `refused: interrupted`, a constant, instead of drawing again; once they are stored, the
 * store takes no others and a restart publishes the same ones.
 */
export class ReleaseLine {
  #count: number;
  #digest: string;
  #pending = 0;
  #tail: Promise<void> = Promise.resolve();

  /** @param onDone called after each epoch that left the line. */
  constructor(
    private readonly context: HubContext,
    private readonly definition: StudyDefinition,
    private readonly studyId: string,
    log: { readonly releaseCount: number; readonly lastDigest: string },
    private readonly onDone: (closed: ClosedEpoch) => Promise<void>,
  ) {
    this.#count = log.releaseCount;
    this.#digest = log.lastDigest;
  }

  /** Releases in the log. */
  get count(): number {
    return this.#count;
  }

  /** SHA-512 of the last body, hex. */
  get digest(): string {
    return this.#digest;
  }

  /** Epochs on the line. */
  get pending(): number {
    return this.#pending;
  }

  enqueue(closed: ClosedEpoch): void {
    // The work on one that waits begins when the one before it has left the line, at a tick.
    const deadline = this.#pending > 0 ? undefined : this.#deadline(closed.dueFromMs);
    this.#pending += 1;
    this.#tail = this.#tail.then(() => this.#take(closed, deadline));
  }

  /** Resolves when the line was empty once. Never rejects. */
  async settled(): Promise<void> {
    while (this.#pending > 0) await this.#tail;
  }

  #deadline(fromMs?: number): Deadline {
    const { clock, releaseTickMs: tickMs } = this.context;
    const { plan, document } = this.definition;
    const plannedMs = plannedDuration(plan.work, document.epoch, tickMs);
    const beganMs = fromMs ?? lastTick(clock.nowMs() + earlyMs, tickMs);
    return new Deadline(clock, beganMs, tickMs, plannedMs);
  }

  async #take(closed: ClosedEpoch, deadline = this.#deadline()): Promise<void> {
    try {
      if (!this.context.stopped()) await this.#finish(closed, deadline);
    } catch (error) {
      // Only the store throws here. What it holds is then decided by the restart, not by this process.
      this.context.fatal(error);
    } finally {
      this.#pending -= 1;
    }
    if (this.context.stopped()) return;
    await this.onDone(closed).catch((error: unknown) => this.context.fatal(error));
  }

  async #finish(closed: ClosedEpoch, deadline: Deadline): Promise<void> {
    const { store, runner, clock, emit, logger } = this.context;
    const { epoch } = closed.held;
    if (await this.#isFree(closed)) {
      await store.lapseEpoch(this.studyId, epoch, closed.dueFromMs);
      runner.drop(this.studyId, epoch);
      const { study } = this.definition.document;
      logger.info({ study, epoch }, 'an epoch lapsed: nobody came, nothing is charged');
      return this.#forget(epoch);
    }
    // Before anything whose time depends on rows: everybody may ask for the ledger's totals.
    const { balance, mechanisms } = await this.#charge(closed);
    const isReady = await this.#withoutWithdrawn(closed);
    const drawn = closed.kind === 'release' && isReady ? await this.#draw(epoch) : interrupted;
    const { release, outcome } = this.#sign(closed, drawn, balance, mechanisms);
    const publishedAtMs = await this.#untilDue(deadline, epoch);
    await store.storeRelease({ ...release, nowMs: clock.nowMs() });
    this.#count += 1;
    this.#digest = release.digest;
    emit({ kind: 'release', studyId: this.studyId, release });
    this.#tell(closed, outcome, release.index);
    await this.#exclude(epoch, release.index, publishedAtMs);
  }

  /**
   * Waits until the release may show. Before the bytes are stored, because a reader of the log
   * sees what is stored.
   * @returns the planned Unix time that was reached.
   */
  async #untilDue(deadline: Deadline, epoch: bigint): Promise<number> {
    const { atMs, fits } = await deadline.reached();
    const { study } = this.definition.document;
    if (!fits) {
      // Whoever follows the study sees as much.
      this.context.logger.warn(
        { study, epoch }, 'a release did not fit its planned time: give a longer --release-tick',
      );
    }
    return atMs;
  }

  /**
   * Decides who is left out later. That takes a time that depends on rows, and the next epoch, the
   * next release or the end of the study may wait for it: so it has a planned time of its own.
   */
  async #exclude(epoch: bigint, index: number, fromMs: number): Promise<void> {
    const { document } = this.definition;
    if (document.quarantine?.automatic !== true) return;
    const { clock, releaseTickMs } = this.context;
    const deadline = new Deadline(clock, fromMs, releaseTickMs);
    await excludeFar(this.context, { studyId: this.studyId, document }, epoch, index);
    if (!this.context.stopped()) await deadline.reached();
  }

  /**
   * Logs a release after its bytes are stored, so at the tick and not before. Everything here is in
   * the release, which is public: the epoch, the kind of outcome and why it was refused, the cost.
   * How many contributed, and how long the work took, is not.
   */
  #tell({ held }: ClosedEpoch, outcome: Outcome, index: number): void {
    const { study, privacy: { epsilon, delta } } = this.definition.document;
    const reason = outcome.kind === 'refused' ? { reason: outcome.reason } : {};
    this.context.logger.info(
      {
        study, epoch: held.epoch, release: index, outcome: outcome.kind, ...reason, epsilon, delta,
      },
      'a release is published',
    );
  }

  /**
   * Where somebody took rows back: the summaries are thrown away and made anew from the journal, which does not have those
   * rows any more. The result is bit for bit what it is for an epoch that never had them, as sums that are undone by
   * subtraction are not: the same assignment key, work seed and order of what is left. No noise was used yet: the first
   * summaries' values are forgotten unread. Once per epoch, so that no number of withdrawals keeps the server busy.
   * @returns false when the epoch cannot be rebuilt.
   */
  async #withoutWithdrawn({ held, kind }: ClosedEpoch): Promise<boolean> {
    if (kind !== 'release' || !held.withdrawn) return true;
    const { runner, drained, logger } = this.context;
    // Batches with a verdict on their way are in the journal already, and would be counted twice.
    await drained();
    runner.drop(this.studyId, held.epoch);
    try {
      await summarise(this.context, this.definition, this.studyId, held);
      return true;
    } catch (error) {
      if (error instanceof StorageError || (error instanceof KeelsonError && error.code === 'closed')) throw error;
      const { study } = this.definition.document;
      logger.error({ study, epoch: held.epoch, err: error }, 'an epoch cannot be rebuilt; it ends as interrupted');
      runner.drop(this.studyId, held.epoch);
      return false;
    }
  }

  /** With public participation the fact that nobody came is public: no noise is taken, nothing is charged. */
  async #isFree(closed: ClosedEpoch): Promise<boolean> {
    if (closed.kind !== 'release' || this.definition.document.participation !== 'public') return false;
    return await this.context.store.contributorCount(this.studyId, closed.held.epoch) === 0;
  }

  /** It holds no rows, only the secrets of its groups: that a reader holds up their deletion is no reason to stop. */
  async #forget(epoch: bigint): Promise<void> {
    const { store, logger } = this.context;
    try {
      await store.purgeEpoch(this.studyId, epoch);
    } catch (error) {
      if (!(error instanceof StorageError && error.retryable)) throw error;
      const { study } = this.definition.document;
      logger.warn({ study, epoch, err: error }, 'the keys of an empty epoch stay until it is purged');
    }
  }

  async #charge(closed: ClosedEpoch): Promise<{ balance: LedgerBalance; mechanisms: string }> {
    const { store } = this.context;
    const { held, kind, dueFromMs } = closed;
    const planned = eventsToJson(this.definition.plan.events);
    if (kind !== 'interrupted') {
      const balance = await store.chargeEpoch(this.studyId, held.epoch, planned, dueFromMs);
      return { balance, mechanisms: planned };
    }
    // The program may be a newer one with another plan: what the ledger says was charged is what stands.
    const { key } = this.definition.budget;
    const entries = await store.ledgerEntries(key, ledgerPage);
    const charged = entries.find((entry) =>
      entry.kind === 'charged' && entry.studyId === this.studyId && entry.epoch === held.epoch);
    const mechanisms = charged?.events ?? planned;
    const balance = await store.chargeEpoch(this.studyId, held.epoch, mechanisms, dueFromMs);
    return { balance, mechanisms };
  }

  /** The charge is durable. Whatever goes wrong now concerns this epoch alone, and it stays paid for. */
  async #draw(epoch: bigint): Promise<Outcome> {
    const { runner, drained, logger } = this.context;
    try {
      await drained();
      return await runner.release(this.studyId, epoch);
    } catch (error) {
      logger.error(
        { study: this.definition.document.study, epoch, err: error }, 'a release failed; it ends as interrupted',
      );
      return interrupted;
    }
  }

  #sign(
    closed: ClosedEpoch, outcome: Outcome, balance: LedgerBalance, mechanisms: string,
  ): { readonly release: ReleaseRecord; readonly outcome: Outcome } {
    const { held, closedAtMs } = closed;
    const { rho, delta, epoch } = held;
    const facts = {
      studyId: this.studyId, index: this.#count, epoch, rho, delta, balance, mechanisms, closedAtMs,
      previousDigest: this.#digest,
    };
    try {
      const release = signRelease(this.definition, this.context.signer, { ...facts, outcome });
      return { release, outcome };
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.context.logger.error({ epoch, err: error }, 'an outcome does not fit the wire; it ends as interrupted');
      const refused = { ...facts, outcome: interrupted };
      const release = signRelease(this.definition, this.context.signer, refused);
      return { release, outcome: interrupted };
    }
  }
}
