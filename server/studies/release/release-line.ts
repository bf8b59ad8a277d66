import type { Outcome } from '../../../src/base/outcome.js';
import { KeelsonError, StorageError, WireError } from '../../../src/base/errors.js';
import { eventsToJson } from '../../../src/privacy/accounting/event-codec.js';
import { failedOutcome } from '../../../src/questions/run.js';
import {
  releasesRemembered, remembersKeys, RememberedKeys, type KnownKeys,
} from '../../../src/base/remembered-keys.js';
import type { EncryptedSeries } from '../../../src/base/running-totals.js';
import { decodeReleaseBody } from '../../../src/wire/index.js';
import type { EpochResult, SeriesInput } from '../../epochs/contract.js';
import { interrupted, runningOutcome } from '../../epochs/outcome.js';
import type { ChargeResult, LedgerBalance, ReleaseRecord } from '../../store/contract.js';
import type { HubContext } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import { excludeFar } from '../keep/exclusion.js';
import type { HeldEpoch } from './held-epoch.js';
import { signRelease } from './release-body.js';
import { Deadline, earlyMs, lastTick, plannedDuration } from './schedule.js';
import { summariseTogether } from './slices.js';

/** A closed epoch that waits for its release. */
export interface ClosedEpoch {
  readonly held: HeldEpoch;
  /**
   * `release`: closing in the store, summaries in the runner. `interrupt`: closing, but it cannot
   * be released. `interrupted`: charged before a crash, and its noise is lost.
   */
  readonly kind: 'release' | 'interrupt' | 'interrupted';
  /** Unix time. The scheduled close if the epoch closes on time. */
  readonly closedAtMs: number;
  /**
   * Unix time from which its release is planned and its charge counts: the scheduled close, or the
   * tick or the start at which the server came to it, if that was later. A public number.
   */
  readonly dueFromMs: number;
}

/** The runner's results for an epoch. */
type Drawn = Pick<EpochResult, 'outcomes' | 'series'>;

/** The number of ledger entries that are searched for the events of a charge before a crash. */
const ledgerPage = 10_000;

/**
 * Releases of one study, one after the other, in the order of their epochs.
 *
 * For each epoch the order of steps keeps the two promises of the ledger:
 *   reserved (at the opening) -> closing -> CHARGED, durable -> noise is drawn -> BYTES STORED,
 *   durable -> published.
 * Claim 1: what is published was charged. Noise is drawn only after chargeEpoch resolved, from
 * mechanisms built from the events whose cost was charged, and a charge is never undone. Only one
 * call makes the charge of an epoch. Its answer says so (`isMine`), and only then is noise drawn.
 * So noise is drawn at most once.
 * Claim 2: no epoch has two answers. Before the bytes are stored, no reader saw anything. A restart
 * that finds the charge without the bytes publishes `refused: interrupted`, a constant, and does
 * not draw again. Once bytes are stored, the store accepts no others, and a restart publishes the
 * same bytes.
 * Claim 3: a running total has one release for each place of its series. What a release leaves to
 * the next is stored with its bytes, in one transaction, and is read again before the next draw. So
 * a series goes on only from bytes that are stored. If the bytes are lost, so is what they left:
 * the store still has what an earlier epoch left, which does not open for a later one
 * (server/epochs/sealing), and the refusal that is stored for the epoch deletes it. The series
 * ends.
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
    // An epoch that waits begins its work when the one before it has left the line, at a tick.
    const deadline = this.#pending > 0 ? undefined : this.#deadline(closed.dueFromMs);
    this.#pending += 1;
    this.#tail = this.#tail.then(() => this.#take(closed, deadline));
  }

  /** Resolves at a moment when the line is empty. Never rejects. */
  async settled(): Promise<void> {
    while (this.#pending > 0) await this.#tail;
  }

  #deadline(fromMs?: number): Deadline {
    const { clock, releaseTickMs: tickMs } = this.context;
    const { work } = this.definition;
    const plannedMs = plannedDuration(work, tickMs);
    const beganMs = fromMs ?? lastTick(clock.nowMs() + earlyMs, tickMs);
    return new Deadline(clock, beganMs, tickMs, plannedMs);
  }

  async #take(closed: ClosedEpoch, deadline = this.#deadline()): Promise<void> {
    try {
      if (!this.context.stopped()) await this.#finish(closed, deadline);
    } catch (error) {
      // Only the store throws here. The next start then determines what the store holds; this
      // process does not.
      this.context.fatal(error);
    } finally {
      this.#pending -= 1;
    }
    if (this.context.stopped()) return;
    await this.onDone(closed).catch((error: unknown) => this.context.fatal(error));
  }

  async #finish(closed: ClosedEpoch, deadline: Deadline): Promise<void> {
    const { store, runner, clock, emit, logger, tracing } = this.context;
    const { epoch } = closed.held;
    const { study } = this.definition.document;
    // Its times are public, and those of the work on rows are left out: a step ends at its plan.
    const trace = tracing.begin(
      'keelson.release', { 'keelson.study': study, 'keelson.epoch': Number(epoch) },
      closed.dueFromMs,
    );
    trace.step('charge', closed.dueFromMs);
    if (await this.#isFree(closed)) {
      await store.lapseEpoch(this.studyId, epoch, closed.dueFromMs);
      runner.drop(this.studyId, epoch);
      trace.end({ 'keelson.outcome': 'lapsed' });
      logger.info({ study, epoch }, 'an epoch lapsed: nobody came, nothing is charged');
      return this.#forget(epoch);
    }
    // The charge precedes all work whose time depends on rows: every reader may ask for the
    // ledger's totals.
    const { balance, mechanisms, isMine } = await this.#charge(closed);
    trace.step('draw', Math.max(closed.dueFromMs, clock.nowMs()));
    if (!isMine) runner.drop(this.studyId, epoch);
    const isReady = isMine && await this.#summarised(closed);
    const drawn = closed.kind === 'release' && isReady
      ? await this.#draw(epoch) : this.#interrupted();
    const { release, outcomes } = this.#sign(closed, drawn.outcomes, balance, mechanisms);
    const series = this.#goesOn(drawn.series, outcomes);
    const publishedAtMs = await this.#untilDue(deadline, epoch);
    trace.step('publish', publishedAtMs);
    await store.storeRelease({ ...release, nowMs: clock.nowMs(), series });
    this.#count += 1;
    this.#digest = release.digest;
    emit({ kind: 'release', studyId: this.studyId, release });
    trace.end({
      'keelson.release': release.index,
      'keelson.outcome': outcomes.map((outcome) =>
        (outcome.kind === 'value' ? 'value' : outcome.reason)),
    }, Math.max(publishedAtMs, clock.nowMs()));
    this.#tell(closed, outcomes, release.index);
    await this.#exclude(epoch, release.index, publishedAtMs);
  }

  /**
   * Waits until the release may show. This precedes the storing of the bytes, because readers of
   * the log see stored releases.
   * @returns the planned Unix time that was reached.
   */
  async #untilDue(deadline: Deadline, epoch: bigint): Promise<number> {
    const { atMs, fits } = await deadline.reached();
    const { study } = this.definition.document;
    if (!fits) {
      // The log reveals no more than the release times that every reader sees.
      this.context.logger.warn(
        { study, epoch }, 'a release did not fit its planned time: give a longer releaseTick',
      );
    }
    return atMs;
  }

  /**
   * Decides which keys later epochs leave out. The duration of the work depends on rows. The next
   * epoch, the next release or the end of the study may wait for it, so it has its own planned
   * time.
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
   * Logs a release after its bytes are stored, so not before the tick. The log line has only what
   * the public release has: the epoch, the kind of outcome, the reason of a refusal, the cost. It
   * does not have the number of contributors or the duration of the work.
   */
  #tell({ held }: ClosedEpoch, outcomes: readonly Outcome[], index: number): void {
    const { document: { study, privacy }, questions } = this.definition;
    const { epsilon, delta } = privacy;
    const kinds = outcomes.map((outcome, i) => (outcome.kind === 'value'
      ? { outcome: outcome.kind } : {
        outcome: outcome.kind, reason: outcome.reason,
        ...(this.#isRunning(i) && { runningTotal: 'ends' }),
      }));
    const answers = Object.fromEntries(
      questions.map(({ question }, i) => [question.name, kinds[i]]));
    this.context.logger.info(
      { study, epoch: held.epoch, release: index, questions: answers, epsilon, delta },
      'a release is published',
    );
  }

  /**
   * If rows were taken back, discards the summaries and rebuilds them from the journal, which no
   * longer has those rows. Assignment key, work seed and the order of the remaining rows are the
   * same. So the result is bit for bit that of an epoch that never had the withdrawn rows.
   * Subtracting rows from sums would not achieve that. No noise was drawn yet, and nothing has read
   * the values of the first summaries. It happens once per epoch, so many withdrawals cannot keep
   * the server busy. Where summaries are read from the journal, this is the only pass,
   * and several nodes may share it.
   * @returns false when the epoch cannot be rebuilt.
   */
  async #summarised({ held, kind }: ClosedEpoch): Promise<boolean> {
    const { runner, drained, logger, readsJournal } = this.context;
    if (kind !== 'release' || !(held.withdrawn || readsJournal)) return true;
    // Batches whose verdicts are not handled yet are in the journal already. They would be counted
    // twice.
    await drained();
    runner.drop(this.studyId, held.epoch);
    try {
      await summariseTogether(this.context, this.definition, this.studyId, held);
      return true;
    } catch (error) {
      if (error instanceof StorageError
          || (error instanceof KeelsonError && error.code === 'closed')) throw error;
      const { study } = this.definition.document;
      logger.error({ study, epoch: held.epoch, err: error }, 'an epoch cannot be rebuilt; it ends '
        + 'as interrupted');
      runner.drop(this.studyId, held.epoch);
      return false;
    }
  }

  /**
   * With public participation it is public that an epoch had no contributors. No noise is drawn,
   * nothing is charged.
   */
  async #isFree(closed: ClosedEpoch): Promise<boolean> {
    if (closed.kind !== 'release' || this.definition.document.participation !== 'public') {
      return false;
    }
    return await this.context.store.contributorCount(this.studyId, closed.held.epoch) === 0;
  }

  /**
   * Such an epoch holds no rows, only the secrets of its groups. So a reader that blocks the
   * deletion stops nothing.
   */
  async #forget(epoch: bigint): Promise<void> {
    const { store, logger } = this.context;
    try {
      await store.purgeEpoch(this.studyId, epoch);
    } catch (error) {
      if (!(error instanceof StorageError && error.retryable)) throw error;
      const { study } = this.definition.document;
      logger.warn(
        { study, epoch, err: error }, 'the keys of an empty epoch stay until it is purged',
      );
    }
  }

  async #charge(closed: ClosedEpoch): Promise<ChargeResult & { readonly mechanisms: string }> {
    const { store } = this.context;
    const { held, kind, dueFromMs } = closed;
    const planned = eventsToJson(this.definition.events);
    if (kind !== 'interrupted') {
      const charged = await store.chargeEpoch(this.studyId, held.epoch, planned, dueFromMs);
      return { ...charged, mechanisms: planned };
    }
    // A newer program may plan differently. The events that the ledger has for the charge are in
    // force.
    const { key } = this.definition.budget;
    const entries = await store.ledgerEntries(key, ledgerPage);
    const entry = entries.find(({ kind: name, studyId, epoch }) =>
      name === 'charged' && studyId === this.studyId && epoch === held.epoch);
    const mechanisms = entry?.events ?? planned;
    const charged =
      await store.chargeEpoch(this.studyId, held.epoch, mechanisms, dueFromMs);
    return { ...charged, mechanisms };
  }

  /**
   * Called when the charge is durable. Any failure from here on concerns this epoch alone, and the
   * charge stays.
   */
  async #draw(epoch: bigint): Promise<Drawn> {
    const before = await this.#seriesBefore();
    const known = await this.#knownKeys();
    const { runner, drained, logger } = this.context;
    const { study } = this.definition.document;
    try {
      await drained();
      const { outcomes, failures, series } = await runner
        .release(this.studyId, epoch, before, known);
      for (const failure of failures) {
        logger.error(
          { study, epoch, ...failure }, 'the release of a question failed; the others go on',
        );
      }
      return { outcomes, series };
    } catch (error) {
      logger.error({ study, epoch, err: error }, 'a release failed; it ends as interrupted');
      return this.#interrupted();
    }
  }

  #interrupted(): Drawn {
    return { outcomes: this.definition.questions.map(() => interrupted), series: [] };
  }

  /** The series that the last stored release handed on; undefined without running totals. */
  async #seriesBefore(): Promise<SeriesInput | undefined> {
    if (this.definition.document.running === undefined) return undefined;
    const series = await this.context.store.series?.(this.studyId) ?? [];
    return { key: this.context.seriesKey(), series };
  }

  /**
   * The keys that the stored releases of the study showed; undefined if it does not remember keys.
   * They are read again for each release, so a restart changes nothing.
   */
  async #knownKeys(): Promise<readonly KnownKeys[] | undefined> {
    const questions = this.definition.questions.map(({ question }) => question);
    if (!remembersKeys(questions)) return undefined;
    const remembered = new RememberedKeys(questions);
    const from = Math.max(0, this.#count - releasesRemembered);
    // One at a time: a body may have several megabytes.
    for (let index = from; index < this.#count; index++) {
      const [release] = await this.context.store.releases(this.studyId, index, 1);
      const body = decodeReleaseBody(release!.body);
      remembered.take(body.answers.map(({ outcome }) => outcome));
    }
    return remembered.known;
  }

  #isRunning(question: number): boolean {
    return this.definition.questions[question]!.plan.running !== undefined;
  }

  /** A series goes on from a release that is published with its answer. */
  #goesOn(
    series: readonly EncryptedSeries[], outcomes: readonly Outcome[],
  ): readonly EncryptedSeries[] {
    const { questions } = this.definition;
    return series.filter(({ question: name }) =>
      outcomes[questions.findIndex(({ question }) => question.name === name)]?.kind === 'value');
  }

  #sign(
    closed: ClosedEpoch, drawn: readonly Outcome[], balance: LedgerBalance, mechanisms: string,
  ): { readonly release: ReleaseRecord; readonly outcomes: readonly Outcome[] } {
    const { held, closedAtMs } = closed;
    const { rho, delta, epoch } = held;
    const signed = (outcomes: readonly Outcome[]): ReleaseRecord =>
      signRelease(this.definition, this.context.signer, {
        studyId: this.studyId, index: this.#count, epoch, rho, delta, balance, mechanisms,
        closedAtMs, previousDigest: this.#digest,
        outcomes: outcomes.map((outcome, i) =>
          (this.#isRunning(i) ? runningOutcome(outcome) : outcome)),
      });
    const attempt = (outcomes: readonly Outcome[]): ReleaseRecord | null => {
      try {
        return signed(outcomes);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        this.context.logger
          .error({ epoch, err: error }, 'an outcome does not fit the wire; it is refused');
        return null;
      }
    };
    const release = attempt(drawn);
    if (release !== null) return { release, outcomes: drawn };
    // One question's outcome that does not fit must not spoil the others.
    const none = this.#interrupted().outcomes;
    const outcomes = drawn.length === 1 ? none : drawn.map((outcome, i) =>
      (attempt(none.with(i, outcome)) === null ? failedOutcome : outcome));
    return { release: signed(outcomes), outcomes };
  }
}
