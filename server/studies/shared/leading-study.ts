import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import type { Store, StudyRecord } from '../../store/contract.js';
import type { Leadership, SharedStore } from '../../store/shared.js';
import type { HubContext, Slicing } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import type { StudyIdentity } from '../latest-view.js';
import { LiveStudy } from '../live/live-study.js';
import { Retention } from '../keep/retention.js';
import type { StudyMode } from '../study-list.js';

/** The interval at which an epoch that closes on a count counts its contributors. */
const countMs = 250;

export interface LeadingOptions {
  readonly record: StudyRecord;
  readonly mode: StudyMode;
  readonly held: boolean;
  readonly onCommit: () => void;
  readonly onDone: () => void;
}

/**
 * A study that this node leads: its schedule, releases and retention, as long as the lease holds.
 *
 * Every write goes through the leadership, so none is made after another node has taken over. The
 * work of this node is then lost with its memory: noise that it has drawn is in no release, because
 * a release is published only when it is read back from the store.
 */
export class LeadingStudy {
  readonly #study: LiveStudy;
  readonly #retention: Retention;
  readonly #clock: HubContext['clock'];
  #isOver = false;
  #stop = (): void => {};
  readonly #stopped = new Promise<void>((resolve) => { this.#stop = resolve; });
  #cancel: (() => void) | undefined;

  constructor(
    private readonly context: HubContext & { readonly store: SharedStore },
    private readonly leadership: Leadership,
    private readonly definition: StudyDefinition, private readonly identity: StudyIdentity,
    private readonly options: LeadingOptions,
  ) {
    this.#clock = context.clock;
    const led = this.#ledContext();
    this.#retention = new Retention(led, identity.studyId, definition.document.retention);
    const { record, mode, held, onDone } = options;
    this.#study = new LiveStudy(led, definition, identity, record, {
      mode, held, retention: this.#retention, onDone,
    });
  }

  /**
   * Continues the work of an earlier leader, then leads until the lease is lost or `stop` is
   * called.
   * @param started called when the study has an open epoch, or cannot have one.
   * @throws the error of the start.
   */
  async run(started: () => void): Promise<void> {
    const { studyId } = this.identity;
    const lost = this.leadership.ended.then(() => { this.#isOver = true; });
    try {
      const unfinished = (await this.context.store.unfinishedEpochs())
        .filter((epoch) => epoch.studyId === studyId);
      await this.#study.start(unfinished);
      await this.#retention.sweep();
      this.#countLater();
      started();
      await Promise.race([lost, this.#stopped]);
      if (!this.#isOver) await this.#study.close();
    } catch (error) {
      if (!this.#isOver && !isLost(error)) throw error;
    } finally {
      this.#cancel?.();
      await this.#study.abandon();
      await this.#retention.close();
    }
  }

  /** Ends `run` when releases in progress are finished. */
  async stop(): Promise<void> {
    this.#stop();
  }

  begin(): Promise<void> {
    return this.#study.begin();
  }

  end(): Promise<void> {
    return this.#study.end();
  }

  settled(): Promise<void> {
    return this.#study.settled();
  }

  /**
   * The context of the led study: its writes go through the leadership, and its failures end only
   * this lead.
   */
  #ledContext(): HubContext {
    const { context } = this;
    const isOver = (): boolean => this.#isOver || context.stopped();
    return {
      ...context, readsJournal: true,
      store: { ...context.store, ...patientReads(context.store, isOver), ...this.leadership },
      ...(context.slicing !== undefined && { slicing: patientSlicing(context.slicing, isOver) }),
      stopped: isOver,
      // Readers are notified of changes that were read back.
      emit: () => this.options.onCommit(),
      fatal: (error) => {
        if (!isLost(error)) return context.fatal(error);
        this.#isOver = true;
        this.#stop();
      },
    };
  }

  #countLater(): void {
    if (!('contributors' in this.definition.document.epoch)) return;
    this.#cancel = this.#clock.after(countMs, () => {
      void this.#count().catch((error: unknown) => this.#onCountFailure(error))
        .then(() => { if (!this.#isOver) this.#countLater(); });
    });
  }

  async #count(): Promise<void> {
    const { open } = this.#study;
    if (open === null) return;
    const { complete } = await this.context.store.tally(this.identity.studyId, open);
    this.#study.noteComplete(open, complete);
  }

  #onCountFailure(error: unknown): void {
    const isAway = error instanceof StorageError && error.retryable;
    if (!isAway && !this.#isOver) this.context.fatal(error);
  }
}

/** The lease is with another node. */
const isLost = (error: unknown): boolean =>
  error instanceof KeelsonError && error.code === 'lease-lost';

/** Runs an action that may be repeated until the database is there. */
async function patiently<T>(isOver: () => boolean, action: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof StorageError && error.retryable) || isOver()) throw error;
    }
  }
}

/** Reads between the charge and the release of an epoch wait for a database that is away. */
function patientReads(store: Store, isOver: () => boolean): Partial<Store> {
  const wait = <T>(read: () => Promise<T>): Promise<T> => patiently(isOver, read);
  return {
    journal: (...page) => wait(() => store.journal(...page)),
    releases: (...which) => wait(() => store.releases(...which)),
    ledgerEntries: (...which) => wait(() => store.ledgerEntries(...which)),
    contributorCount: (...which) => wait(() => store.contributorCount(...which)),
    unpurgedEpochs: (studyId) => wait(() => store.unpurgedEpochs(studyId)),
    series: (studyId) => wait(async () => (await store.series?.(studyId)) ?? []),
  };
}

function patientSlicing(slicing: Slicing, isOver: () => boolean): Slicing {
  const { slices } = slicing;
  const wait = <T>(action: () => Promise<T>): Promise<T> => patiently(isOver, action);
  return {
    ...slicing,
    slices: {
      ...slices,
      split: (...cut) => wait(() => slices.split(...cut)),
      left: (...which) => wait(() => slices.left(...which)),
      summary: (...which) => wait(() => slices.summary(...which)),
    },
  };
}
