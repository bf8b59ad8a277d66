import type { Clock } from '../base/clock.js';
import type { StoreHealth } from '../store/health.js';
import type { Histogram } from './metrics.js';
import type { ServerMetrics } from './server-metrics.js';

/** A server's figures for one interval. */
export interface FigureSample {
  /** Unix time of the end of the interval. */
  readonly atMs: number;
  readonly seconds: number;
  /** Batches that were accepted in it. */
  readonly accepted: number;
  /** Batches and requests that were refused in it. */
  readonly refused: number;
  /**
   * Half of the acks of the interval took at most this many seconds, and 99 % of them at most the
   * other: upper bounds of the metric's buckets. Null without acks, or above the last bucket.
   */
  readonly ackMedian: number | null;
  readonly ack99: number | null;
  /**
   * 99 % of recent commits took at most this many seconds; null if the store does not report it.
   */
  readonly commit99: number | null;
  /** Batches that waited for the disk at the end. */
  readonly queued: number;
  /** Bytes of the store; null if it does not report them. */
  readonly storeBytes: number | null;
}

const everyMs = 10_000;
/** Two hours. */
const samplesMost = 720;

/** The figures of the last two hours, one sample in ten seconds. They are kept in memory. */
export class FigureHistory {
  readonly #samples: FigureSample[] = [];
  #isStopped = false;
  #cancel: () => void;
  #before: { readonly atMs: number; readonly accepted: number; readonly refused: number;
    readonly acks: Float64Array; };

  constructor(
    private readonly clock: Clock,
    private readonly metrics: Pick<ServerMetrics, 'accepted' | 'refused' | 'ackSeconds' | 'totals'>,
    private readonly storeHealth: (() => Promise<StoreHealth>) | undefined,
  ) {
    this.#before = this.#now();
    this.#cancel = clock.after(everyMs, () => void this.#sample());
  }

  /** Oldest first. */
  get samples(): readonly FigureSample[] {
    return this.#samples;
  }

  stop(): void {
    this.#cancel();
    this.#isStopped = true;
  }

  #now() {
    const { accepted, refused, ackSeconds } = this.metrics;
    return {
      atMs: this.clock.nowMs(), accepted: accepted.total(), refused: refused.total(),
      acks: ackSeconds.counts(),
    };
  }

  async #sample(): Promise<void> {
    // A store that is away must not end the history.
    const store = (await this.storeHealth?.().catch(() => undefined)) ?? null;
    if (this.#isStopped) return;
    const [before, now] = [this.#before, this.#now()];
    this.#before = now;
    const acks = now.acks.map((count, i) => count - before.acks[i]!);
    const { bounds } = this.metrics.ackSeconds;
    this.#samples.push({
      atMs: now.atMs, seconds: Math.max(0, now.atMs - before.atMs) / 1000,
      accepted: now.accepted - before.accepted, refused: now.refused - before.refused,
      ackMedian: boundOf(bounds, acks, 0.5), ack99: boundOf(bounds, acks, 0.99),
      commit99: store?.commitSeconds99 ?? null, queued: this.metrics.totals.queuedBatches,
      storeBytes: store === null ? null : store.fileBytes + store.walBytes,
    });
    if (this.#samples.length > samplesMost) this.#samples.shift();
    this.#cancel = this.clock.after(everyMs, () => void this.#sample());
  }
}

/** The upper bound of the bucket in which the quantile is; null without a finite one. */
function boundOf(
  bounds: Histogram['bounds'], counts: Float64Array, share: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  const bound = bounds.find((_, i) => (below += counts[i]!) >= share * total) ?? Infinity;
  return Number.isFinite(bound) ? bound : null;
}
