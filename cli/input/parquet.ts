import { open, type FileHandle } from 'node:fs/promises';
import {
  parquetMetadataAsync, parquetScan, parquetSchema, type FileMetaData, type ParquetScan,
  type SchemaTree,
} from 'hyparquet';
import { InvalidInputError } from '../../src/base/errors.js';
import { asInputError } from '../base/errors.js';
import { CellRows, type CellColumn, type TypedCell } from './cells.js';
import { damaged, decoded } from './damage.js';
import {
  checkColumn, floatBytesOf, groupsOf, timeKindOf, type Group,
} from './parquet-columns.js';
import { pageDecoders } from './parquet-codecs.js';
import {
  NumberPages, PageRoom, TextPages, arePlainPages, isOfTexts, numberKindOf, type NumberKind,
} from './parquet-numbers.js';
import { checkPages } from './parquet-pages.js';
import { checkThrift } from './parquet-thrift.js';
import { timeCell, type TimeKind } from './times.js';
import type { InputRequest, RowBatch, RowOptions } from './rows.js';

const magic = 'PAR1';
/** The magic bytes of a file with an encrypted footer. */
const encryptedMagic = 'PARE';
/** The footer has the place of everything. It is decoded whole. */
const footerBytesMax = 64 * 1024 * 1024;
/** Rows of a row group that are decoded together. */
const rowsAtOnce = 1 << 18;

/**
 * Reads a Parquet file: one row group after the other, and of each only the columns that are asked
 * for. In memory are the compressed columns of one row group, and the values of 262,144 rows.
 * Columns may hold integers, floats, booleans and texts. A cell means what its text would mean in
 * a CSV file; a null is an empty cell.
 * @throws InvalidInputError with the row and column of a bad cell, or with the row group and byte
 *   of damage.
 */
export async function* readParquet(
  request: InputRequest, source: string,
): AsyncGenerator<RowBatch, void, undefined> {
  try {
    const handle = await open(request.path);
    try {
      const found = await handle.stat();
      if (!found.isFile()) {
        throw new InvalidInputError(`${source}: Parquet is read from its end: save it as a file`);
      }
      yield* readParquetBytes(new ParquetFile(handle, found.size, source), request, source);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw asInputError(error, source);
  }
}

/** Bytes that can be read in any order. Pieces that they do not have are InvalidInputError. */
export interface ByteSource {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

class ParquetFile implements ByteSource {
  constructor(
    private readonly handle: FileHandle, readonly byteLength: number,
    private readonly source: string,
  ) {}

  /** @throws InvalidInputError if the file has no such bytes. */
  async slice(start: number, end = this.byteLength): Promise<ArrayBuffer> {
    if (!(start >= 0 && start <= end && end <= this.byteLength)) {
      throw damaged(
        this.source, `bytes ${start} to ${end}`, `the file has ${this.byteLength} bytes`,
      );
    }
    const bytes = new Uint8Array(end - start);
    for (let done = 0; done < bytes.length;) {
      const { bytesRead } =
        await this.handle.read(bytes, done, bytes.length - done, start + done);
      if (bytesRead === 0) throw damaged(this.source, `byte ${start + done}`, 'it is cut short');
      done += bytesRead;
    }
    return bytes.buffer;
  }
}

async function metadataOf(file: ByteSource, source: string): Promise<FileMetaData> {
  const size = file.byteLength;
  const textAt = async (start: number): Promise<string> =>
    Buffer.from(await file.slice(start, start + 4)).toString('latin1');
  const [first, last] = size < 12 ? ['', ''] : [await textAt(0), await textAt(size - 4)];
  if (first === encryptedMagic || last === encryptedMagic) {
    throw new InvalidInputError(`${source}: the file is encrypted: save it without encryption`);
  }
  if (first !== magic) {
    throw new InvalidInputError(`${source}: not a Parquet file: it does not begin with ${magic}`);
  }
  if (last !== magic) {
    throw damaged(source, `byte ${size}`, `it does not end with ${magic}, so it is cut short`);
  }
  const footer = new DataView(await file.slice(size - 8, size)).getUint32(0, true);
  if (footer > Math.min(footerBytesMax, size - 12)) {
    throw damaged(source, `byte ${size - 8}`, `its footer would have ${footer} bytes`);
  }
  return decoded(source, 'footer', async () => {
    checkThrift(new Uint8Array(await file.slice(size - 8 - footer, size - 8)), 0);
    return parquetMetadataAsync(file, { geoparquet: false });
  });
}

/** As `readParquet`, from bytes anywhere. */
export async function* readParquetBytes(
  file: ByteSource, request: Omit<InputRequest, 'path'>, source: string,
): AsyncGenerator<RowBatch, void, undefined> {
  const options: RowOptions = { ...request, source };
  const metadata = await metadataOf(file, source);
  const { children: tops } = await decoded(source, 'footer', () => parquetSchema(metadata));
  const names = tops.map(({ element }) => nameIn(element.name, source));
  const rows = new CellRows(options, names, (column) => floatBytesOf(tops[column]!.element));
  for (const index of rows.used) {
    checkColumn(tops[index]!, index, options);
    checkUnique(names, index, source);
  }
  const groups = groupsOf(metadata, rows.used.map((index) => tops[index]!), source);
  const columns = new GroupColumns(file, metadata, {
    tops, used: rows.used, source, isNumber: (index) => rows.isNumber(index),
    isCounted: (index) => rows.isCounted(index),
  });
  let start = 0;
  for (const group of groups) {
    for (let from = 0; from < group.rows; from += rowsAtOnce) {
      const to = Math.min(group.rows, from + rowsAtOnce);
      rows.add(await columns.read(group, start, from, to), to - from);
      yield* rows.batches(false);
    }
    start += group.rows;
    request.onProgress?.(Math.max(0, ...group.chunks.map(({ end }) => end)), file.byteLength);
  }
  yield* rows.batches(true);
}

/** The footer of a damaged file may lack a name. */
function nameIn(name: unknown, source: string): string {
  if (typeof name === 'string') return name;
  throw damaged(source, 'footer', 'a column has no name');
}

/** The library finds columns by their names alone. */
function checkUnique(names: readonly string[], index: number, source: string): void {
  const name = names[index]!;
  if (names.indexOf(name) === names.lastIndexOf(name)) return;
  throw new InvalidInputError(
    `${source}: two columns are named "${name}": save it with different names`,
  );
}

/** Reads and decodes the columns of row groups. */
class GroupColumns {
  private readonly startScan: () => Promise<ParquetScan>;
  private scan: ParquetScan | null = null;
  private readonly kept = new Map<number, ArrayBuffer>();
  /** Columns of the row group that are read without the library, by name. */
  private readonly own = new Map<string, NumberPages | TextPages>();
  private group: Group | null = null;
  private readonly rooms: readonly PageRoom[];

  constructor(
    private readonly file: ByteSource, metadata: FileMetaData,
    private readonly of: {
      readonly tops: readonly SchemaTree[]; readonly used: readonly number[];
      readonly source: string;
      /** True if a column is asked for nothing but numbers. */
      readonly isNumber: (index: number) => boolean;
      /** True for a column of which only the number of rows with each text is asked. */
      readonly isCounted: (index: number) => boolean;
    },
  ) {
    this.rooms = of.used.map(() => new PageRoom());
    const columns = of.used.map((index) => of.tops[index]!.element.name);
    const slice = (start: number, end?: number): ArrayBuffer => this.take(start, end);
    this.startScan = () => parquetScan({
      file: { byteLength: file.byteLength, slice }, metadata, columns,
      compressors: pageDecoders, useOffsetIndex: false, geoparquet: false,
    });
  }

  /**
   * The columns of some rows of a row group.
   * @param start - rows of the file before the group.
   */
  async read(
    group: Group, start: number, from: number, to: number,
  ): Promise<ReadonlyMap<number, CellColumn>> {
    if (this.group !== group) await this.open(group);
    const columns = new Map<number, CellColumn>();
    for (const index of this.of.used) {
      const { name } = this.of.tops[index]!.element;
      const where = placeOf(group, name);
      const own = this.own.get(name);
      if (own !== undefined) {
        columns.set(index, own.read(to - from, this.of.isCounted(index)));
        continue;
      }
      const data = await decoded(this.of.source, where, async () => {
        this.scan ??= await this.startScan();
        return this.scan.readColumn({ column: name, rowStart: start + from, rowEnd: start + to });
      });
      if (data.length !== to - from) {
        throw damaged(this.of.source, where, 'its pages have other rows than the row group');
      }
      columns.set(index, this.checked(data, where, timeKindOf(this.of.tops[index]!.element)));
    }
    return columns;
  }

  /**
   * A place in a dictionary that the dictionary does not have becomes undefined.
   * @param time - what the times of the column are; null: it has none.
   */
  private checked(data: ArrayLike<unknown>, where: string, time: TimeKind | null): CellColumn {
    if (time !== null) return Array.from(data, (cell) => this.timeIn(cell, where, time));
    if (Array.isArray(data)) {
      for (let i = 0; i < data.length; i++) {
        if (data[i] === undefined) {
          throw damaged(this.of.source, where, 'a value is not in its dictionary');
        }
      }
    }
    return data as ArrayLike<TypedCell>;
  }

  private timeIn(cell: unknown, where: string, kind: TimeKind): TypedCell {
    if (cell === null) return null;
    const text = cell instanceof Date ? timeCell(cell.getTime(), kind) : null;
    if (text !== null) return text;
    throw damaged(this.of.source, where, 'a value is no date or time');
  }

  /** Reads and checks the columns of a row group, before the library sees any of it. */
  private async open(group: Group): Promise<void> {
    this.kept.clear();
    this.own.clear();
    const { source, used, tops } = this.of;
    for (const [i, chunk] of group.chunks.entries()) {
      const where = placeOf(group, chunk.name);
      const bytes = await this.file.slice(chunk.start, chunk.end);
      const kind = this.kindOf(used[i]!, tops[used[i]!]!);
      if (kind !== null && arePlainPages(bytes, chunk, { source, where, kind })) {
        const room = this.rooms[i]!;
        this.own.set(chunk.name, kind === 'TEXT' ? new TextPages(bytes, room, chunk, source, where)
          : new NumberPages(bytes, room, kind, chunk, source, where));
      } else {
        checkPages(bytes, chunk, source, where);
        this.kept.set(chunk.start, bytes);
      }
    }
    this.group = group;
  }

  private kindOf(index: number, { element }: SchemaTree): NumberKind | 'TEXT' | null {
    if (isOfTexts(element)) return 'TEXT';
    return this.of.isNumber(index) ? numberKindOf(element) : null;
  }

  private take(start: number, end: number | undefined): ArrayBuffer {
    const kept = this.kept.get(start);
    if (kept !== undefined && start + kept.byteLength === end) return kept;
    throw damaged(this.of.source, `byte ${start}`, 'its footer contradicts itself');
  }
}

function placeOf({ number }: Group, name: string): string {
  return `row group ${number} (from 1), column "${name}"`;
}
