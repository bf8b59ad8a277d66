import { keyRoomBytes } from '../../src/questions/key-table.js';
import { keyRoomOf, type PlannedQuestion } from '../../src/questions/plan.js';
import type { HeldEpoch } from './held-epoch.js';

/**
 * Reserves room for discovered keys before a batch is accepted. So the tables of an epoch's keys
 * are never full. A full table could only drop keys, or fail the release. Either would let one
 * contributor change what is released in a way that no noise covers.
 *
 * What a batch reserves depends on its number of rows and on the plan, not on its keys. A batch
 * that finds no room gets `overloaded`: its sender may send it again, and it counts in the next
 * epoch. Whether there is room depends on how many rows came, as the server's load does.
 */
export class KeyRoom {
  /** Of batches whose verdict is not known. Any of them may come to any epoch that is open. */
  #inFlight = 0;

  constructor(private readonly questions: readonly PlannedQuestion[]) {}

  /**
   * @param open - the epochs that may get the batch.
   * @returns what to call when the verdict on the batch is known and counted; null: no room.
   */
  reserve(rows: number, open: readonly HeldEpoch[]): (() => void) | null {
    const bytes = keyRoomOf(this.questions, rows);
    if (bytes === 0) return () => undefined;
    const used = open.reduce((most, { keyBytes }) => Math.max(most, keyBytes), 0);
    if (used + this.#inFlight + bytes > keyRoomBytes) return null;
    this.#inFlight += bytes;
    return () => { this.#inFlight -= bytes; };
  }
}
