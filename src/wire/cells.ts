import { isLittleEndian } from '../base/byte-order.js';
import { cellFault, cellRule, namesOfType, type ColumnType } from '../base/columns.js';
import { InvalidParameterError, WireError } from '../base/errors.js';
import { factsLimits } from '../base/facts-limits.js';
import type { TextTable } from '../base/text-table.js';
import { bitAt, bitsOf, hasUnusedBits } from './bits.js';
import type { BatchBody, Cells } from './messages.js';
import { numberBytes, readNumbers, writeNumbers } from './numbers.js';
import { malformed } from './reader.js';
import {
  checkTexts, codeBytes, encodeCodes, encodeTexts, readAllTexts, readCodes, readTexts,
} from './text-cells.js';

type DataType = BatchBody['dataType'];
type TypedBatch = Pick<BatchBody, 'rows' | 'columns' | 'dataType' | 'data' | 'cells'>;

/**
 * The most values in one batch of a study with typed columns. A boolean takes one bit of a message
 * and 64 bits in memory, so the size of a message alone would not bound the memory.
 */
export const cellsPerBatch = 2 ** 19;

/** The rows of a batch of a study with typed columns. */
export interface BatchCells {
  /**
   * rows * columns numbers, row-major, in their own memory. A boolean is 0 or 1, a category the
   * place of its name, a text its place in the column's table. NaN where an optional column has no
   * value, and nowhere else.
   */
  readonly values: Float64Array;
  /** For each column its texts, which are views of the body; null where it is not of texts. */
  readonly texts: readonly (TextTable | null)[];
}

/**
 * Reads the cells of a batch. Equal rows in one data type have equal bytes: every other form is
 * refused. Time and memory grow with the size of the batch.
 * @param judge `accepted` for a batch that was accepted before: the form of its texts and the size
 *   of its numbers are not judged again, so that another version of Unicode or of the server cannot
 *   change the verdict.
 * @throws WireError with the code
 *   - `malformed` for other fields or sizes than the types need, unused bits that are not 0, or a
 *     dictionary that is not in its one form;
 *   - `wrong-columns` for another number of columns;
 *   - `too-many-rows` above `cellsPerBatch` values;
 *   - `not-finite`, `wrong-type` for a value that its column cannot hold;
 *   - `bad-text` for a text that is not in the form of `textFault`.
 *   The text names column, row and rule, never the value.
 */
export function batchCells(
  body: TypedBatch, types: readonly ColumnType[], judge: 'new' | 'accepted' = 'new',
): BatchCells {
  const { rows, columns, data, cells = [] } = body;
  if (columns !== types.length || cells.length !== types.length) {
    throw refused('wrong-columns', `the study has ${types.length} columns`);
  }
  if (rows === 0) throw malformed('a batch has at least one row');
  if (data.length > 0) throw malformed('a study with typed columns takes cells, not data');
  if (rows * columns > cellsPerBatch) {
    throw refused('too-many-rows', `a batch holds at most ${cellsPerBatch} values`);
  }
  const values = new Float64Array(rows * columns);
  const texts = types.map((type, column) => {
    const own = cells[column]!;
    if (readAllNumbers(own, type, body, column, values)) return null;
    if (type.type === 'text' && isEmpty(own.present)) {
      const table = readTexts(own.dictionary, type, column)!;
      const where = { column, columns, judge };
      if (readAllTexts(own, table, type.bytes, values, where)) return table;
    }
    const read = columnValues(own, type, body, column, judge);
    for (let row = 0; row < rows; row++) values[row * columns + column] = read.values[row]!;
    return read.texts;
  });
  return { values, texts };
}

/**
 * Writes a column of doubles to its place in the rows. Most columns are so, and this is faster than
 * `columnValues`. Returns false for every other column and every fault, which that then judges.
 */
function readAllNumbers(
  cells: Cells, { type }: ColumnType, { rows, columns, dataType }: TypedBatch, column: number,
  values: Float64Array,
): boolean {
  const { numbers, codes, present, dictionary } = cells;
  const isPlain = type === 'number' && dataType === 'float64' && numbers.length === 8 * rows
    && codes.length === 0 && isEmpty(present) && isEmpty(dictionary);
  if (!isPlain) return false;
  const view = new DataView(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  for (let row = 0; row < rows; row++) {
    const value = view.getFloat64(8 * row, true);
    if (!(Math.abs(value) <= factsLimits.valueMax)) return false;
    values[row * columns + column] = value;
  }
  return true;
}

/**
 * Numbers, row-major, as the cells of a batch. `batchCells` reads them back. NaN in an optional
 * column is a row without a value.
 * @param texts what the numbers of text columns are places in: texts in the form of `textFault`.
 * @throws InvalidParameterError for a value that its column cannot hold, or that float32 would
 *   change too much. It names column and row, never the value.
 */
export function encodeCells(
  values: Float64Array, types: readonly ColumnType[], dataType: DataType,
  texts: readonly string[] = [],
): Cells[] {
  const rows = values.length / types.length;
  return types.map((type, column) => {
    const all =
      Float64Array.from({ length: rows }, (_, row) => values[row * types.length + column]!);
    const sent = dataType === 'float32' && isNumeric(type) ? all.map(Math.fround) : all;
    const isAbsent = (value: number): boolean => type.optional === true && Number.isNaN(value);
    const bad = sent.findIndex((value, row) => !isAbsent(all[row]!) && (
      cellFault(type, value) !== null || (type.type === 'integer' && value !== all[row])
      || (type.type === 'text' && value >= texts.length)));
    if (bad >= 0) {
      throw new InvalidParameterError(
        `column ${column} of row ${bad} is no ${dataType} ${type.type}: leave the row out`,
        { row: bad, column },
      );
    }
    const there = sent.filter((value) => !isAbsent(value));
    const cells = type.type === 'text'
      ? encodeTexts(there, texts) : encodeColumn(there, type, dataType);
    if (there.length === rows) return cells;
    return { ...cells, present: bitsOf(rows, (row) => !isAbsent(all[row]!)) };
  });
}

function encodeColumn(values: Float64Array, type: ColumnType, dataType: DataType): Cells {
  const none = new Uint8Array(0);
  if (isNumeric(type)) {
    return { numbers: writeNumbers(values, dataType, isLittleEndian), codes: none };
  }
  const codes = type.type === 'boolean'
    ? bitsOf(values.length, (row) => values[row] === 1)
    : encodeCodes(values, namesOfType(type)!.length);
  return { numbers: none, codes };
}

function isEmpty(bytes: Uint8Array | undefined): boolean {
  return bytes === undefined || bytes.length === 0;
}

interface ColumnRead {
  /** One for each row. */
  readonly values: Float64Array;
  readonly texts: TextTable | null;
}

function columnValues(
  cells: Cells, type: ColumnType, { rows, dataType }: TypedBatch, column: number,
  judge: 'new' | 'accepted',
): ColumnRead {
  const there = presentRows(cells.present, type, rows, column);
  const count = there?.length ?? rows;
  const texts = readTexts(cells.dictionary, type, column);
  const numeric = isNumeric(type);
  const names = texts?.count ?? namesOfType(type)?.length ?? 0;
  const sizes = numeric
    ? [count * numberBytes[dataType], 0]
    : [0, type.type === 'boolean' ? Math.ceil(count / 8) : codeBytes(names) * count];
  if (cells.numbers.length !== sizes[0] || cells.codes.length !== sizes[1]) {
    throw malformed(`the cells of column ${column} do not have the size of ${count} rows`);
  }
  const read = numeric ? readNumbers(cells.numbers, dataType, isLittleEndian)
    : type.type === 'boolean' ? readBits(cells.codes, count, column)
      : readCodes(cells.codes, count, names);
  checkCells(read, type, { column, there, judge });
  if (type.type === 'text') checkTexts(read, texts!, type.bytes, { column, there, judge });
  if (there === null) return { values: read, texts };
  const values = new Float64Array(rows).fill(Number.NaN);
  there.forEach((row, i) => { values[row] = read[i]!; });
  return { values, texts };
}

/** @param where.there - the rows of the values; null for all rows. */
function checkCells(
  values: Float64Array, type: ColumnType,
  { column, there, judge }: {
    readonly column: number; readonly there: Uint32Array | null;
    readonly judge: 'new' | 'accepted';
  },
): void {
  for (let i = 0; i < values.length; i++) {
    const fault = cellFault(type, values[i]!);
    if (fault === null) continue;
    // Earlier versions accepted larger numbers.
    if (judge === 'accepted' && type.type === 'number' && fault === 'wrong-type') continue;
    const row = there?.[i] ?? i;
    throw refused(fault, `column ${column}, row ${row}: ${cellRule(type, fault)}`);
  }
}

/** The rows that have a value; null where all have. */
function presentRows(
  present: Uint8Array | undefined, type: ColumnType, rows: number, column: number,
): Uint32Array | null {
  if (present === undefined || present.length === 0) return null;
  if (type.optional !== true || present.length !== Math.ceil(rows / 8)) {
    throw malformed(`column ${column} has other bits of presence than its type and rows need`);
  }
  const bits = readBits(present, rows, column);
  const there = Uint32Array.from(bits.keys()).filter((row) => bits[row] === 1);
  // Rows have one form: where every row has a value, there are no bits.
  if (there.length === rows) throw malformed(`every row of column ${column} is present: no bits`);
  return there;
}

function readBits(bits: Uint8Array, count: number, column: number): Float64Array {
  if (hasUnusedBits(bits, count)) throw malformed(`unused bits of column ${column} are not 0`);
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) values[i] = bitAt(bits, i);
  return values;
}

function isNumeric({ type }: ColumnType): boolean {
  return type === 'number' || type === 'integer';
}

function refused(
  code: 'wrong-columns' | 'too-many-rows' | 'not-finite' | 'wrong-type', why: string,
): WireError {
  return new WireError(code, why);
}
