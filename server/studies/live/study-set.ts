import { signing } from '#signing';
import { KeelsonError } from '../../../src/base/errors.js';
import { encodeStudyDocument, studyId as idOfFacts } from '../../../src/wire/index.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';
import type { EpochRecord, StudyRecord } from '../../store/contract.js';
import type { HubContext } from '../context.js';
import { defineStudy, type StudyDefinition } from '../definition.js';
import { LiveStudy } from './live-study.js';
import { reserveKeyMemory } from './key-memory.js';
import type { LiveStudyOptions } from './live-study-options.js';
import type { OpenSealed } from './open-sealed.js';
import { concernsOneStudy, isOwnFault, type RefusedStudy } from '../refused-study.js';
import { recoveriesMax } from '../release/recovery.js';
import {
  asStored, atStandingOrder, checkRoom, identityOf, moveBehind, register,
} from './registration.js';
import { Retention } from '../keep/retention.js';
import { readStored, refuseOldNames } from '../stored-facts.js';
import type { LocalStudy, StudyList, StudyMode } from '../study-list.js';

/**
 * The studies of a running server: the configured ones, and those that an earlier process left
 * unfinished.
 */
export class StudySet implements StudyList {
  readonly #live = new Map<string, LocalStudy>();
  /** Also has studies that no longer run, because their rows must be deleted too. */
  readonly #retentions = new Map<string, Retention>();
  /** Studies whose start failed, until their releases in progress are finished. */
  readonly #abandoned = new Map<string, Promise<void>>();

  /** @param held whether studies open their first epoch only at `LiveStudy.begin`. */
  constructor(
    private readonly context: HubContext, private readonly held: boolean,
    private readonly openSealed: OpenSealed,
  ) {}

  all(): readonly LocalStudy[] {
    return [...this.#live.values()];
  }

  get(studyId: string): LocalStudy | undefined {
    return this.#live.get(studyId);
  }

  /**
   * Registers and starts studies together, after continuing the work of an earlier process.
   * @param strict whether one refused study makes the start fail.
   * @returns the refused studies. If an earlier version of one has an open epoch, that is still
   *   released. This version is not ended, since no other took its name.
   */
  async startAll(
    definitions: readonly StudyDefinition[], strict: boolean,
  ): Promise<readonly RefusedStudy[]> {
    const { store } = this.context;
    const unfinished = await store.unfinishedEpochs();
    const refused: RefusedStudy[] = [];
    const names = new Set<string>();
    for (const definition of definitions) {
      const { study } = definition.document;
      try {
        await this.#register(definition);
        names.add(study);
      } catch (error) {
        if (strict || !isOwnFault(error)) throw error;
        refused.push({ study, error });
      }
    }
    for (const record of await store.studies()) {
      if (!this.#live.has(record.studyId)) await this.#takeUp(record, names, unfinished);
    }
    await Promise.all(this.all().map(async (live) => {
      try {
        await this.#start(live, unfinished);
      } catch (error) {
        const isAsked = live.mode === 'run';
        if ((strict && isAsked) || !isOwnFault(error)) throw error;
        const { study } = live.definition.document;
        if (isAsked) refused.push({ study, error });
        else this.#noteLeft(study, error);
      }
    }));
    await Promise.all([...this.#retentions.values()].map((retention) => retention.sweep()));
    return refused;
  }

  /**
   * Adds a study. Running versions of the same name end when their open epoch does, and the
   * listeners of the hub are notified. From now on every list has them after the new version, so
   * that a name means the newest version.
   */
  async add(definition: StudyDefinition): Promise<void> {
    const { study: name } = definition.document;
    const versions = this.all().filter((study) => study.definition.document.study === name);
    const study = await this.#register(definition);
    if (versions.includes(study)) return;
    await this.#start(study, await this.context.store.unfinishedEpochs());
    // Not earlier: if the new version cannot start, the one before continues.
    await Promise.all(versions.map((version) => version.end()));
    moveBehind(this.#live, versions, this.context);
  }

  async settled(): Promise<void> {
    await Promise.all(this.all().map((study) => study.settled()));
    await Promise.all(this.#abandoned.values());
    await Promise.all([...this.#retentions.values()].map((retention) => retention.sweep()));
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((study) => study.close()));
    await Promise.all(this.#abandoned.values());
    await Promise.all([...this.#retentions.values()].map((retention) => retention.close()));
  }

  /**
   * @throws KeelsonError('invalid-study') for an error that concerns this study alone. The study is
   *   then left out.
   */
  async #start(study: LocalStudy, unfinished: readonly EpochRecord[]): Promise<void> {
    const { studyId } = study.identity;
    try {
      await study.start(unfinished.filter((record) => record.studyId === studyId));
    } catch (error) {
      if (this.context.stopped() || !concernsOneStudy(error)) throw error;
      this.#live.delete(studyId);
      this.#abandoned.set(studyId, study.abandon());
      throw cannotStart(study.definition.document.study, error);
    }
  }

  /** The running study with these facts, or a new one. */
  async #register(given: StudyDefinition): Promise<LocalStudy> {
    const definition = await asStored(this.context, given);
    const facts = encodeStudyDocument(definition.document);
    const studyId = await idOfFacts(facts, signing);
    const running = this.#live.get(studyId);
    if (running !== undefined) return running;
    // Two instances must not release the same epochs.
    await this.#abandoned.get(studyId);
    checkRoom(this.#live.size);
    reserveKeyMemory([...this.#live.values()].map((study) => study.definition), definition,
      this.context.memoryBytes);
    const registered = await register(this.context, definition, studyId, facts);
    return this.#hold(registered.definition, registered.record, facts, 'run');
  }

  /**
   * Continues a study that is in the store and not configured. Rows that are due are deleted. An
   * epoch with acknowledged rows is released first. The study then ends for good if another version
   * took its name.
   */
  async #takeUp(
    record: StudyRecord, names: ReadonlySet<string>, unfinished: readonly EpochRecord[],
  ): Promise<void> {
    const { logger, findEstimator } = this.context;
    try {
      const stored = readStored(record);
      const { facts, document } = stored;
      this.#retention(record.studyId, document);
      if (!unfinished.some((epoch) => epoch.studyId === record.studyId)) return;
      refuseOldNames(stored, findEstimator);
      logger.warn(
        { study: record.name },
        'a study that is not configured any more has an open epoch: it is released first',
      );
      // The list of enrolled keys is not in the store. Without it no new contributor is admitted.
      const enrolled = document.admission.kind === 'contributorKeys' ? new Set<string>() : null;
      const definition =
        await atStandingOrder(this.context, defineStudy(document, enrolled, findEstimator));
      this.#hold(definition, record, facts, names.has(record.name) ? 'end' : 'drain');
    } catch (error) {
      if (!(error instanceof KeelsonError)) throw error;
      this.#noteLeft(record.name, error);
    }
  }

  #noteLeft(study: string, error: KeelsonError): void {
    this.context.logger.error(
      { study, err: error },
      'an earlier version of a study cannot be continued: its open epoch stays unreleased',
    );
  }

  #hold(
    definition: StudyDefinition, record: StudyRecord, facts: Uint8Array, mode: StudyMode,
  ): LocalStudy {
    const { studyId } = record;
    const identity = identityOf(this.context, studyId, facts);
    const options: LiveStudyOptions = {
      mode,
      held: this.held || this.context.isPaused(studyId),
      retention: this.#retention(studyId, definition.document),
      // A study that was only continued is removed when it is done. A configured one stays, so that
      // its log can be read.
      onDone: () => { if (mode !== 'run') this.#live.delete(studyId); },
    };
    const study = definition.document.sealed === undefined
      ? new LiveStudy(this.context, definition, identity, record, options)
      : this.openSealed(this.context, definition, identity, record, options);
    this.#live.set(studyId, study);
    return study;
  }

  #retention(studyId: string, document: StudyDocument): Retention {
    const found = this.#retentions.get(studyId)
      ?? new Retention(this.context, studyId, document.retention);
    this.#retentions.set(studyId, found);
    return found;
  }
}

/** A study whose start failed. */
function cannotStart(study: string, cause: unknown): KeelsonError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new KeelsonError(
    'invalid-study', `the study ${study} cannot be continued from the data folder: ${reason}; `
      + 'fix the cause, then reload or start again (an epoch that cannot be rebuilt '
      + `${recoveriesMax} times ends as interrupted)`,
    { details: { study }, cause },
  );
}
