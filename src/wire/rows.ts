import { isLittleEndian } from '../base/byte-order.js';
import type { ColumnType } from '../base/columns.js';
import { InvalidParameterError } from '../base/errors.js';
import { factsLimits, valueMaxText } from '../base/facts-limits.js';
import { batchCells } from './cells.js';
import type { BatchBody } from './messages.js';
import { numberBytes, readNumbers, writeNumbers } from './numbers.js';
import { malformed } from './reader.js';

type DataType = BatchBody['dataType'];
type BatchNumbers = Pick<BatchBody, 'rows' | 'columns' | 'dataType' | 'data' | 'cells'>;

/**
 * The rows of a batch as doubles: rows * columns numbers, row-major, in their own memory. Values
 * may be NaN, infinite or too large where the study has no types: see `firstUnusable`.
 * @param types of the columns, if the study has any. `batchCells` says what the numbers are then,
 *   and has the texts.
 * @throws WireError('malformed') if there is no row or no column, or the data have another size; as
 *   `batchCells` does.
 */
export function batchRows(body: BatchNumbers, types?: readonly ColumnType[]): Float64Array {
  if (types !== undefined) return batchCells(body, types).values;
  checkSize(body);
  return readNumbers(body.data, body.dataType, isLittleEndian);
}

/**
 * As `batchRows`, but without a copy if possible. The numbers are then the body's own bytes, and
 * neither may be changed. This needs a body from `decodeClientFrame` with float64 data.
 * @throws WireError('malformed') as `batchRows`.
 */
export function viewBatchRows(body: BatchNumbers, types?: readonly ColumnType[]): Float64Array {
  if (types !== undefined) return batchCells(body, types).values;
  checkSize(body);
  const { data, dataType } = body;
  const inPlace = dataType === 'float64' && isLittleEndian && data.byteOffset % 8 === 0;
  return inPlace
    ? new Float64Array(data.buffer, data.byteOffset, data.length / 8)
    : readNumbers(data, dataType, isLittleEndian);
}

function checkSize(body: BatchNumbers): void {
  // Both factors are below 2^32. A rounded product is above 2^53 and cannot equal a length.
  const count = body.rows * body.columns;
  if (count === 0) throw malformed('a batch has at least one row and one column');
  if (body.cells !== undefined) throw malformed('only a study with typed columns takes cells');
  if (count * numberBytes[body.dataType] !== body.data.length) {
    throw malformed(
      `${body.rows} rows of ${body.columns} ${body.dataType} numbers do not make `
        + `${body.data.length} bytes`,
    );
  }
}

/** The index of the first value that is NaN, infinite or beyond `valueMax` in size, or -1. */
export function firstUnusable(values: Float64Array): number {
  const { valueMax } = factsLimits;
  for (let i = 0; i < values.length; i++) {
    // Written so that it is false for NaN.
    if (!(Math.abs(values[i]!) <= valueMax)) return i;
  }
  return -1;
}

/**
 * The `data` of a batch: little-endian numbers in the order of `values`.
 * @throws InvalidParameterError if a value is not finite, beyond `valueMax` in size, or too large
 *   for float32. details.index is its index.
 */
export function encodeRows(values: Float64Array, dataType: DataType): Uint8Array {
  const numbers = dataType === 'float64' ? values : Float64Array.from(values, Math.fround);
  const bad = firstUnusable(numbers);
  if (bad >= 0) {
    throw new InvalidParameterError(
      `value ${bad} is not a finite ${dataType} number of at most ${valueMaxText} in size: drop the `
        + 'row',
      { index: bad, dataType },
    );
  }
  return writeNumbers(numbers, dataType, isLittleEndian);
}
