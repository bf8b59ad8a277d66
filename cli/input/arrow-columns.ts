import { Precision, Type, type Batch, type Column, type DataType } from '@uwdata/flechette';
import type { CellColumn, TypedCell } from './cells.js';
import { damaged } from './damage.js';
import { timeCell, type TimeKind } from './times.js';
import { bytesFault, decimalFault, nestedFault, timeFault } from './parquet-columns.js';

/** Cells of one column that are made together. */
const cellsAtOnce = 1 << 16;

const nested: ReadonlySet<number> = new Set([
  Type.List, Type.LargeList, Type.FixedSizeList, Type.ListView, Type.LargeListView, Type.Struct,
  Type.Map, Type.Union,
]);
const times: ReadonlySet<number> =
  new Set([Type.Date, Type.Time, Type.Timestamp, Type.Interval, Type.Duration]);
const plain: ReadonlySet<number> = new Set([
  Type.Int, Type.Float, Type.Bool, Type.Utf8, Type.LargeUtf8, Type.Utf8View,
]);

/** The reason why a column of this type is not read; null if it is. */
export function typeFault(type: DataType): string | null {
  const { typeId } = type;
  if (plain.has(typeId)) return null;
  if (type.typeId === Type.Dictionary) return typeFault(type.dictionary);
  if (nested.has(typeId)) return nestedFault;
  if (times.has(typeId)) return timeFault;
  if (typeId === Type.Decimal) return decimalFault;
  if (typeId === Type.RunEndEncoded) return 'run-end encoding is not read: save it decoded';
  if (typeId === Type.Null) return 'it has no values, and no type: give it one';
  return bytesFault;
}

/** The kind of the dates or times of a column; null for other columns. */
export function timeKindOf(type: DataType): TimeKind | null {
  if (type.typeId === Type.Date) return 'day';
  if (type.typeId !== Type.Timestamp) return null;
  return type.timezone ? 'utc' : 'local';
}

/** The size of the floats of a column; undefined if it has none. */
export function floatBytesOf(type: DataType): number | undefined {
  if (type.typeId === Type.Dictionary) return floatBytesOf(type.dictionary);
  return type.typeId === Type.Float ? 2 << type.precision : undefined;
}

/** A batch as it is inside: the types of the library leave out some of its members. */
interface Inside {
  readonly length: number;
  readonly nullCount: number;
  readonly type: DataType;
  readonly validity?: Uint8Array;
  readonly values?: ArrayLike<number | bigint>;
  readonly offsets?: ArrayLike<number | bigint>;
  readonly data?: readonly Uint8Array[];
  readonly dictionary?: Column<unknown>;
  at(index: number): unknown;
}

/**
 * Cells of a batch.
 * @param from - the first row of the batch.
 */
export function cellsOf(batch: Batch<unknown>, from: number, source: string): CellColumn {
  const to = Math.min(batch.length, from + cellsAtOnce);
  const numbers = numbersOf(batch);
  if (numbers !== null) return numbers.subarray(from, to);
  const time = timeKindOf((batch as Inside).type);
  const cells: TypedCell[] = new Array<TypedCell>(to - from);
  for (let i = from; i < to; i++) {
    const cell = (batch as Inside).at(i) as TypedCell | undefined;
    if (cell === undefined) {
      throw damaged(source, 'a record batch', 'a value is not in its dictionary');
    }
    cells[i - from] = time === null || cell === null ? cell : timeIn(cell, time, source);
  }
  return cells;
}

/** The library gives milliseconds. */
function timeIn(cell: TypedCell, kind: TimeKind, source: string): TypedCell {
  const text = timeCell(Math.floor(Number(cell)), kind);
  if (text !== null) return text;
  throw damaged(source, 'a record batch', 'a value is no date or time');
}

type Numbers = CellColumn & { subarray(from: number, to: number): CellColumn };

/** The buffer of a batch whose cells are its numbers as they are; else null. */
function numbersOf({ type, nullCount, values }: Inside): Numbers | null {
  const isNumbers = type.typeId === Type.Int
    || (type.typeId === Type.Float && type.precision !== Precision.HALF);
  return isNumbers && nullCount === 0 ? values as Numbers : null;
}

/**
 * True if the buffers of a batch are long enough for its rows. The library reads zeros beyond the
 * end of a buffer, and so would add values that nobody wrote.
 */
export function isSoundBatch(batch: Batch<unknown>): boolean {
  const inside = batch as Inside;
  return isSoundValidity(inside) && isSoundValues(inside);
}

function isSoundValidity({ length, nullCount, validity }: Inside): boolean {
  if (!(length >= 0 && nullCount >= 0 && nullCount <= length)) return false;
  if (validity === undefined || validity.length === 0) return nullCount === 0;
  if (validity.length < Math.ceil(length / 8)) return false;
  let set = 0;
  for (let i = 0; i < length; i++) set += (validity[i >> 3]! >> (i & 7)) & 1;
  return set === length - nullCount;
}

function isSoundValues(batch: Inside): boolean {
  const { type, length, values, offsets, dictionary } = batch;
  if (values === undefined) return false;
  switch (type.typeId) {
    case Type.Bool: return values.length >= Math.ceil(length / 8);
    case Type.Int: case Type.Float: case Type.Date: case Type.Timestamp:
      return values.length >= length;
    case Type.Utf8: case Type.LargeUtf8: return isSoundText(length, values.length, offsets);
    case Type.Utf8View: return isSoundView(batch);
    case Type.Dictionary:
      return values.length >= length && dictionary !== undefined
        && dictionary.data.every((each) => isSoundBatch(each));
    default: return false;
  }
}

function isSoundText(
  length: number, bytes: number, offsets: ArrayLike<number | bigint> | undefined,
): boolean {
  // A batch without rows may leave its offsets out.
  if (length === 0) return true;
  if (offsets === undefined || offsets.length < length + 1) return false;
  let last = 0;
  for (let i = 0; i <= length; i++) {
    const offset = Number(offsets[i]!);
    if (offset < last) return false;
    last = offset;
  }
  return last <= bytes;
}

const viewBytes = 16;
const shortTextMax = 12;

/** A view has 16 bytes: its length, and its text or, of a longer one, a buffer and an offset. */
function isSoundView({ length, values, data = [] }: Inside): boolean {
  const bytes = values as Uint8Array;
  if (bytes.length < viewBytes * length) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let i = 0; i < length; i++) {
    const size = view.getInt32(viewBytes * i, true);
    if (size < 0) return false;
    if (size <= shortTextMax) continue;
    const buffer = data[view.getInt32(viewBytes * i + 8, true)];
    const offset = view.getInt32(viewBytes * i + 12, true);
    if (buffer === undefined || offset < 0 || offset + size > buffer.length) return false;
  }
  return true;
}
