import {
  auditTrialsMin, largestPair, type PairFacts, type TrialPool,
} from '../../src/audit/index.js';
import type { Io } from '../base/io.js';

/** The search for pairs may take this share of the remaining time. */
const searchShare = 0.1;
const glancesOfSearch = 24;
const glance = { fewest: 5, most: 60 } as const;
/** The time for which one request should keep a thread busy, in milliseconds. */
const requestMs = 200;
const requestMax = 1000;
const stretchMs = 300;
/** Estimates of speed are a little too high. */
const caution = 0.85;

/**
 * Exact losses may take this share of the remaining time, and no more trials than are informative.
 */
const lossShare = 0.45;
/** With so few releases, counted outputs prove nothing: exact losses get nearly all of the time. */
const scarce = { releases: 4 * auditTrialsMin, lossShare: 0.9 } as const;
const lossesMax = 8000;
const lossesMin = 20;
/** The time of one trial of losses, in releases, until its speed has been measured. */
const releasesOfLoss = 4;

/** Trials of exact losses, and of counted outputs. */
export interface Division {
  readonly losses: {
    readonly trials: number; readonly affordable: (done: number) => number;
  };
  readonly counted: number;
}

/**
 * Comparisons without sampling may take this share of the time, and at most this many milliseconds.
 */
const shortShare = 0.05;
const shortMs = 3000;

/** Predicts how many trials fit before a deadline, from the measured speed. */
export class Pace {
  /** Trials per millisecond, over all threads. */
  #rate = 0;
  /** The start of the present stretch: trials and time. */
  #from: { readonly done: number; readonly ms: number } | null = null;
  /** The speeds of earlier stretches of the audit. */
  readonly #rates: number[] = [];

  /** @param deadlineMs - on the clock of `io.monotonicMs`; Infinity for no deadline. */
  constructor(
    private readonly pool: TrialPool, private readonly io: Io, private readonly deadlineMs: number,
  ) {}

  /**
   * Runs trials until their speed is known: a fiftieth of the time, or one trial for each thread.
   */
  async measure(facts: PairFacts): Promise<void> {
    const pair = largestPair(facts);
    const enoughMs = Math.min(300, this.#leftMs() / 50);
    const batch = (trials: number): Promise<unknown> => Promise.all(Array.from(
      { length: this.pool.parallelism },
      () => this.pool.run({ pair, side: 'left', trials, label: 'pace' }),
    ));
    // The first batch starts the threads and prepares the rows.
    await batch(1);
    for (let size = 1; ; size *= 2) {
      const startedMs = this.io.monotonicMs();
      await batch(size);
      const tookMs = this.io.monotonicMs() - startedMs;
      this.#rate = (size * this.pool.parallelism) / Math.max(0.1, tookMs);
      if (tookMs >= enoughMs || size > 1e5) return;
    }
  }

  /**
   * Updates the speed from the audit itself: the median over stretches. In a few of them the audit
   * learns from outputs, and no trials run.
   */
  saw(done: number): void {
    const ms = this.io.monotonicMs();
    this.#from ??= { done, ms };
    const tookMs = ms - this.#from.ms;
    if (tookMs < stretchMs) return;
    this.#rates.push((done - this.#from.done) / tookMs);
    this.#from = { done, ms };
    this.#rate = this.#rates.toSorted((left, right) => left - right)[this.#rates.length >> 1]!;
  }

  affordable(): number {
    return Math.floor(this.#leftMs() * this.#rate * caution);
  }

  /** Reports when a twentieth of the remaining time is over. */
  shortWhile(): () => boolean {
    const untilMs = this.io.monotonicMs() + Math.min(shortMs, shortShare * this.#leftMs());
    return () => this.io.monotonicMs() > untilMs;
  }

  /** True if there is no time for enough releases to count. */
  isScarce(): boolean {
    return this.affordable() < scarce.releases;
  }

  /**
   * Divides the remaining time between exact losses and counted outputs.
   * @param asked - releases to run at most; Infinity if only time limits them.
   */
  divided(asked: number): Division {
    const releases = Math.min(asked, this.affordable());
    const isScarce = releases < scarce.releases;
    const share = isScarce ? scarce.lossShare : lossShare;
    const fromMs = this.io.monotonicMs();
    const untilMs = fromMs + share * this.#leftMs();
    const trials =
      Math.max(lossesMin, Math.min(lossesMax, Math.floor((share * releases) / releasesOfLoss)));
    const affordable = (done: number): number => {
      if (untilMs === Infinity) return trials - done;
      const nowMs = this.io.monotonicMs();
      const rate = done / Math.max(1, nowMs - fromMs);
      return Math.min(lossesMax, caution * rate * (untilMs - nowMs));
    };
    const counted = isScarce && asked === Infinity
      ? 0 : Math.max(auditTrialsMin, Math.floor((1 - share) * releases));
    return { losses: { trials, affordable }, counted };
  }

  glance(): number {
    const fits = Math.floor((searchShare * this.#leftMs() * this.#rate) / glancesOfSearch);
    return Math.max(glance.fewest, Math.min(glance.most, fits));
  }

  chunk(): number {
    return Math.max(
      1, Math.min(requestMax, Math.floor((requestMs * this.#rate) / this.pool.parallelism)),
    );
  }

  #leftMs(): number {
    return Math.max(0, this.deadlineMs - this.io.monotonicMs());
  }
}
