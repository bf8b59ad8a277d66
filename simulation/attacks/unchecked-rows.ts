import { numberBytes, type BatchBody } from '../../src/wire/index.js';

/** `encodeRows` without its checks: an attacker's own client would send this. */
export function encodeUnchecked(values: Float64Array, dataType: BatchBody['dataType']): Uint8Array {
  const size = numberBytes[dataType];
  const bytes = new Uint8Array(values.length * size);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    if (dataType === 'float64') view.setFloat64(i * size, value, true);
    else view.setFloat32(i * size, value, true);
  });
  return bytes;
}
