import { fromUtf8, utf8 } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import type { OutboxBatch, OutboxPin } from './contract.js';

/** One fact in an outbox file. */
export type OutboxRecord =
  | ({ readonly kind: 'pin' } & OutboxPin)
  | {
      readonly kind: 'kept';
      readonly id: number;
      readonly last: boolean;
      readonly values: Float64Array;
      /** Columns per row; 0 when the rows did not state it. */
      readonly columns: number;
      /** The texts that the numbers of text columns are indexes into. */
      readonly texts?: readonly string[];
    }
  | {
    readonly kind: 'signed'; readonly id: number; readonly last: boolean;
    readonly batches: readonly OutboxBatch[];
  }
  | { readonly kind: 'settled'; readonly id: number }
  /** See `OutboxContents.nextSequence`: in files from which signed batches were deleted. */
  | { readonly kind: 'next'; readonly sequence: bigint };

/** `kept-texts` is `kept` with texts. Files of earlier versions have none of the last two. */
const kinds = ['pin', 'kept', 'signed', 'settled', 'kept-texts', 'next'] as const;

/**
 * Little-endian: 1 byte kind, 6 bytes id, 1 byte last, then the fields of the kind. Only this code
 * reads it back.
 */
export function encodeRecord(record: OutboxRecord): Uint8Array {
  const writer = new ByteWriter();
  const texts = record.kind === 'kept' ? record.texts : undefined;
  writer.number(kinds.indexOf(texts === undefined ? record.kind : 'kept-texts'), 1);
  switch (record.kind) {
    case 'pin':
      writer.bytes(record.serverKey);
      writer.bytes(record.studyId);
      writer.bytes(record.contributor);
      break;
    case 'kept':
      writer.number(record.id, 6);
      writer.number(record.last ? 1 : 0, 1);
      writer.number(record.columns, 4);
      writer.number(record.values.length, 4);
      for (const value of record.values) writer.double(value);
      if (texts !== undefined) {
        writer.number(texts.length, 4);
        for (const text of texts) writer.bytes(utf8(text));
      }
      break;
    case 'signed':
      writer.number(record.id, 6);
      writer.number(record.last ? 1 : 0, 1);
      writer.number(record.batches.length, 4);
      for (const batch of record.batches) {
        writer.long(batch.sequence);
        writer.long(batch.epoch);
        writer.bytes(batch.body);
        writer.bytes(batch.signature);
      }
      break;
    case 'settled':
      writer.number(record.id, 6);
      break;
    case 'next':
      writer.long(record.sequence);
      break;
  }
  return writer.finish();
}

/**
 * All records of one frame. @throws KeelsonError('outbox-failed') when the bytes are not records.
 */
export function decodeRecords(bytes: Uint8Array): OutboxRecord[] {
  const reader = new ByteReader(bytes);
  const records: OutboxRecord[] = [];
  while (!reader.atEnd) records.push(decodeRecord(reader));
  return records;
}

function decodeRecord(reader: ByteReader): OutboxRecord {
  const kind = kinds[reader.number(1)];
  switch (kind) {
    case 'pin':
      return {
        kind, serverKey: reader.bytes(), studyId: reader.bytes(), contributor: reader.bytes(),
      };
    case 'kept':
    case 'kept-texts': {
      const [id, last] = [reader.number(6), reader.number(1) === 1];
      const [columns, count] = [reader.number(4), reader.number(4)];
      const values = Float64Array.from({ length: count }, () => reader.double());
      if (kind === 'kept') return { kind, id, last, columns, values };
      const texts = Array.from({ length: reader.number(4) }, () => fromUtf8(reader.bytes()));
      return { kind: 'kept', id, last, columns, values, texts };
    }
    case 'signed': {
      const [id, last, count] = [reader.number(6), reader.number(1) === 1, reader.number(4)];
      const batches = Array.from({ length: count }, () => ({
        sequence: reader.long(),
        epoch: reader.long(),
        body: reader.bytes(),
        signature: reader.bytes(),
      }));
      return { kind, id, last, batches };
    }
    case 'settled':
      return { kind, id: reader.number(6) };
    case 'next':
      return { kind, sequence: reader.long() };
    default:
      throw new KeelsonError(
        'outbox-failed', 'the outbox holds a record of a kind that this version does not know',
      );
  }
}

/** The value of `next` once these batches are stored. */
export function sequenceAfter(next: bigint, batches: readonly OutboxBatch[]): bigint {
  return batches.reduce((most, { sequence }) => (sequence < most ? most : sequence + 1n), next);
}

class ByteWriter {
  private buffer = new Uint8Array(256);
  private view = new DataView(this.buffer.buffer);
  private length = 0;

  number(value: number, size: 1 | 4 | 6): void {
    this.grow(size);
    this.view.setUint8(this.length, value % 256);
    if (size === 4) this.view.setUint32(this.length, value, true);
    if (size === 6) {
      this.view.setUint32(this.length, value % 2 ** 32, true);
      this.view.setUint16(this.length + 4, Math.floor(value / 2 ** 32), true);
    }
    this.length += size;
  }

  long(value: bigint): void {
    this.grow(8);
    this.view.setBigUint64(this.length, value, true);
    this.length += 8;
  }

  double(value: number): void {
    this.grow(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  bytes(value: Uint8Array): void {
    this.number(value.length, 4);
    this.grow(value.length);
    this.buffer.set(value, this.length);
    this.length += value.length;
  }

  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private grow(more: number): void {
    if (this.length + more <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(2 * this.buffer.length, this.length + more));
    larger.set(this.buffer);
    this.buffer = larger;
    this.view = new DataView(larger.buffer);
  }
}

class ByteReader {
  private readonly view: DataView;
  private at = 0;

  constructor(private readonly buffer: Uint8Array) {
    this.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }

  get atEnd(): boolean {
    return this.at === this.buffer.length;
  }

  number(size: 1 | 4 | 6): number {
    const at = this.take(size);
    if (size === 1) return this.view.getUint8(at);
    if (size === 4) return this.view.getUint32(at, true);
    return this.view.getUint32(at, true) + this.view.getUint16(at + 4, true) * 2 ** 32;
  }

  long(): bigint {
    return this.view.getBigUint64(this.take(8), true);
  }

  double(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  bytes(): Uint8Array {
    const length = this.number(4);
    const at = this.take(length);
    return this.buffer.slice(at, at + length);
  }

  private take(size: number): number {
    const at = this.at;
    if (at + size > this.buffer.length) {
      throw new KeelsonError('outbox-failed', 'a record of the outbox is cut short');
    }
    this.at += size;
    return at;
  }
}
