import { InvalidInputError } from '../../src/base/errors.js';

/** The contents of the header of a .npy file, for the supported forms. */
export interface NpyHeader {
  readonly itemBytes: 4 | 8;
  readonly littleEndian: boolean;
  readonly rows: number;
  readonly columns: number;
  /** The start of the numbers, in bytes. */
  readonly dataOffset: number;
}

/** The first six bytes of every .npy file. */
export const npyMagic = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

/** Longer headers are refused. */
export const headerBytesMax = 65_536;
/** Wider rows are refused. A short header must not cause lists of as many columns as it claims. */
const npyColumnsMax = 1_048_576;
const remedy = 'save it with numpy.save(path, numpy.ascontiguousarray(values, dtype="float64"))';

/**
 * Bytes that `parseNpyHeader` needs. Call it again with these bytes: the length in the header may
 * ask for more.
 */
export function npyHeaderBytes(bytes: Uint8Array, source: string): number {
  if (bytes.length < 12) return 12;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!npyMagic.every((byte, i) => bytes[i] === byte)) {
    throw new InvalidInputError(`${source}: not a .npy file: ${remedy}`);
  }
  const version = bytes[6]!;
  if (version < 1 || version > 3) {
    throw new InvalidInputError(
      `${source}: .npy version ${version} is not supported, 1 to 3 are: ${remedy}`,
      { version },
    );
  }
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > headerBytesMax) {
    throw new InvalidInputError(
      `${source}: the .npy header is longer than ${headerBytesMax} bytes`,
    );
  }
  return (version === 1 ? 10 : 12) + length;
}

/** @throws InvalidInputError on anything but float32 or float64 in C order with one or two axes. */
export function parseNpyHeader(bytes: Uint8Array, source: string): NpyHeader {
  const dataOffset = npyHeaderBytes(bytes, source);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, dataOffset)
    .toString('utf8', bytes[6] === 1 ? 10 : 12);
  const type = /'descr'\s*:\s*'([^']*)'/.exec(text)?.[1];
  const order = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const shape = /'shape'\s*:\s*\(([0-9,\sL]*)\)/.exec(text)?.[1];
  const matched = type === undefined ? null : /^([<>])f([48])$/.exec(type);
  if (matched === null) {
    throw new InvalidInputError(
      `${source}: its numbers are not float32 or float64: ${remedy}`,
      { type: type ?? 'structured' },
    );
  }
  if (order === undefined || shape === undefined) {
    throw new InvalidInputError(`${source}: the .npy header is damaged: ${remedy}`);
  }
  if (order === 'True') {
    throw new InvalidInputError(`${source}: it is stored in Fortran order: ${remedy}`);
  }
  const axes = shape.split(',')
    .map((part) => part.trim().replace(/L$/, '')).filter((part) => part !== '').map(Number);
  if (axes.length < 1 || axes.length > 2 || axes.some((axis) => !Number.isSafeInteger(axis))) {
    throw new InvalidInputError(
      `${source}: it has ${axes.length} axes: rows and columns (two) or one value per row (one) `
        + 'are read',
    );
  }
  const [rows = 0, columns = 1] = axes;
  if (columns > npyColumnsMax) {
    throw new InvalidInputError(
      `${source}: its header claims ${columns} columns, at most ${npyColumnsMax} are read: save `
        + 'the columns that count',
      { columns, limit: npyColumnsMax },
    );
  }
  return {
    itemBytes: matched[2] === '4' ? 4 : 8,
    littleEndian: matched[1] === '<',
    rows,
    columns,
    dataOffset,
  };
}
