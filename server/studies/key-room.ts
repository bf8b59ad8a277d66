import { keyRoomBytes } from '../../src/questions/key-table.js';
import { keyRoomOf, type PlannedQuestion } from '../../src/questions/plan.js';
import type { EpochProgress } from '../epochs/contract.js';

/**
 * Reserves room for discovered keys before a batch is accepted. So the tables of an epoch's keys
 * are never full. A full table could only drop keys, or fail the release. Either would let one
 * contributor change what is released in a way that no noise covers.
 *
 * What a batch reserves depends on its number of rows and on the plan, not on its keys. A batch
 * that finds no room gets `overloaded`: its sender may send it again, and it counts in the next
 * epoch. Whether there is room depends on how many rows came, as the server's load does.
 *
 * Once batches are counted, a contributor has reserved room for as many keys as it has rows in the
 * epoch, at most `keysMax` (EpochKeyRoom). A batch in flight reserves as if it were its sender's
 * first, since it may come to any epoch that is open. So many small batches take no more room in an
 * epoch than one large batch.
 */
export class KeyRoom {
  /** Of batches whose verdict is not known. Any of them may come to any epoch that is open. */
  #inFlight = 0;

  constructor(private readonly questions: readonly PlannedQuestion[]) {}

  /**
   * @param open - the epochs that may get the batch.
   * @returns what to call when the verdict on the batch is known and counted; null: no room.
   */
  reserve(rows: number, open: readonly HasKeyRoom[]): (() => void) | null {
    const bytes = keyRoomOf(this.questions, rows);
    if (bytes === 0) return () => undefined;
    const used = open.reduce((most, { keyRoom }) => Math.max(most, keyRoom.bytes), 0);
    if (used + this.#inFlight + bytes > keyRoomBytes) return null;
    this.#inFlight += bytes;
    return () => { this.#inFlight -= bytes; };
  }

  /** What an epoch has reserved, and the most that it can. Empty where no key is discovered. */
  of({ keyRoom: { bytes } }: HasKeyRoom): Pick<EpochProgress, 'keyRoom'> {
    return keyRoomOf(this.questions, 1) === 0
      ? {} : { keyRoom: { reserved: bytes, most: keyRoomBytes } };
  }
}

/** An epoch. */
interface HasKeyRoom {
  readonly keyRoom: EpochKeyRoom;
}

/**
 * What the discovered keys of an epoch's counted batches may take in a table, in bytes.
 *
 * Claim: at least the memory that they take. Proof: let a contributor have r rows. They have at
 * most r keys, and at most `keysMax` of them count, which is what `keyRoomOf` gives for r rows. The
 * batches of a contributor add up to that: each adds the difference that its rows make.
 */
export class EpochKeyRoom {
  #bytes = 0;
  /** By contributor: its rows so far. Of those who may send more. */
  readonly #rows = new Map<string, number>();

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts a batch: once, and only of the rows that the epoch got. */
  add(questions: readonly PlannedQuestion[], batch: CountedBatch): void {
    const { contributor, rows, complete } = batch;
    if (keyRoomOf(questions, 1) === 0) return;
    const name = Buffer.from(contributor).toString('latin1');
    const before = this.#rows.get(name) ?? 0;
    this.#bytes += keyRoomOf(questions, before + rows) - keyRoomOf(questions, before);
    if (complete) this.#rows.delete(name);
    else this.#rows.set(name, before + rows);
  }
}

/** What counts of a batch. `complete`: its contributor sends no more rows in this epoch. */
export interface CountedBatch {
  readonly contributor: Uint8Array;
  readonly rows: number;
  readonly complete: boolean;
}
