import type { Ready } from '../../src/wire/index.js';
import type { Batch, BatchPlace, Contribution } from './contribution.js';

const bySequence = (left: Batch, right: Batch): number =>
  left.sequence < right.sequence ? -1 : left.sequence > right.sequence ? 1 : 0;

/** The place of each batch, and the free sequences. Without time and sockets. */
export class BatchBook {
  /** Sent and unanswered. */
  readonly flight = new Map<bigint, Batch>();
  private readonly open = new Set<Batch>();
  private waiting: Batch[] = [];
  /** Batches that are being signed or written to the outbox. */
  private signing = 0;
  /** No batch has this sequence or a later one. */
  nextSequence = 1n;
  private freeHoles: bigint[] = [];

  get isEmpty(): boolean {
    return this.open.size === 0;
  }

  /**
   * Batches that wait to be sent or are in flight. They count against the credit before more are
   * signed.
   */
  get ahead(): number {
    return this.signing + this.waiting.length + this.flight.size;
  }

  /** The batch of a sequence, if the server may have seen it. */
  offered(sequence: bigint): Batch | undefined {
    return this.flight.get(sequence)
      ?? [...this.open].find((batch) => batch.offered && batch.sequence === sequence);
  }

  /** Batches without a signature, as those of an encrypted channel. */
  get unsigned(): Batch[] {
    return [...this.open].filter(({ signature }) => signature.length === 0);
  }

  contributions(): Set<Contribution> {
    return new Set([...this.open].map((batch) => batch.contribution));
  }

  add(batch: Batch, place: BatchPlace): void {
    this.open.add(batch);
    if (place === 'signing') this.signing += 1;
    else this.move(batch, place);
  }

  /** A batch never moves back to `signing`. */
  move(batch: Batch, place: BatchPlace): void {
    if (batch.place === 'signing') this.signing -= 1;
    if (batch.place === 'flight') this.flight.delete(batch.sequence);
    batch.place = place;
    if (place === 'flight') this.flight.set(batch.sequence, batch);
    if (place === 'waiting') this.waiting.push(batch);
  }

  remove(batch: Batch): void {
    if (batch.place === 'signing') this.signing -= 1;
    if (batch.place === 'flight') this.flight.delete(batch.sequence);
    this.open.delete(batch);
  }

  clear(): void {
    this.open.clear();
    this.signing = 0;
    this.flight.clear();
    this.waiting = [];
  }

  /**
   * Makes all open batches wait for sending again, on a new socket. This includes those that the
   * server settled before the last socket was lost: the server repeats its answer for the same
   * bytes.
   * @returns batches that were offered but are beyond everything that the server knows. The server
   *   was then restored to
   * an earlier state, and these batches need new sequences.
   */
  resume(ready: Ready, sequenceWindow: number): Batch[] {
    const own = new Set<bigint>();
    const lost: Batch[] = [];
    this.flight.clear();
    this.waiting = [];
    this.nextSequence = ready.nextSequence;
    for (const batch of [...this.open].sort(bySequence)) {
      if (batch.offered && batch.sequence >= ready.nextSequence + BigInt(sequenceWindow)) {
        lost.push(batch);
        continue;
      }
      own.add(batch.sequence);
      if (batch.sequence >= this.nextSequence) this.nextSequence = batch.sequence + 1n;
      if (batch.place === 'signing') continue;
      batch.place = 'waiting';
      this.waiting.push(batch);
    }
    // Holes without a batch of this client belonged to bytes that are lost. They must be filled, or
    // the server's window never moves on.
    this.freeHoles = ready.holes.filter((hole) => !own.has(hole))
      .sort((left, right) => (left < right ? -1 : 1));
    return lost;
  }

  takeSequence(): bigint {
    return this.freeHoles.shift() ?? this.nextSequence++;
  }

  /** The batch to send next, or undefined. */
  next(credit: number): Batch | undefined {
    while (this.waiting.length > 0 && this.waiting[0]!.place !== 'waiting') this.waiting.shift();
    return this.flight.size < credit ? this.waiting[0] : undefined;
  }

  /** Lets all deferred batches be sent again. */
  releaseDeferred(): void {
    const deferred = [...this.open].filter((batch) => batch.place === 'deferred').sort(bySequence);
    for (const batch of deferred) this.move(batch, 'waiting');
  }

  /** Defers all batches in flight, because the server did not name the one that it deferred. */
  deferFlight(): void {
    for (const batch of [...this.flight.values()]) this.move(batch, 'deferred');
  }
}
