import { isLittleEndian } from '../base/byte-order.js';
import { InvalidParameterError } from '../base/errors.js';
import type { BatchBody } from './messages.js';
import { malformed } from './reader.js';

type DataType = BatchBody['dataType'];
type BatchNumbers = Pick<BatchBody, 'rows' | 'columns' | 'dataType' | 'data'>;

/** Bytes of one number. */
export const numberBytes: Readonly<Record<DataType, number>> = { float32: 4, float64: 8 };

/**
 * The rows of a batch as doubles: rows * columns numbers, row-major, in their own memory. Values
 * may be NaN or infinite: see `firstNonFinite`.
 * @throws WireError('malformed') if there is no row or no column, or the data have another size.
 */
export function batchRows(body: BatchNumbers): Float64Array {
  checkSize(body);
  return readNumbers(body.data, body.dataType, isLittleEndian);
}

/**
 * As `batchRows`, but without a copy if possible. The numbers are then the body's own bytes, and
 * neither may be changed. This needs a body from `decodeClientFrame` with float64 data.
 * @throws WireError('malformed') as `batchRows`.
 */
export function viewBatchRows(body: BatchNumbers): Float64Array {
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
  if (count * numberBytes[body.dataType] !== body.data.length) {
    throw malformed(
      `${body.rows} rows of ${body.columns} ${body.dataType} numbers do not make `
        + `${body.data.length} bytes`,
    );
  }
}

/** The index of the first value that is NaN or infinite, or -1. */
export function firstNonFinite(values: Float64Array): number {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // Only for NaN and the infinities, the difference of a value with itself is NaN.
    if (value - value !== 0) return i;
  }
  return -1;
}

/**
 * The `data` of a batch: little-endian numbers in the order of `values`.
 * @throws InvalidParameterError if a value is not finite, or too large for float32. details.index
 *   is its index.
 */
export function encodeRows(values: Float64Array, dataType: DataType): Uint8Array {
  const numbers = dataType === 'float64' ? values : Float64Array.from(values, Math.fround);
  const bad = firstNonFinite(numbers);
  if (bad >= 0) {
    throw new InvalidParameterError(
      `value ${bad} is not a finite ${dataType} number: drop the row, or send float64 when it is `
        + 'too large for float32',
      { index: bad, dataType },
    );
  }
  return writeNumbers(numbers, dataType, isLittleEndian);
}

/**
 * @internal If `nativeOrder` is false, reads as a big-endian machine does; tests compare the two.
 */
export function readNumbers(
  data: Uint8Array, dataType: DataType, nativeOrder: boolean,
): Float64Array {
  const count = data.length / numberBytes[dataType];
  if (!nativeOrder) return readNumbersByView(data, dataType, count);
  // The received bytes may start at any address. A copy in fresh memory is aligned.
  if (dataType === 'float64') {
    const values = new Float64Array(count);
    new Uint8Array(values.buffer).set(data);
    return values;
  }
  const narrow = new Float32Array(count);
  new Uint8Array(narrow.buffer).set(data);
  return new Float64Array(narrow);
}

/** @internal See `readNumbers`. */
export function writeNumbers(
  values: Float64Array, dataType: DataType, nativeOrder: boolean,
): Uint8Array {
  if (!nativeOrder) return writeNumbersByView(values, dataType);
  const own = dataType === 'float64' ? values.slice() : new Float32Array(values);
  return new Uint8Array(own.buffer);
}

function readNumbersByView(data: Uint8Array, dataType: DataType, count: number): Float64Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return dataType === 'float64'
    ? Float64Array.from({ length: count }, (_, i) => view.getFloat64(8 * i, true))
    : Float64Array.from({ length: count }, (_, i) => view.getFloat32(4 * i, true));
}

function writeNumbersByView(values: Float64Array, dataType: DataType): Uint8Array {
  const bytes = new Uint8Array(values.length * numberBytes[dataType]);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    if (dataType === 'float64') view.setFloat64(8 * i, value, true);
    else view.setFloat32(4 * i, value, true);
  });
  return bytes;
}
