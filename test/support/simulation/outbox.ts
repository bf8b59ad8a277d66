import { concatBytes } from '../../../src/base/bytes.js';
import { encodeFrame, fileMagic, scanFrames } from '../../../client/outbox/frames.js';
import {
  decodeRecords, encodeRecord, sequenceAfter, type OutboxRecord,
} from '../../../client/outbox/records.js';
import type {
  Outbox, OutboxContents, OutboxItem, OutboxPin,
} from '../../../client/outbox/contract.js';
import type { Chance } from './chance.js';
import type { ProcessTimers } from './scheduler.js';

/**
 * The file of one contributor, in the product's own format. What is appended and not synced is lost
 * by a crash.
 */
export class OutboxFile {
  durable: Uint8Array = fileMagic.slice();
  pending: Uint8Array[] = [];

  /** @returns true when the last frame was torn. */
  crash(chance: Chance): boolean {
    const tail = concatBytes(...this.pending);
    this.pending = [];
    if (tail.length === 0) return false;
    this.durable = concatBytes(this.durable, tail.subarray(0, chance.below(tail.length)));
    return true;
  }
}

/** The outbox of one run of a contributor's process. */
export class SimulatedOutbox implements Outbox {
  readonly #items = new Map<number, OutboxItem>();
  #pin: OutboxPin | null = null;
  #next = 1n;

  constructor(
    private readonly file: OutboxFile, private readonly timers: ProcessTimers,
    private readonly chance: Chance, private readonly onPin: (pin: OutboxPin) => void,
    private readonly onWrite: (syncMs: number) => void,
  ) {
    const { payloads, goodBytes } = scanFrames(file.durable);
    file.durable = goodBytes === 0 ? fileMagic.slice() : file.durable.slice(0, goodBytes);
    for (const payload of payloads) {
      for (const record of decodeRecords(payload)) this.#apply(record);
    }
  }

  async load(): Promise<OutboxContents> {
    return {
      pin: this.#pin, items: [...this.#items.values()].sort((left, right) => left.id - right.id),
      nextSequence: this.#next,
    };
  }

  pin(pin: OutboxPin): Promise<void> {
    this.onPin(pin);
    return this.#write({ kind: 'pin', ...pin });
  }

  keep(
    id: number, values: Float64Array, last: boolean, columns = 0, texts?: readonly string[],
  ): Promise<void> {
    return this.#write({
      kind: 'kept', id, last, values, columns, ...(texts !== undefined && { texts }),
    });
  }

  sign(id: number, last: boolean, batches: OutboxItem['batches']): Promise<void> {
    const plain =
      batches.map(({ sequence, epoch, body, signature }) => ({ sequence, epoch, body, signature }));
    return this.#write({ kind: 'signed', id, last, batches: plain });
  }

  settle(id: number): void {
    void this.#write({ kind: 'settled', id });
  }

  async close(): Promise<void> {
    // Nothing is kept open.
  }

  #write(record: OutboxRecord): Promise<void> {
    this.#apply(record);
    const frame = encodeFrame(encodeRecord(record));
    this.file.pending.push(frame);
    return new Promise((resolve) => {
      const syncMs = this.chance.between(1, 30);
      this.onWrite(syncMs);
      this.timers.after(syncMs, () => {
        // Appends are synced in order: this sync covers all that came before it.
        while (this.file.pending.includes(frame)) {
          this.file.durable = concatBytes(this.file.durable, this.file.pending.shift()!);
        }
        resolve();
      });
    });
  }

  #apply(record: OutboxRecord): void {
    if (record.kind === 'pin') {
      const { serverKey, studyId, contributor } = record;
      this.#pin = { serverKey, studyId, contributor };
    } else if (record.kind === 'settled') this.#items.delete(record.id);
    else if (record.kind === 'next') this.#next = record.sequence;
    else if (record.kind === 'signed') {
      this.#next = sequenceAfter(this.#next, record.batches);
      this.#items.set(
        record.id, { id: record.id, last: record.last, values: null, batches: record.batches },
      );
    } else {
      const { id, last, values, columns } = record;
      this.#items.set(id, { id, last, values, batches: [], ...(columns > 0 && { columns }) });
    }
  }
}
