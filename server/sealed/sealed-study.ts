import { signing } from '#signing';
import { InvariantError, KeelsonError, StorageError } from '../../src/base/errors.js';
import { sealedProgramsOf } from '../../src/plan-sealed.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { decodeBody, type ServerIndex } from '../../src/sealed/shares/body.js';
import { ProofError } from '../../src/sealed/proof/verifier.js';
import { openBoxOf } from '../../src/sealed/shares/opening.js';
import { UnusableEntryError } from '../../src/sealed/shares/unusable.js';
import type { EpochProgress } from '../epochs/contract.js';
import type {
  AdmissionResult, EpochRecord, StudyRecord, WithdrawalRequest, WithdrawalResult,
} from '../store/contract.js';
import type { StudyView, SubmitResult, VerifiedBatch } from '../studies/contract.js';
import type { HubContext } from '../studies/context.js';
import type { StudyDefinition } from '../studies/definition.js';
import { LatestView, type StudyIdentity } from '../studies/latest-view.js';
import type { LiveStudyOptions } from '../studies/live/live-study-options.js';
import type { LocalStudy, StudyMode } from '../studies/study-list.js';
import { answerOf } from '../studies/live/submit-answer.js';
import type { Mesh } from './mesh.js';
import { PeerLostError, type PeerLinks } from './peer-link.js';
import { SealedEpochs } from './sealed-epochs.js';
import { Session } from './session.js';

export interface SealedStudyOptions extends LiveStudyOptions {
  readonly server: ServerIndex;
  readonly mesh: Pick<Mesh, 'connected' | 'interrupt' | 'close'>;
  /** The time for which another server may be silent during a release, in milliseconds. */
  readonly timeoutMs: number;
}

const retryMs = { least: 100, most: 5_000 } as const;

/**
 * One server's part of a sealed study. Server 0 is the front: contributors and readers connect to
 * it, and it decides when epochs open and close. The two others follow it, each with its own
 * ledger, noise and signature.
 *
 * All three must be connected while an epoch opens and while it is released. What they do then is
 * one session: each says how far its store is, the one that lacks a release gets it, and the front
 * leads from there. Whatever goes wrong ends the session at all three: they close their links,
 * connect anew and begin with what their stores have. So the stores alone decide:
 * - Nobody charged: a new attempt, with new key streams. Nothing of the earlier one was opened.
 * - Somebody charged and nobody has a release: all charge, and sign `refused: interrupted`. Noise
 *   is never drawn twice for the same epoch.
 * - Somebody has the release with three signatures: the others store the same bytes.
 *
 * Claim. What this server lets others learn of an epoch is charged in its own ledger before.
 * Why. Its first opening leaves after `chargeEpoch` has resolved (`runAttempt`), and that call made
 * the charge (`isMine`), so no other attempt of this server opened anything of the epoch.
 */
export class SealedStudy implements LocalStudy {
  readonly #view: LatestView;
  readonly #epochs: SealedEpochs;
  readonly #programs: readonly SealedProgram[];
  #mode: StudyMode;
  #isHeld: boolean;
  #isOver = false;
  #loop: Promise<void> = Promise.resolve();
  #session: Session | null = null;
  #stopWaiting: (() => void) | null = null;
  #isStopped = false;

  constructor(
    private readonly context: HubContext, readonly definition: StudyDefinition,
    readonly identity: StudyIdentity, record: StudyRecord,
    private readonly options: SealedStudyOptions,
  ) {
    this.#view = new LatestView(definition, identity);
    this.#epochs = new SealedEpochs(
      context, definition, identity.studyId, record, options.retention, options.server === 0,
    );
    this.#programs = sealedProgramsOf(definition);
    this.#mode = options.mode;
    this.#isHeld = options.held;
  }

  get view(): StudyView {
    const isOpen = this.#epochs.boxKeys !== null && this.#epochs.record?.state === 'open';
    return this.#view.of({
      state: this.#epochs.state,
      epoch: isOpen ? this.#epochs.record!.epoch : 0n,
      closesAtMs: isOpen ? this.#epochs.record!.closesAtMs : 0,
      releaseCount: this.#epochs.count,
      ...(isOpen && { boxKeys: this.#epochs.boxKeys! }),
    });
  }

  get mode(): StudyMode {
    return this.#mode;
  }

  get digest(): string {
    return this.#epochs.digest;
  }

  /** Contributors send to the front alone. */
  get isRunning(): boolean {
    return this.#isFront && !this.#isOver;
  }

  get #isFront(): boolean {
    return this.options.server === 0;
  }

  get #name(): string {
    return this.#epochs.document.study;
  }

  /** Resolves before the other servers are there. */
  async start(unfinished: readonly EpochRecord[]): Promise<void> {
    this.#epochs.resume(unfinished);
    this.#loop = this.#run().catch((error: unknown) => this.context.fatal(error));
  }

  abandon(): Promise<void> {
    return this.close();
  }

  /**
   * A sender learns at once that this server's box of its entry does not open. Whether it does
   * reveals nothing about anybody else's row: a box of another entry is refused, too (`openBoxOf`).
   */
  faultOf({ contributor, body, epoch }: VerifiedBatch): 'malformed' | undefined {
    const record = this.#epochs.record;
    if (record?.state !== 'open' || record.epoch !== epoch) return undefined;
    const forms = this.#programs.map(({ form }) => form);
    try {
      openBoxOf(signing, contributor, decodeBody(body, forms), {
        server: this.options.server, forms, boxSecret: record.assignmentKey,
      });
      return undefined;
    } catch (error) {
      if (error instanceof UnusableEntryError) return 'malformed';
      throw error;
    }
  }

  settle(_batch: VerifiedBatch, result: AdmissionResult): SubmitResult {
    return answerOf(this.definition, result);
  }

  withdraw(request: WithdrawalRequest): Promise<WithdrawalResult> {
    return this.context.store.withdraw(request);
  }

  async progress(): Promise<EpochProgress | null> {
    const { epoch } = this.view;
    if (epoch === 0n) return null;
    const count = await this.context.store.contributorCount(this.identity.studyId, epoch);
    return { contributors: count, complete: count, groupsReached: 0, groups: 0 };
  }

  /** The others learn in a new session that this server holds the study no more. */
  async begin(): Promise<void> {
    this.#isHeld = false;
    if (this.#session?.isSomeoneHeld === true) this.#session.end();
    this.#wake();
  }

  /** The open epoch is released as planned; none follows. */
  async end(): Promise<void> {
    this.#mode = 'end';
    this.#wake();
    this.options.mesh.interrupt();
  }

  async settled(): Promise<void> {
    while (this.#session?.isReleasing === true) {
      await new Promise<void>((resolve) => { this.context.clock.after(20, resolve); });
    }
  }

  /** Finishes a release whose charge was made, and leaves everything else to the next start. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.settled();
    this.options.mesh.close();
    this.#wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { mesh } = this.options;
    let delayMs: number = retryMs.least;
    while (!this.#isOver) {
      const links = await mesh.connected(this.#untilDueMs());
      if (this.#isOver) return;
      if (links === null) {
        await this.#whileAlone();
        continue;
      }
      shareFate(links);
      this.#session = this.#sessionOver(links);
      const beganMs = this.context.clock.monotonicMs();
      let code = 'ended';
      try {
        await this.#session.run();
      } catch (error) {
        if (isOwnFailure(error)) throw error;
        code = error instanceof ProofError ? error.reason
          : error instanceof KeelsonError ? error.code : 'internal';
        this.#note(error);
      } finally {
        for (const link of links.values()) link.close(code);
        this.#session = null;
      }
      // A session that lasted shows that the others work.
      const isLong = this.context.clock.monotonicMs() - beganMs > 30_000;
      delayMs = isLong ? retryMs.least : Math.min(2 * delayMs, retryMs.most);
      await this.#pause(delayMs);
    }
  }

  #sessionOver(links: PeerLinks): Session {
    const { context, definition } = this;
    const { server, timeoutMs } = this.options;
    return new Session({
      context, definition, server, links, timeoutMs, epochs: this.#epochs, programs: this.#programs,
      isHeld: () => this.#isHeld, isOver: () => this.#isOver, isDone: () => this.#isDone(),
      stop: () => this.#stop(),
    });
  }

  /** Ends a wait early: there is something else to do. */
  #wake(): void {
    this.#stopWaiting?.();
    this.#session?.wake();
  }

  #note(error: unknown): void {
    if (this.#isOver) return;
    const { logger } = this.context;
    const { heldEpoch, sealed: { servers } } = this.#epochs;
    if (error instanceof ProofError && error.reason === 'proof') {
      logger.error({
        study: this.#name, epoch: heldEpoch,
        servers: servers.map(({ name }) => name).filter((_, i) => i !== this.options.server),
      }, 'one of the two other servers sent a message that is wrong: the study is held until '
        + 'keelson studies --resume with this epoch');
      return;
    }
    const by = error instanceof PeerLostError ? error.server : null;
    const what = {
      study: this.#name, epoch: this.#epochs.record?.epoch ?? 0n, err: error,
      ...(by !== null && { server: this.#epochs.sealed.servers[by].name }),
    };
    if (error instanceof PeerLostError && error.reason === 'closed') {
      logger.info(what, 'another server is away: the three servers will connect anew');
    } else {
      logger.warn(what, 'the three servers begin anew');
    }
  }

  /** True if nothing more will happen. */
  #isDone(): boolean {
    return this.#isFront && this.#epochs.record === null
      && (this.#mode !== 'run' || this.#epochs.state !== 'open');
  }

  /** @returns false when this was reported before. */
  async #stop(): Promise<boolean> {
    if (this.#isStopped) return false;
    this.#isStopped = true;
    const { store, emit, logger } = this.context;
    const { studyId } = this.identity;
    if (this.#mode === 'end' && this.#epochs.state === 'open') {
      await store.setStudyState(studyId, 'ended');
      this.#epochs.state = 'ended';
    }
    logger.info({ study: this.#name, state: this.#epochs.state }, 'a study stopped');
    emit({ kind: 'study-stopped', studyId, state: this.#epochs.state });
    this.options.onDone();
    return true;
  }

  // ---- time

  /** Until the front must do something by itself, without the others. */
  #untilDueMs(): number | null {
    const record = this.#epochs.record;
    if (!this.#isFront || record === null) return null;
    const nowMs = this.context.clock.nowMs();
    if (record.state === 'open') return Math.max(0, record.closesAtMs - nowMs);
    if (record.state === 'closing') return Math.max(0, this.#epochs.patientUntilMs() - nowMs);
    return null;
  }

  /** The others are away when an epoch closes, or when patience ends. */
  async #whileAlone(): Promise<void> {
    const record = this.#epochs.record;
    if (record === null || this.#untilDueMs() !== 0) return;
    if (record.state === 'open') await this.#epochs.closeEpoch();
    else await this.#epochs.giveUp();
  }

  async #pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.context.clock.after(delayMs, resolve);
      this.#stopWaiting = () => { cancel(); resolve(); };
    });
    this.#stopWaiting = null;
  }
}

/**
 * A session without one of the three servers is none: when a link closes, so does the other. A
 * server that reads from one link would not see that the other is lost. It would end its session
 * late, and with it the new session of somebody else, again and again. Both links end for the
 * reason of the first, so that the right server is named.
 */
function shareFate(links: PeerLinks): void {
  for (const link of links.values()) {
    void link.closed.then(() => {
      for (const other of links.values()) if (other.isOpen) other.close('closed', link.lost!);
    });
  }
}

function isOwnFailure(error: unknown): boolean {
  return error instanceof StorageError || error instanceof InvariantError
    || !(error instanceof Error);
}
