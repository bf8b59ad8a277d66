import { largestPair, type PairFacts, type TrialPool } from '../../src/audit/index.js';
import type { Io } from '../base/io.js';

/** Share of what time is left that searching for pairs may take, and about how many glances that is. */
const searchShare = 0.1;
const glancesOfSearch = 24;
const glance = { fewest: 5, most: 60 } as const;
/** How long a request should keep a thread busy, and its largest size. */
const requestMs = 200;
const requestMax = 1000;
/** Estimates of speed are off by a little. */
const caution = 0.85;

/** How many trials fit before a deadline, by the speed that is seen. */
export class Pace {
  /** Trials per millisecond, over all threads. */
  #rate = 0;
  #auditedFromMs: number | null = null;

  /** @param deadlineMs - on the clock of `io.monotonicMs`; Infinity when time does not matter. */
  constructor(private readonly pool: TrialPool, private readonly io: Io, private readonly deadlineMs: number) {}

  /** Runs trials until their speed is known; a fiftieth of the time, or a single one a thread. */
  async measure(facts: PairFacts): Promise<void> {
    const pair = largestPair(facts);
    const enoughMs = Math.min(300, this.#leftMs() / 50);
    const batch = (trials: number): Promise<unknown> => Promise.all(Array.from(
      { length: this.pool.parallelism },
      () => this.pool.run({ pair, side: 'left', trials, label: 'pace' }),
    ));
    // Threads start, and rows are prepared.
    await batch(1);
    for (let size = 1; ; size *= 2) {
      const startedMs = this.io.monotonicMs();
      await batch(size);
      const tookMs = this.io.monotonicMs() - startedMs;
      this.#rate = (size * this.pool.parallelism) / Math.max(0.1, tookMs);
      if (tookMs >= enoughMs || size > 1e5) return;
    }
  }

  /** Takes the speed of the audit itself, once it runs. */
  saw(done: number): void {
    const nowMs = this.io.monotonicMs();
    this.#auditedFromMs ??= nowMs;
    const tookMs = nowMs - this.#auditedFromMs;
    if (tookMs > 500) this.#rate = done / tookMs;
  }

  affordable(): number {
    return Math.floor(this.#leftMs() * this.#rate * caution);
  }

  glance(): number {
    const fits = Math.floor((searchShare * this.#leftMs() * this.#rate) / glancesOfSearch);
    return Math.max(glance.fewest, Math.min(glance.most, fits));
  }

  chunk(): number {
    return Math.max(1, Math.min(requestMax, Math.floor((requestMs * this.#rate) / this.pool.parallelism)));
  }

  #leftMs(): number {
    return Math.max(0, this.deadlineMs - this.io.monotonicMs());
  }
}
