/*
 * Arrays in PostgreSQL's binary form, for parameters. As text, the bytes of a body would be sent as
 * hexadecimal digits, and every number would be parsed.
 */

const int8Type = 20;
const byteaType = 17;
const textType = 25;
/** Dimensions, a flag for nulls, the type, the length and the first index: 4 bytes each. */
const headerBytes = 20;

function header(type: number, length: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(headerBytes + bytes);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return array;
}

export function int8Array(values: readonly bigint[]): Buffer {
  const array = header(int8Type, values.length, values.length * 12);
  let offset = headerBytes;
  for (const value of values) {
    array.writeInt32BE(8, offset);
    array.writeBigInt64BE(value, offset + 4);
    offset += 12;
  }
  return array;
}

function bytesArray(type: number, values: readonly Uint8Array[]): Buffer {
  const array = header(type, values.length,
    values.reduce((sum, { length }) => sum + 4 + length, 0));
  let offset = headerBytes;
  for (const value of values) {
    array.writeInt32BE(value.length, offset);
    array.set(value, offset + 4);
    offset += 4 + value.length;
  }
  return array;
}

export const byteaArray = (values: readonly Uint8Array[]): Buffer => bytesArray(byteaType, values);

export const textArray = (values: readonly string[]): Buffer =>
  bytesArray(textType, values.map((value) => Buffer.from(value)));
