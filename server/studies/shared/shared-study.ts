import { protocolLimits } from '../../../src/base/limits.js';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import type { EpochProgress } from '../../epochs/contract.js';
import type {
  AdmissionResult, StudyRecord, StudyStateName, WithdrawalRequest, WithdrawalResult,
} from '../../store/contract.js';
import type { SharedStore, StudyStanding } from '../../store/shared.js';
import type { HubContext } from '../context.js';
import type { StudyView, SubmitResult, VerifiedBatch } from '../contract.js';
import type { StudyDefinition } from '../definition.js';
import { LatestView, type StudyIdentity } from '../latest-view.js';
import { LeadingStudy } from './leading-study.js';
import { concernsOneStudy } from '../refused-study.js';
import { answerOf } from '../live/submit-answer.js';
import type { HubStudy, StudyMode } from '../study-list.js';

/** After a failed start as a leader, another node gets this long to try. */
const retryMs = 60_000;
/**
 * After handing over, this node waits this long before it leads the study again if nobody else
 * does.
 */
const handedMs = 5_000;

export interface SharedStudyOptions {
  readonly mode: StudyMode;
  /** No epoch opens before `begin`. */
  readonly held: boolean;
  /**
   * The time for which the lease must have been free before this node takes it, in milliseconds.
   */
  readonly freeMs: number;
  /** Called when the leader has committed something, so that it is read at once. */
  readonly onCommit: () => void;
  /** Called when the study has nothing more to do, possibly more than once. */
  readonly onDone: () => void;
}

/** State that every shared study of a node has. */
export interface SharedContext extends HubContext {
  readonly store: SharedStore;
}

/**
 * One study on a node of a shared store. It takes batches and serves readers on every node. They
 * get only facts that were read from the store, so every node reports the same. While this node has
 * the lease, it also runs the schedule (LeadingStudy).
 */
export class SharedStudy implements HubStudy {
  readonly #view: LatestView;
  #standing: StudyStanding;
  #state: StudyStateName;
  #count: number;
  #digest: string;
  #mode: StudyMode;
  #isHeld: boolean;
  #leading: LeadingStudy | null = null;
  /** The attempt to lead, from the question for the lease to its end. */
  #attempt: Promise<void> | null = null;
  #notBeforeMs = 0;
  /** True if this node once could not lead. It then leads only if no other node does. */
  #hasFailed = false;
  #isClosing = false;

  constructor(
    private readonly context: SharedContext, readonly definition: StudyDefinition,
    readonly identity: StudyIdentity, standing: StudyStanding,
    private readonly options: SharedStudyOptions,
  ) {
    this.#view = new LatestView(definition, identity);
    this.#standing = standing;
    this.#state = standing.state;
    this.#count = standing.releaseCount;
    this.#digest = standing.lastDigest;
    this.#mode = options.mode;
    this.#isHeld = options.held;
  }

  get view(): StudyView {
    return this.#view.of({
      state: this.#state, epoch: this.#standing.open?.epoch ?? 0n,
      closesAtMs: this.#standing.open?.closesAtMs ?? 0, releaseCount: this.#count,
    });
  }

  get mode(): StudyMode {
    return this.#mode;
  }

  get digest(): string {
    return this.#digest;
  }

  get isRunning(): boolean {
    return true;
  }

  /** True if this node leads it. */
  get leads(): boolean {
    return this.#leading !== null;
  }

  /** True if this node may ask the leader for the study. */
  get mayAsk(): boolean {
    return !this.#hasFailed && !this.#isClosing && this.#mode === 'run';
  }

  get standing(): StudyStanding {
    return this.#standing;
  }

  settle(_: VerifiedBatch, result: AdmissionResult): SubmitResult {
    return answerOf(this.definition, result);
  }

  withdraw(request: WithdrawalRequest): Promise<WithdrawalResult> {
    return this.context.store.withdraw(request);
  }

  /** Groups are not known while rows arrive: summaries are read from the journal at the release. */
  async progress(): Promise<EpochProgress | null> {
    const { open } = this.#standing;
    if (open === null) return null;
    const tally = await this.context.store.tally(this.identity.studyId, open.epoch);
    return { ...tally, groupsReached: 0, groups: 0 };
  }

  async begin(): Promise<void> {
    this.#isHeld = false;
    await this.#leading?.begin();
  }

  /** The leader of the study opens no further epoch, nor does this node if it leads later. */
  async end(): Promise<void> {
    this.#mode = 'end';
    await this.#leading?.end();
  }

  /** Reports the changes since the last reading. Call it in the order of the readings. */
  async follow(standing: StudyStanding): Promise<void> {
    const { emit } = this.context;
    const { studyId } = this.identity;
    const before = this.#standing;
    this.#standing = standing;
    if (standing.open !== null && standing.open.epoch !== before.open?.epoch) {
      const { epoch, closesAtMs } = standing.open;
      emit({ kind: 'epoch-opened', studyId, epoch, closesAtMs });
    }
    await this.#readReleases(standing.releaseCount);
    // The store has the state from the moment that no epoch follows. Readers are told when the last
    // release is in the log, however long it takes, since they then wait for no other.
    const state = standing.isUnfinished ? 'open' : standing.state;
    if (state !== this.#state) {
      this.#state = state;
      if (state !== 'open') emit({ kind: 'study-stopped', studyId, state });
    }
    if (standing.ends && this.#mode === 'run') await this.end();
  }

  /** Takes the lead if no node has it. Resolves when the study runs, or another node leads. */
  async tryToLead(): Promise<void> {
    if (this.#attempt !== null || this.#isClosing || this.#standing.leader === 'other'
      || this.context.clock.monotonicMs() < this.#notBeforeMs) return;
    let started = (): void => {};
    const start = new Promise<void>((resolve) => { started = resolve; });
    this.#attempt = this.#lead(started)
      .catch((error: unknown) => this.#onFailure(error))
      .finally(() => { this.#attempt = null; started(); });
    await start;
  }

  /** Hands the lead over to the node that asks for it, when releases in progress are finished. */
  async handOver(): Promise<void> {
    if (this.#leading === null) return;
    this.#notBeforeMs = this.context.clock.monotonicMs() + handedMs;
    await this.stopLeading();
    this.#notBeforeMs = this.context.clock.monotonicMs() + handedMs;
  }

  /** Gives up the lead, when releases in progress are finished. */
  async stopLeading(): Promise<void> {
    await this.#leading?.stop();
    await this.#attempt;
  }

  async settled(): Promise<void> {
    await this.#leading?.settled();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.stopLeading();
  }

  async #lead(started: () => void): Promise<void> {
    const { store, logger } = this.context;
    const { studyId } = this.identity;
    const { freeMs, onCommit, onDone } = this.options;
    const leadership = await store.lead(studyId, freeMs);
    if (leadership === null) return;
    try {
      const record: StudyRecord | null = await store.study(studyId);
      if (record === null || this.#isClosing) return;
      const leading = new LeadingStudy(this.context, leadership, this.definition, this.identity, {
        record, held: this.#isHeld, onCommit, onDone,
        mode: this.#standing.ends ? 'end' : this.#mode,
      });
      this.#leading = leading;
      const { token } = leadership;
      logger.info({ study: this.view.name, token }, 'this server leads the study');
      await leading.run(started);
      logger.info({ study: this.view.name }, 'this server leads the study no more');
    } finally {
      this.#leading = null;
      // A lease that cannot be given back ends by itself.
      await leadership.release().catch(() => undefined);
    }
  }

  async #readReleases(count: number): Promise<void> {
    const { store, emit } = this.context;
    const { studyId } = this.identity;
    while (this.#count < count) {
      const page = await store.releases(studyId, this.#count, protocolLimits.releasesPerPage);
      if (page.length === 0) throw new StorageError('the release log is shorter than its study '
        + 'says: was an older copy of the database restored? Restore the newest one');
      for (const release of page) {
        this.#count = release.index + 1;
        this.#digest = release.digest;
        emit({ kind: 'release', studyId, release });
      }
    }
  }

  #onFailure(error: unknown): void {
    const { stopped, fatal, logger, clock } = this.context;
    if (stopped() || (error instanceof KeelsonError && error.code === 'closed')) return;
    const isAway = error instanceof StorageError && error.retryable;
    if (!isAway && !concernsOneStudy(error)) return fatal(error);
    this.#notBeforeMs = clock.monotonicMs() + retryMs;
    this.#hasFailed ||= !isAway;
    logger.error({ study: this.view.name, err: error },
      'this server cannot lead the study; another one may, and this one tries again in a minute');
  }
}
