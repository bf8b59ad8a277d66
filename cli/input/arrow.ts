import {
  CompressionType, Endianness, setCompressionCodec, tableFromIPC, type Batch, type Table,
} from '@uwdata/flechette';
import { InvalidInputError } from '../../src/base/errors.js';
import { cellsOf, floatBytesOf, isSoundBatch, timeKindOf, typeFault } from './arrow-columns.js';
import { arrowMessages, type ArrowMessage } from './arrow-messages.js';
import { CellRows, type CellColumn } from './cells.js';
import { damaged, decoded } from './damage.js';
import { lz4Frame } from './lz4.js';
import { isOfTimes, wrongColumn } from './parquet-columns.js';
import type { RowBatch, RowOptions } from './rows.js';
import { zstdFrames } from './zstd.js';

/** Small messages are decoded together, so that dictionaries are not decoded for each. */
const bytesTogether = 8 * 1024 * 1024;
/** Most bytes to which messages that are decoded together may decompress. */
const decompressedBytesMax = 1 << 30;
/** All dictionaries are in memory while rows that use them come. */
const dictionaryBytesMax = 256 * 1024 * 1024;

/**
 * Reads Arrow's file format (also called Feather version 2) or its stream format, as a stream. In
 * memory are the dictionaries, and as many record batches as have 8 MiB, or one larger one. Columns
 * may hold integers, floats, booleans and texts, also with dictionaries. A cell means what its text
 * would mean in a CSV file; a null is an empty cell.
 * @throws InvalidInputError with the row and column of a bad cell, or with the byte of damage.
 */
export async function* readArrow(
  chunks: AsyncIterable<Uint8Array>, options: RowOptions,
): AsyncGenerator<RowBatch, void, undefined> {
  const { source } = options;
  let table: ArrowTable | null = null;
  for await (const message of arrowMessages(chunks, source)) {
    if (table === null) {
      if (message.kind !== 'schema') {
        throw damaged(source, `byte ${message.at}`, 'there is no schema before it');
      }
      table = await openTable(message, options);
    } else if (message.kind === 'rows') {
      yield* table.addRows(message);
    } else if (message.kind === 'dictionary') {
      yield* table.addDictionary(message);
    } else {
      throw damaged(source, `byte ${message.at}`, 'it has a second schema');
    }
  }
  if (table === null) throw damaged(source, 'byte 0', 'there is no schema');
  yield* table.end();
}

async function openTable(schema: ArrowMessage, options: RowOptions): Promise<ArrowTable> {
  const { source } = options;
  const { schema: { fields, endianness } } =
    await decoded(source, `byte ${schema.at}`, () => tableFromIPC([schema.bytes]));
  if (endianness === Endianness.Big) {
    throw new InvalidInputError(
      `${source}: its numbers are big-endian: save it on a machine that is little-endian`,
    );
  }
  const names = fields.map(({ name }: { readonly name: string | null }) => name);
  if (!names.every((name) => name !== null)) {
    throw damaged(source, `byte ${schema.at}`, 'a column has no name');
  }
  const rows = new CellRows(options, names, (column) => floatBytesOf(fields[column]!.type));
  for (const index of rows.used) {
    const { name, type } = fields[index]!;
    const hasTimes = timeKindOf(type) !== null;
    const fault = hasTimes && isOfTimes(options, name, index) ? null : typeFault(type);
    if (fault !== null) throw wrongColumn(options, index, name, fault, hasTimes);
  }
  return new ArrowTable(schema.bytes, rows, source);
}

class ArrowTable {
  /** By dictionary: its first values, then those that were added. */
  private readonly dictionaries = new Map<bigint, readonly Uint8Array[]>();
  private waiting: ArrowMessage[] = [];
  private waitingBytes = 0;

  constructor(
    private readonly schema: Uint8Array, private readonly rows: CellRows,
    private readonly source: string,
  ) {}

  async* addRows(message: ArrowMessage): AsyncGenerator<RowBatch> {
    this.waiting.push(message);
    this.waitingBytes += message.bytes.length;
    if (this.waitingBytes >= bytesTogether) yield* this.decode();
  }

  /** The rows before it have the dictionary as it was. */
  async* addDictionary({ bytes, dictionary, at }: ArrowMessage): AsyncGenerator<RowBatch> {
    yield* this.decode();
    const { id, isDelta } = dictionary!;
    const before = isDelta ? this.dictionaries.get(id) ?? [] : [];
    this.dictionaries.set(id, [...before, bytes]);
    const sum = [...this.dictionaries.values()].flat()
      .reduce((all, { length }) => all + length, 0);
    if (sum <= dictionaryBytesMax) return;
    throw new InvalidInputError(`${this.source}, byte ${at}: its dictionaries have more than `
      + `${dictionaryBytesMax} bytes: save the columns without dictionaries`,
    { source: this.source, limit: dictionaryBytesMax });
  }

  async* end(): AsyncGenerator<RowBatch> {
    yield* this.decode();
    yield* this.rows.batches(true);
  }

  private async* decode(): AsyncGenerator<RowBatch> {
    const messages = this.waiting;
    if (messages.length === 0) return;
    this.waiting = [];
    this.waitingBytes = 0;
    const where = `record batch at byte ${messages[0]!.at}`;
    const table = await decoded(this.source, where, () => {
      openRoom();
      const dictionaries = [...this.dictionaries.values()].flat();
      return tableFromIPC(
        [this.schema, ...dictionaries, ...messages.map(({ bytes }) => bytes)], { useBigInt: true },
      );
    });
    for (const [i, { at }] of messages.entries()) yield* this.take(table, i, at);
  }

  private async* take(table: Table, index: number, at: number): AsyncGenerator<RowBatch> {
    const where = `record batch at byte ${at}`;
    const batches = new Map(this.rows.used.map((column): [number, Batch<unknown>] =>
      [column, table.getChildAt(column).data[index] as Batch<unknown>]));
    // Rows of which no column is read are only counted.
    const [{ length: count }] = batches.size > 0 ? [...batches.values()] as [Batch<unknown>]
      : [table.getChildAt(0).data[index] as Batch<unknown>];
    for (const batch of batches.values()) {
      if (batch.length === count && isSoundBatch(batch)) continue;
      throw damaged(this.source, where, 'a column has fewer values than rows', { byte: at });
    }
    for (let from = 0; from < count;) {
      const columns = new Map<number, CellColumn>();
      for (const [column, batch] of batches) {
        columns.set(
          column, await decoded(this.source, where, () => cellsOf(batch, from, this.source)),
        );
      }
      const length = columns.values().next().value?.length ?? count;
      this.rows.add(columns, length);
      yield* this.rows.batches(false);
      from += length;
    }
  }
}

/** Bytes that may still be decompressed. The library's codecs are global. */
let room = 0;

function openRoom(): void {
  room = decompressedBytesMax;
  setCompressionCodec(CompressionType.LZ4_FRAME, codec(lz4Frame));
  setCompressionCodec(CompressionType.ZSTD, codec(zstdFrames));
}

function codec(decode: (bytes: Uint8Array, length: number) => Uint8Array) {
  return {
    decode(bytes: Uint8Array, length = -1): Uint8Array {
      if (!(length >= 0 && length <= room)) {
        throw new InvalidInputError(`record batches that unpack to more than ${decompressedBytesMax} `
          + 'bytes are not read: save the rows in smaller ones');
      }
      room -= length;
      // Copied: values must begin at a multiple of their size.
      const output = new Uint8Array(decode(bytes, length));
      if (output.length === length) return output;
      throw new RangeError('a buffer has another length than it says');
    },
    encode(): never {
      throw new RangeError('Arrow is written without compression');
    },
  };
}
