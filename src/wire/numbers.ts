import type { BatchBody } from './messages.js';

type DataType = BatchBody['dataType'];

/** Bytes of one number. */
export const numberBytes: Readonly<Record<DataType, number>> = { float32: 4, float64: 8 };

/**
 * Little-endian numbers as doubles, in their own memory. If `nativeOrder` is false, it reads as a
 * big-endian machine does; tests compare the two.
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

/** Doubles as little-endian numbers. See `readNumbers`. */
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
