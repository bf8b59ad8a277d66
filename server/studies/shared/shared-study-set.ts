import { signing } from '#signing';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import { encodeStudyDocument, studyId as idOfFacts } from '../../../src/wire/index.js';
import type { StudyRecord } from '../../store/contract.js';
import type { Standings, StudyStanding } from '../../store/shared.js';
import { defineStudy, type StudyDefinition } from '../definition.js';
import { reserveKeyMemory } from '../live/key-memory.js';
import { noSlices, type NodeHealth } from '../node-health.js';
import { NodeWatch } from './node-watch.js';
import { refuseSealedHere } from '../live/open-sealed.js';
import { isOwnFault, type RefusedStudy } from '../refused-study.js';
import {
  asStored, atStandingOrder, checkRoom, identityOf, moveBehind, register,
} from '../live/registration.js';
import { SharedStudy, type SharedContext } from './shared-study.js';
import { SliceWorker } from './slice-worker.js';
import { readStored, refuseOldNames } from '../stored-facts.js';
import type { StudyList, StudyMode } from '../study-list.js';

/** A study that no node is configured to run is finished by another one after this time. */
const orphanedMs = 60_000;
/** Time between two questions for a study that another node leads. */
const askMs = 2_000;

/**
 * The studies of one node of a shared store. Other nodes do not report their actions to this one:
 * it reads the state of the studies when news come, and every second.
 */
export class SharedStudySet implements StudyList {
  readonly #live = new Map<string, SharedStudy>();
  /** Studies of which this node only finishes an epoch. */
  readonly #takenUp = new Set<string>();
  readonly #watch: NodeWatch;
  #reading: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #stopNews: (() => void) | undefined;
  #worker: SliceWorker | undefined;
  #isClosing = false;
  #askAfterMs = 0;

  /** @param held whether studies open their first epoch only at `begin`. */
  constructor(private readonly context: SharedContext, private readonly held: boolean) {
    this.#watch = new NodeWatch(context);
  }

  /** Configured studies, and others while this node finishes them. */
  all(): readonly SharedStudy[] {
    return [...this.#live.values()].filter((study) => this.#isServed(study));
  }

  get(studyId: string): SharedStudy | undefined {
    const study = this.#live.get(studyId);
    return study !== undefined && this.#isServed(study) ? study : undefined;
  }

  /**
   * Registers studies and takes the lead of those that nobody leads. Resolves when these have an
   * open epoch, or cannot have one.
   */
  async startAll(
    definitions: readonly StudyDefinition[], strict: boolean,
  ): Promise<readonly RefusedStudy[]> {
    const refused: RefusedStudy[] = [];
    for (const definition of definitions) {
      try {
        await this.#register(definition);
      } catch (error) {
        if (strict || !isOwnFault(error)) throw error;
        refused.push({ study: definition.document.study, error });
      }
    }
    const { slicing } = this.context;
    if (slicing !== undefined) {
      this.#worker = new SliceWorker(this.context, slicing, () =>
        new Map([...this.#live].filter(([, { leads }]) => slicing.forOthers || leads)
          .map(([studyId, { definition }]) => [studyId, definition])));
    }
    const started = await this.refresh().then(() => this.#leadFree());
    this.#stopNews = this.context.store.onNews(() => this.#onNews());
    await Promise.all(started);
    return refused;
  }

  /**
   * Adds a study. Where this node leads the version before, that one ends with its open epoch. The
   * other nodes do the same when they read their study files again.
   */
  async add(definition: StudyDefinition): Promise<void> {
    const { study: name } = definition.document;
    const versions = this.all().filter((study) => study.definition.document.study === name);
    const study = await this.#register(definition);
    if (versions.includes(study)) return;
    await this.refresh();
    await study.tryToLead();
    await Promise.all(versions.map((version) => version.end()));
    moveBehind(this.#live, versions, this.context);
  }

  /** Resolves after a reading that began after this call. */
  refresh(): Promise<void> {
    if (this.#reading === null) {
      this.#reading = this.#read().finally(() => { this.#reading = null; });
      return this.#reading;
    }
    this.#next ??= this.#reading.catch(() => undefined).then(() => {
      this.#next = null;
      return this.refresh();
    });
    return this.#next;
  }

  health(): NodeHealth {
    const named = (leads: boolean): readonly string[] => this.all()
      .filter((study) => study.leads === leads).map(({ view }) => view.name);
    return {
      leads: named(true), follows: named(false), ...this.#watch.health(),
      slices: this.#worker?.counts ?? noSlices,
    };
  }

  async settled(): Promise<void> {
    await Promise.all(this.all().map((study) => study.settled()));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopNews?.();
    await Promise.all([...this.#live.values()].map((study) => study.close()));
    // Later, since releases in progress may wait for it.
    await this.#worker?.close();
    await this.#next?.catch(() => undefined);
    await this.#reading?.catch(() => undefined);
  }

  #isServed(study: SharedStudy): boolean {
    return !this.#takenUp.has(study.identity.studyId) || study.leads;
  }

  #onNews(): void {
    this.#watch.tick();
    // A refresh that already waits for the database is enough.
    if (this.#isClosing || this.#next !== null) return;
    const asked = this.refresh().then(() => this.#askToLead());
    asked.then(() => Promise.all(this.#leadFree())).catch((error: unknown) => {
      if (this.#isClosing || this.context.stopped()) return;
      // The watch reports that the database is away.
      const isAway = error instanceof StorageError && error.retryable;
      if (!isAway) this.context.fatal(error);
    });
  }

  async #read(): Promise<void> {
    const standings = await this.context.store.standings();
    this.#watch.note(standings);
    for (const standing of standings.studies) {
      await this.#live.get(standing.studyId)?.follow(standing);
    }
    await this.#takeUpOrphans(standings);
  }

  /** If others lead more studies than this node, it asks for one. */
  async #askToLead(): Promise<void> {
    const { clock, store } = this.context;
    const nowMs = clock.monotonicMs();
    if (this.#isClosing || nowMs < this.#askAfterMs
      || this.#watch.health().leadsNothing !== null) return;
    const own = this.all().filter((study) => study.mayAsk);
    if (!own.some(({ standing }) => standing.leader === 'other')) return;
    this.#askAfterMs = nowMs + askMs;
    await store.askToLead(own.map(({ identity }) => identity.studyId));
  }

  /** @returns a promise that resolves when each study that is led here now has started. */
  #leadFree(): readonly Promise<void>[] {
    if (this.#isClosing) return [];
    const mayLead = this.#watch.health().leadsNothing === null;
    return [...this.#live.values()].map((study) => {
      if (!mayLead) return study.stopLeading();
      this.#watch.noteStudy(study);
      if (study.leads && study.standing.leader === 'own' && study.standing.isAsked) {
        return study.handOver();
      }
      return study.tryToLead();
    });
  }

  async #register(given: StudyDefinition): Promise<SharedStudy> {
    refuseSealedHere(given);
    const definition = await asStored(this.context, given);
    const facts = encodeStudyDocument(definition.document);
    const studyId = await idOfFacts(facts, signing);
    const running = this.#live.get(studyId);
    if (running !== undefined && !this.#takenUp.has(studyId)) return running;
    checkRoom(this.#live.size);
    reserveKeyMemory([...this.#live.values()].map((study) => study.definition), definition,
      this.context.memoryBytes);
    const registered = await register(this.context, definition, studyId, facts);
    // A study that was only being finished is configured again.
    await running?.close();
    this.#takenUp.delete(studyId);
    return this.#hold(registered.definition, registered.record, facts, 'run');
  }

  /**
   * Finishes epochs of studies that no node runs: of an older version on the node that leads their
   * budget, and of a study that no node has in its files. Rows that were acknowledged are released,
   * and no epoch is opened.
   */
  async #takeUpOrphans({ studies }: Standings): Promise<void> {
    for (const { studyId, isUnfinished, leader } of studies) {
      if (!isUnfinished || leader === 'other' || this.#live.has(studyId)) continue;
      const record = await this.context.store.study(studyId);
      if (record !== null) await this.#takeUp(record, leader === 'own' ? 0 : orphanedMs);
    }
  }

  async #takeUp(record: StudyRecord, freeMs: number): Promise<void> {
    const { logger, findEstimator } = this.context;
    const { studyId, name } = record;
    if (this.#watch.isNoted(studyId)) return;
    try {
      const stored = readStored(record);
      const { facts, document } = stored;
      refuseOldNames(stored, findEstimator);
      // The list of enrolled keys is not in the store. Without it no new contributor is admitted.
      const enrolled = document.admission.kind === 'contributorKeys' ? new Set<string>() : null;
      const definition =
        await atStandingOrder(this.context, defineStudy(document, enrolled, findEstimator));
      const isReplaced = this.all().some(({ view }) => view.name === name);
      this.#takenUp.add(studyId);
      this.#hold(definition, record, facts, isReplaced ? 'end' : 'drain', freeMs);
    } catch (error) {
      if (!(error instanceof KeelsonError)) throw error;
      this.#watch.noteOnce(studyId, () => logger.error({ study: name, err: error },
        'an earlier version of a study cannot be continued: its open epoch stays unreleased'));
    }
  }

  #hold(
    definition: StudyDefinition, record: StudyRecord, facts: Uint8Array, mode: StudyMode,
    freeMs = 0,
  ): SharedStudy {
    const { studyId } = record;
    const identity = identityOf(this.context, studyId, facts);
    const study = new SharedStudy(this.context, definition, identity, standingOf(record), {
      mode, freeMs, held: this.held, onCommit: () => this.#onNews(),
      onDone: () => {
        if (!this.#takenUp.delete(studyId)) return;
        this.#live.delete(studyId);
        void study.close();
      },
    });
    this.#live.set(studyId, study);
    return study;
  }
}

/** Until the first reading. */
function standingOf(record: StudyRecord): StudyStanding {
  const { studyId, state, releaseCount, lastDigest } = record;
  return {
    studyId, state, releaseCount, lastDigest, open: null, isUnfinished: false, ends: false,
    leader: 'none', isAsked: false,
  };
}
