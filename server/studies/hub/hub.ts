import { signing } from '#signing';
import { fromHex } from '../../../src/base/bytes.js';
import { InvalidParameterError, KeelsonError, WireError } from '../../../src/base/errors.js';
import type { KeyShare } from '../../../src/base/key-share.js';
import { protocolLimits } from '../../../src/base/limits.js';
import { findEstimator as findRegistered } from '../../../src/estimators/registry.js';
import { signReady, signShare, type KeyRotation } from '../../../src/signing/index.js';
import { machineBytes } from '../../base/memory.js';
import {
  recordsInMemory, type HeldStudies, type PausedStudies,
} from '../../base/operator-records.js';
import { noTracing } from '../../base/tracing.js';
import { isShared } from '../../store/shared.js';
import type { EpochProgress, EpochRunner } from '../../epochs/contract.js';
import type { HubEvent, StudyHub, StudyView, SubmitResult, VerifiedBatch } from '../contract.js';
import type {
  AdmissionRequest, ContributorState, LedgerBalance, ReleaseRecord, WithdrawalRequest,
  WithdrawalResult,
} from '../../store/contract.js';
import type { Quarantine, Rollback } from '../../store/records.js';
import { AdmissionQueue } from '../live/admission-queue.js';
import { BudgetTurns } from '../budget-turns.js';
import type { HubContext } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import { gatherEvidence } from '../keep/evidence.js';
import type { ContributorEvidence, QuarantineOutcome } from '../evidence-contract.js';
import type { RunningHub, StudyHubOptions } from './hub-options.js';
import { refuseSealed } from '../live/open-sealed.js';
import { quarantineIfFar } from '../keep/quarantine.js';
import { noStudyStarts, type RefusedStudy } from '../refused-study.js';
import { signHead } from '../release/release-body.js';
import { SharedStudySet } from '../shared/shared-study-set.js';
import { slicingOf } from '../release/slices.js';
import type { NodeHealth } from '../node-health.js';
import type { HubStudy, StudyList } from '../study-list.js';
import { StudySet } from '../live/study-set.js';

export type { RunningHub, StudyHubOptions } from './hub-options.js';

/**
 * Runs studies over a store: continues the work of an earlier process, opens epochs on schedule,
 * accepts batches, releases. Resolves when every study has an open epoch, or cannot have one. A
 * study that contradicts the store, or cannot be continued from it, is logged and left out
 * (`refused`). So one broken study never stops the others.
 * @throws KeelsonError('invalid-study') when every study is refused, or with `strict` when one is;
 *   StorageError when the store fails.
 */
export async function createStudyHub(options: StudyHubOptions): Promise<RunningHub> {
  const hub = new Hub(options);
  try {
    await hub.start();
  } catch (error) {
    await hub.abandon();
    throw error;
  }
  return hub;
}

class Hub implements RunningHub {
  readonly serverKey: Uint8Array;
  readonly rotations: readonly KeyRotation[];
  readonly #queue: AdmissionQueue;
  readonly #runner: EpochRunner;
  readonly #studies: StudyList;
  readonly #paused: PausedStudies;
  readonly #held: HeldStudies;
  readonly #listeners = new Set<(event: HubEvent) => void>();
  #refused: readonly RefusedStudy[];
  #failure: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(private readonly options: StudyHubOptions) {
    const { store, clock, signer, logger } = options;
    const fatal = (error: unknown): void => this.#fail(error);
    this.serverKey = signer.publicKey;
    this.#refused = options.refused ?? [];
    this.#paused = options.paused ?? recordsInMemory().paused;
    this.#held = options.heldStudies ?? recordsInMemory().held;
    this.rotations = options.rotations ?? [];
    this.#queue = new AdmissionQueue(store, fatal);
    this.#runner = options.runnerFactory(fatal);
    const context: HubContext = {
      store, clock, signer, logger, fatal,
      tracing: options.tracing ?? noTracing,
      runner: this.#runner,
      findEstimator: options.findEstimator ?? findRegistered,
      releaseTickMs: checkedTick(options.releaseTickMs ?? 0),
      memoryBytes: options.memoryBytes ?? machineBytes(),
      seriesKey: once(options.seriesKey ?? (() => signing.randomBytes(32))),
      isPaused: (studyId) => this.#paused.has(studyId), heldStudies: this.#held,
      turns: new BudgetTurns(), readsJournal: isShared(store),
      ...slicingOf(options),
      emit: (event) => this.#emit(event),
      drained: () => this.#queue.drained(),
      stopped: () => this.#failure !== undefined,
    };
    const held = options.held ?? false;
    this.#studies = isShared(store)
      ? new SharedStudySet({ ...context, store }, held)
      : new StudySet(context, held, options.openSealed ?? refuseSealed);
  }

  async start(): Promise<void> {
    const { studies, strict = false, logger } = this.options;
    this.#refused = [...this.#refused, ...await this.#studies.startAll(studies, strict)];
    for (const { study, error } of this.#refused) {
      // The fault is in the file: a stack trace would only show where the server found it.
      const { message: reason } = error;
      logger.error({ study, reason }, 'a study cannot start and is left out; the others run');
    }
    if (this.#refused.length > 0 && this.#studies.all().every(({ mode }) => mode !== 'run')) {
      throw noStudyStarts(this.#refused);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** After a failed start: stops everything that runs. */
  async abandon(): Promise<void> {
    this.#failure ??= new KeelsonError('closed', 'the hub did not start');
    await this.#studies.close();
    await this.#runner.close();
  }

  studies(): readonly StudyView[] {
    return this.#studies.all().map((study) => study.view);
  }

  study(studyId: string): StudyView | undefined {
    return this.#studies.get(studyId)?.view;
  }

  async submit(batch: VerifiedBatch): Promise<SubmitResult> {
    const study = this.#studies.get(batch.studyId);
    if (study === undefined) return refusal('unknown-study');
    if (!study.isRunning) return refusal('epoch-not-open');
    if (this.#closing !== undefined) return refusal('shutting-down');
    if (this.#failure !== undefined) {
      throw new KeelsonError(
        'internal', 'the server stopped after a failure', { cause: this.#failure },
      );
    }
    return this.#queue.submit(requestOf(batch, study), bytesHeld(batch), (result) =>
      study.settle(batch, result));
  }

  async withdraw(request: Omit<WithdrawalRequest, 'nowMs'>): Promise<WithdrawalResult> {
    const study = this.#studies.get(request.studyId);
    if (study === undefined) return { kind: 'refused', code: 'too-late' };
    if (!study.isRunning) return { kind: 'refused', code: 'epoch-not-open' };
    if (this.#failure !== undefined) {
      throw new KeelsonError(
        'internal', 'the server stopped after a failure', { cause: this.#failure },
      );
    }
    // Batches that were submitted earlier reach the store earlier.
    const earlier = this.#queue.drained();
    const [result] = await Promise.all([
      study.withdraw({ ...request, nowMs: this.options.clock.nowMs() }).catch((error: unknown) => {
        this.#fail(error);
        throw error;
      }),
      earlier,
    ]);
    return result;
  }

  overloaded(): boolean {
    return this.#queue.batches >= protocolLimits.journalQueueBatches
      || this.#queue.bytes >= protocolLimits.journalQueueBytes
      || this.#runner.backlogBytes >= protocolLimits.journalQueueBytes;
  }

  admits(studyId: string, contributor: Uint8Array): boolean {
    const study = this.#studies.get(studyId);
    if (study === undefined) return false;
    const { enrolled } = study.definition;
    return enrolled === null || enrolled.has(hexOf(contributor));
  }

  contributorState(studyId: string, contributor: Uint8Array): Promise<ContributorState> {
    return this.options.store.contributorState(studyId, hexOf(contributor));
  }

  releases(...which: Parameters<StudyHub['releases']>): Promise<readonly ReleaseRecord[]> {
    return this.options.store.releases(...which);
  }

  async head(studyId: string): Promise<{
    readonly body: Uint8Array; readonly signature: Uint8Array;
  }> {
    const study = this.#study(studyId);
    // So that no reader sees a log that is older than the one another node has shown it.
    if (this.#studies.refresh !== undefined) await this.#studies.refresh();
    const { releaseCount, state } = study.view;
    return signHead(
      this.options.signer, { studyId, count: releaseCount, digest: study.digest, state },
    );
  }

  signReady(
    studyId: string, contributor: Uint8Array, serverNonce: Uint8Array, clientNonce: Uint8Array,
  ): Uint8Array {
    return signReady(
      this.options.signer, fromHex(studyId), contributor, { serverNonce, clientNonce },
    );
  }

  signShare(share: Omit<KeyShare, 'signature'>): Uint8Array {
    return signShare(this.options.signer, share, signing);
  }

  balances(): Promise<readonly LedgerBalance[]> {
    return this.options.store.balances();
  }

  async rollbacks(): Promise<readonly Rollback[]> {
    return (await this.options.store.rollbacks?.()) ?? [];
  }

  leftOut(studyId: string): Promise<number> {
    return this.options.store.leftOutCount(studyId, this.#study(studyId).view.epoch);
  }

  async evidence(studyId: string, contributor: Uint8Array): Promise<ContributorEvidence> {
    return (await gatherEvidence(
      this.options.store, this.#study(studyId).view, contributor,
    )).evidence;
  }

  quarantine(studyId: string, contributor: Uint8Array): Promise<QuarantineOutcome> {
    const { store, clock } = this.options;
    return quarantineIfFar(store, this.#study(studyId).view, contributor, clock.nowMs());
  }

  async quarantines(studyId: string, limit: number): Promise<readonly Quarantine[]> {
    return (await this.options.store.quarantines?.(studyId, limit)) ?? [];
  }

  async progress(studyId: string): Promise<EpochProgress | null> {
    const study = this.#study(studyId);
    const progress = await study.progress();
    if (progress === null) return null;
    const came = await this.options.store.peopleCount(studyId, study.view.epoch);
    return { ...progress, people: { came, most: study.definition.peopleMax } };
  }

  onEvent(listener: (event: HubEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  addStudy(definition: StudyDefinition): Promise<void> {
    return this.#studies.add(definition);
  }

  refused(): readonly RefusedStudy[] {
    return this.#refused;
  }

  noteRefused(refused: readonly RefusedStudy[]): void {
    this.#refused = refused;
  }

  async startStudy(studyId: string): Promise<void> {
    const study = this.#study(studyId);
    if (!this.#paused.has(studyId)) await study.begin();
  }

  async endStudy(studyId: string): Promise<void> {
    const study = this.#study(studyId);
    const { store } = this.options;
    if (isShared(store)) await store.askEnd(studyId);
    else await study.end();
  }

  async pauseStudy(studyId: string): Promise<void> {
    const study = this.#study(studyId);
    if (study.pause === undefined) {
      throw new KeelsonError('unsupported', 'a study that several servers run cannot be paused: '
        + 'end it, or let it run');
    }
    this.#paused.set(studyId, true);
    study.pause();
  }

  async resumeStudy(studyId: string, epoch?: bigint): Promise<void> {
    const study = this.#study(studyId);
    const heldEpoch = this.#held.epochOf(studyId);
    if (heldEpoch !== null && heldEpoch !== epoch) {
      throw new KeelsonError('unsupported', 'a message of another server was wrong in epoch '
        + `${heldEpoch}: find out why with the other operators, then resume this epoch`);
    }
    if (heldEpoch !== null) this.#held.set(studyId, null);
    else if (this.#paused.has(studyId)) this.#paused.set(studyId, false);
    else return;
    await study.begin();
  }

  isPaused(studyId: string): boolean {
    return this.#paused.has(studyId);
  }

  node(): NodeHealth | null {
    return this.#studies.health?.() ?? null;
  }

  storeFull(): boolean {
    return (this.options.store.fullBecause?.() ?? null) !== null;
  }

  async settled(): Promise<void> {
    await this.#queue.drained();
    await this.#studies.settled();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.drained();
    await this.#studies.close();
    await this.#runner.close();
  }

  #study(studyId: string): HubStudy {
    const study = this.#studies.get(studyId);
    if (study === undefined) {
      throw new WireError('unknown-study', 'this server runs no study with that id');
    }
    return study;
  }

  #emit(event: HubEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.options.logger
          .error({ event: event.kind, err: error }, 'a listener of the hub failed');
      }
    }
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = error instanceof Error
      ? error
      : new KeelsonError('internal', 'the server failed', { cause: error });
    this.options.logger.error(
      { err: error },
      'the server stops: what is durable stays, and the next start continues from it',
    );
    this.options.onFatal(this.#failure);
  }
}

function checkedTick(releaseTickMs: number): number {
  if (Number.isInteger(releaseTickMs) && releaseTickMs >= 0 && releaseTickMs <= 60_000) {
    return releaseTickMs;
  }
  throw new InvalidParameterError(
    'releaseTickMs is a whole number of milliseconds from 0 to 60000', { releaseTickMs },
  );
}

function requestOf(batch: VerifiedBatch, study: HubStudy): AdmissionRequest {
  const { studyId, sequence, epoch, last, rows, digest, body, signature } = batch;
  const { definition } = study;
  const rejectAs = batch.rejectAs ?? study.faultOf?.(batch)
    ?? (fits(batch, definition) ? undefined : 'wrong-columns');
  return {
    studyId, contributor: hexOf(batch.contributor), sequence, epoch, last, rows, digest, body,
    signature, peopleMax: definition.peopleMax, ...(rejectAs !== undefined && { rejectAs }),
  };
}

/** Rows that are read in place share the body's memory, so they are not counted again. */
function bytesHeld({ body, values }: VerifiedBatch): number {
  return body.length
    + (values === undefined || values.buffer === body.buffer ? 0 : values.byteLength);
}

/** Repeats checks of the listener: embedding code may not have made them. */
function fits({ values, rows, columns }: VerifiedBatch, definition: StudyDefinition): boolean {
  const { length: dimension } = definition.document.columns;
  if (definition.document.sealed !== undefined) return true;
  return values !== undefined && rows > 0 && columns === dimension
    && values.length === rows * columns;
}

function refusal(
  code: 'unknown-study' | 'epoch-not-open' | 'shutting-down',
): SubmitResult {
  return { verdict: 'rejected', code };
}

function hexOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex');
}

/** Calls `make` when its value is first needed. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
