import type { Ready } from '../../src/wire/index.js';
import type { Batch, BatchPlace, Contribution } from './contribution.js';

const bySequence = (left: Batch, right: Batch): number =>
  left.sequence < right.sequence ? -1 : left.sequence > right.sequence ? 1 : 0;

/** Which batch stands where, and which sequences are free. No time, no sockets. */
export class BatchBook {
  /** Sent and unanswered. */
  readonly flight = new Map<bigint, Batch>();
  private readonly open = new Set<Batch>();
  private waiting: Batch[] = [];
  private unknown: Batch[] = [];
  private probe: Batch | null = null;
  /** Batches that the outbox is writing. */
  private signing = 0;
  private nextSequence = 1n;
  private freeHoles: bigint[] = [];

  get isEmpty(): boolean {
    return this.open.size === 0;
  }

  /** Batches on their way out or in flight: what counts against the credit when deciding to sign more. */
  get ahead(): number {
    return this.signing + this.waiting.length + this.unknown.length + this.flight.size;
  }

  /** The batch of a sequence, if the server may have seen it. */
  offered(sequence: bigint): Batch | undefined {
    return [...this.open].find((batch) => batch.offered && batch.sequence === sequence);
  }

  contributions(): Set<Contribution> {
    return new Set([...this.open].map((batch) => batch.contribution));
  }

  add(batch: Batch, place: BatchPlace): void {
    this.open.add(batch);
    if (place === 'signing') this.signing += 1;
    else this.move(batch, place);
  }

  /** Never back to `signing`. */
  move(batch: Batch, place: BatchPlace): void {
    if (batch.place === 'signing') this.signing -= 1;
    if (batch.place === 'flight') this.flight.delete(batch.sequence);
    if (batch === this.probe) this.probe = null;
    if (batch.place === 'unknown' && place === 'flight') this.probe = batch;
    batch.place = place;
    if (place === 'flight') this.flight.set(batch.sequence, batch);
    if (place === 'waiting') this.waiting.push(batch);
  }

  remove(batch: Batch): void {
    if (batch.place === 'signing') this.signing -= 1;
    if (batch.place === 'flight') this.flight.delete(batch.sequence);
    if (batch === this.probe) this.probe = null;
    this.open.delete(batch);
  }

  clear(): void {
    this.open.clear();
    this.signing = 0;
    this.flight.clear();
    this.waiting = [];
    this.unknown = [];
    this.probe = null;
  }

  /**
   * Sorts all open batches by what a new socket's Ready says about them. Settled ones are asked for again: the
   * server repeats its verdict for the same bytes.
   * @returns batches that were offered, yet lie beyond what the server can have known: it was restored to an
   * earlier state, and their sequences must be chosen anew.
   */
  resume(ready: Ready, sequenceWindow: number): Batch[] {
    const holes = new Set(ready.holes);
    const own = new Set<bigint>();
    const lost: Batch[] = [];
    this.flight.clear();
    this.probe = null;
    this.waiting = [];
    this.unknown = [];
    this.nextSequence = ready.nextSequence;
    for (const batch of [...this.open].sort(bySequence)) {
      if (batch.offered && batch.sequence >= ready.nextSequence + BigInt(sequenceWindow)) {
        lost.push(batch);
        continue;
      }
      own.add(batch.sequence);
      if (batch.sequence >= this.nextSequence) this.nextSequence = batch.sequence + 1n;
      if (batch.place === 'signing') continue;
      const settled = batch.sequence < ready.nextSequence && !holes.has(batch.sequence);
      batch.place = settled ? 'unknown' : 'waiting';
      (settled ? this.unknown : this.waiting).push(batch);
    }
    // Holes that are not ours were given to bytes that are lost. They must be filled, or the server's window never
    // moves on.
    this.freeHoles = [...holes].filter((hole) => !own.has(hole)).sort((left, right) => (left < right ? -1 : 1));
    return lost;
  }

  takeSequence(): bigint {
    return this.freeHoles.shift() ?? this.nextSequence++;
  }

  /**
   * The batch to send next, or undefined. Those whose verdict is unknown go first and one by one: an Ack says up to
   * where sequences are settled, so only what flies alone can be told apart.
   */
  next(credit: number): Batch | undefined {
    if (this.probe !== null) return undefined;
    if (this.unknown.length > 0) {
      while (this.unknown[0]?.place !== 'unknown' && this.unknown.length > 0) this.unknown.shift();
      if (this.unknown.length > 0) return this.flight.size === 0 ? this.unknown[0] : undefined;
    }
    while (this.waiting.length > 0 && this.waiting[0]!.place !== 'waiting') this.waiting.shift();
    return this.flight.size < credit ? this.waiting[0] : undefined;
  }

  /** The batches in flight that an Ack settles, besides those that it rejects. */
  settledBy(contiguousSequence: bigint): Batch[] {
    // The server had settled the probe before: an answer that does not reject it accepts it, wherever the watermark is.
    if (this.probe !== null) return [this.probe];
    return [...this.flight.values()].filter((batch) => batch.sequence <= contiguousSequence);
  }

  /** All that were put off may go again. */
  releaseDeferred(): void {
    const deferred = [...this.open].filter((batch) => batch.place === 'deferred').sort(bySequence);
    for (const batch of deferred) this.move(batch, 'waiting');
  }

  /** The server did not say which batch it put off: all that fly. */
  deferFlight(): void {
    for (const batch of [...this.flight.values()]) this.move(batch, 'deferred');
  }
}
