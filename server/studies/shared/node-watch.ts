import { reportFull } from '../../store/full-disk.js';
import type { Standings } from '../../store/shared.js';
import type { HubContext } from '../context.js';
import type { SharedStudy } from './shared-study.js';
import type { NodeHealth } from '../node-health.js';

/** Without an answer for so long the database counts as away. Readings are a second apart. */
const awayMs = 5_000;
/** A clock that is this far from the database's is reported, or leads nothing. */
const clockWarnsMs = 1_000;
const clockMostMs = 30_000;
/** A study that is led elsewhere and has had no open epoch for this long is reported. */
const idleMs = 30_000;

/** Tells the operator of a node what they must know, and each fact only once. */
export class NodeWatch {
  #answeredMs: number;
  #isAway = false;
  #clockAheadMs = 0;
  #clock: 'right' | 'off' | 'wrong' = 'right';
  #lacksKey: string | null = null;
  #isFull = false;
  /** The time since which a study is led elsewhere without an epoch. */
  readonly #idleSince = new Map<string, number>();
  readonly #noted = new Set<string>();

  constructor(private readonly context: Pick<HubContext, 'clock' | 'logger'>) {
    this.#answeredMs = context.clock.monotonicMs();
  }

  health(): Omit<NodeHealth, 'leads' | 'follows' | 'slices'> {
    const awayFor = this.context.clock.monotonicMs() - this.#answeredMs;
    return {
      storeAwaySeconds: awayFor > awayMs ? Math.round(awayFor / 1_000) : null,
      lacksKey: this.#lacksKey !== null, clockAheadMs: this.#clockAheadMs,
      leadsNothing: this.#clock === 'wrong' ? this.#clockText()
        : this.#lacksKey !== null ? 'it lacks an encryption key; its log says which' : null,
    };
  }

  /** Call it every second: whether the database still answers. */
  tick(): void {
    const { storeAwaySeconds } = this.health();
    if (storeAwaySeconds === null || this.#isAway) return;
    this.#isAway = true;
    this.context.logger.error({ seconds: storeAwaySeconds }, 'the database does not answer: '
      + 'contributors and releases wait for it, and nothing that was acknowledged is lost; check '
      + 'that it runs and can be reached');
  }

  /** Call it with each answer of the database. */
  note({ clockAheadMs, isDeaf, fullBecause, lacksKey }: Standings): void {
    const { clock, logger } = this.context;
    const nowMs = clock.monotonicMs();
    if (this.#isAway) {
      logger.info({ seconds: Math.round((nowMs - this.#answeredMs) / 1_000) },
        'the database answers again');
    }
    this.#isAway = false;
    this.#answeredMs = nowMs;
    this.#noteClock(clockAheadMs);
    this.#noteKey(lacksKey);
    this.#noteFull(fullBecause);
    if (isDeaf) this.noteOnce('deaf', () => logger.warn({}, 'news of other servers do not arrive, '
      + 'so this one finds them a second later: a pooler before the database breaks LISTEN; give '
      + 'the address of the database itself as store.direct in --settings'));
  }

  /** Reports a study that is led by a node which does not run it. */
  noteStudy({ identity: { studyId }, view, standing }: SharedStudy): void {
    const isIdle = standing.leader === 'other' && standing.state === 'open'
      && !standing.isUnfinished;
    const nowMs = this.context.clock.monotonicMs();
    if (!isIdle) {
      this.#idleSince.delete(studyId);
      return;
    }
    const sinceMs = this.#idleSince.get(studyId) ?? nowMs;
    this.#idleSince.set(studyId, sinceMs);
    if (nowMs - sinceMs < idleMs) return;
    this.noteOnce(studyId, () => this.context.logger.warn({ study: view.name }, 'another server '
      + 'leads this study and opens no epoch of it: give all servers the same study files, and '
      + 'reload or restart those that have others'));
  }

  isNoted(name: string): boolean {
    return this.#noted.has(name);
  }

  noteOnce(name: string, note: () => void): void {
    if (this.#noted.has(name)) return;
    this.#noted.add(name);
    note();
  }

  #noteClock(aheadMs: number): void {
    const { logger } = this.context;
    const before = this.#clock;
    this.#clockAheadMs = aheadMs;
    const off = Math.abs(aheadMs);
    const rough = off > clockWarnsMs ? 'off' : 'right';
    this.#clock = off > clockMostMs ? 'wrong' : rough;
    if (this.#clock === before) return;
    if (this.#clock === 'wrong') logger.error({}, this.#clockText());
    else if (this.#clock === 'off') logger.warn({}, this.#offText());
    else logger.info({}, 'the clock of this server agrees with the database again');
  }

  #noteKey(lacks: string | null): void {
    const before = this.#lacksKey;
    this.#lacksKey = lacks;
    if (lacks === before) return;
    const { logger } = this.context;
    if (lacks === null) logger.info({}, 'all encryption keys are there again');
    else logger.error({}, `${lacks}. Until then it cannot take batches of these studies, and leads `
      + 'none');
  }

  #noteFull(why: string | null): void {
    if ((why !== null) === this.#isFull) return;
    this.#isFull = why !== null;
    reportFull(this.context.logger, why);
  }

  #offText(): string {
    const seconds = Math.round(Math.abs(this.#clockAheadMs) / 1_000);
    const side = this.#clockAheadMs > 0 ? 'behind' : 'ahead of';
    return `the clock of this server is ${seconds} s ${side} the database's: set it (NTP)`;
  }

  #clockText(): string {
    return `${this.#offText()}. Until then it takes batches, and leads no study`;
  }
}
