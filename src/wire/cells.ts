import { isLittleEndian } from '../base/byte-order.js';
import { cellFault, namesOfType, type ColumnType } from '../base/columns.js';
import { InvalidParameterError, WireError } from '../base/errors.js';
import type { BatchBody, Cells } from './messages.js';
import { numberBytes, readNumbers, writeNumbers } from './numbers.js';
import { malformed } from './reader.js';

type DataType = BatchBody['dataType'];
type TypedBatch = Pick<BatchBody, 'rows' | 'columns' | 'dataType' | 'data' | 'cells'>;

/**
 * The most values in one batch of a study with typed columns. A boolean takes one bit of a message
 * and 64 bits in memory, so the size of a message alone would not bound the memory.
 */
export const cellsPerBatch = 2 ** 19;

/**
 * The rows of a batch of a study with typed columns, as doubles: rows * columns numbers, row-major,
 * in their own memory. A boolean is 0 or 1, a category the place of its name. Equal rows in one
 * data type have equal bytes: every other form is refused.
 * @throws WireError with the code
 *   - `malformed` for other fields or sizes than the types need, or unused bits that are not 0;
 *   - `wrong-dimension` for another number of columns;
 *   - `too-many-rows` above `cellsPerBatch` values;
 *   - `not-finite`, `wrong-type` for a value that its column cannot hold.
 *   The text names column, row and rule, never the value.
 */
export function cellValues(body: TypedBatch, types: readonly ColumnType[]): Float64Array {
  const { rows, columns, data, cells = [] } = body;
  if (columns !== types.length || cells.length !== types.length) {
    throw refused('wrong-dimension', `the study has ${types.length} columns`);
  }
  if (rows === 0) throw malformed('a batch has at least one row');
  if (data.length > 0) throw malformed('a study with typed columns takes cells, not data');
  if (rows * columns > cellsPerBatch) {
    throw refused('too-many-rows', `a batch holds at most ${cellsPerBatch} values`);
  }
  const values = new Float64Array(rows * columns);
  types.forEach((type, column) => {
    const read = columnValues(cells[column]!, type, body, column);
    for (let row = 0; row < rows; row++) {
      const value = read[row]!;
      const fault = cellFault(type, value);
      if (fault !== null) {
        throw refused(fault, `column ${column}, row ${row}: no value of type ${type.type}`);
      }
      values[row * columns + column] = value;
    }
  });
  return values;
}

/**
 * Numbers, row-major, as the cells of a batch. `cellValues` reads them back.
 * @throws InvalidParameterError for a value that its column cannot hold, or that float32 would
 *   change too much. It names column and row, never the value.
 */
export function encodeCells(
  values: Float64Array, types: readonly ColumnType[], dataType: DataType,
): Cells[] {
  const rows = values.length / types.length;
  return types.map((type, column) => {
    const own =
      Float64Array.from({ length: rows }, (_, row) => values[row * types.length + column]!);
    const sent = dataType === 'float32' && isNumeric(type) ? own.map(Math.fround) : own;
    const bad = sent.findIndex((value, row) => cellFault(type, value) !== null
      || (type.type === 'integer' && value !== own[row]));
    if (bad >= 0) {
      throw new InvalidParameterError(
        `column ${column} of row ${bad} is no ${dataType} ${type.type}: leave the row out`,
        { row: bad, column },
      );
    }
    return encodeColumn(sent, type, dataType);
  });
}

function encodeColumn(values: Float64Array, type: ColumnType, dataType: DataType): Cells {
  const none = new Uint8Array(0);
  if (isNumeric(type)) {
    return { numbers: writeNumbers(values, dataType, isLittleEndian), codes: none };
  }
  const codes = new Uint8Array(codesLength(type, values.length));
  const wide = codes.length === 2 * values.length;
  values.forEach((value, row) => {
    if (type.type === 'boolean') codes[row >> 3]! |= value << (row & 7);
    else if (wide) codes.set([value & 255, value >> 8], 2 * row);
    else codes[row] = value;
  });
  return { numbers: none, codes };
}

function columnValues(
  { numbers, codes }: Cells, type: ColumnType, { rows, dataType }: TypedBatch, column: number,
): Float64Array {
  const numeric = isNumeric(type);
  const sizes = numeric ? [rows * numberBytes[dataType], 0] : [0, codesLength(type, rows)];
  if (numbers.length !== sizes[0] || codes.length !== sizes[1]) {
    throw malformed(`the cells of column ${column} do not have the size of ${rows} rows`);
  }
  if (numeric) return readNumbers(numbers, dataType, isLittleEndian);
  if (type.type !== 'boolean') {
    const wide = codes.length === 2 * rows;
    return Float64Array.from({ length: rows }, (_, row) =>
      (wide ? codes[2 * row]! + 256 * codes[2 * row + 1]! : codes[row]!));
  }
  if ((rows & 7) !== 0 && codes.at(-1)! >> (rows & 7) !== 0) {
    throw malformed(`unused bits of column ${column} are not 0`);
  }
  return Float64Array.from({ length: rows }, (_, row) => (codes[row >> 3]! >> (row & 7)) & 1);
}

function isNumeric({ type }: ColumnType): boolean {
  return type === 'number' || type === 'integer';
}

function codesLength(type: ColumnType, rows: number): number {
  if (type.type === 'boolean') return Math.ceil(rows / 8);
  return namesOfType(type)!.length > 256 ? 2 * rows : rows;
}

function refused(
  code: 'wrong-dimension' | 'too-many-rows' | 'not-finite' | 'wrong-type', why: string,
): WireError {
  return new WireError(code, why);
}
