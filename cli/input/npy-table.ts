import { open, stat } from 'node:fs/promises';
import { isLittleEndian } from '../../src/base/byte-order.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { factsLimits, valueMaxText } from '../../src/base/facts-limits.js';
import { sharedDoubles } from '../../src/numerics/kernels/shards.js';
import { asInputError } from '../base/errors.js';
import { flightsName } from '../data/flights.js';
import { selectColumns } from './columns.js';
import {
  headerBytesMax, npyHeaderBytes, npyMagic, parseNpyHeader, type NpyHeader,
} from './npy-header.js';
import { queryMark } from './query.js';
import type { InputRequest } from './rows.js';

/** Rows of a .npy file: row-major, in shared memory where the platform has it. */
export interface NpyTable {
  readonly columns: readonly string[];
  readonly count: number;
  readonly values: Float64Array;
}

/** Bytes per read. */
const pieceBytes = 1 << 20;

/**
 * Reads a whole .npy file into one array, through a buffer of a mebibyte. Nothing else grows with
 * the file.
 * @returns null if it is not a regular .npy file with exactly the data that its header promises, or
 *   if rows must be grouped or only counted. The reader of streams then reports the error, or
 *   groups or counts the rows.
 * @throws InvalidInputError with row and column, both counted from 0, of a value that is not finite
 *   or beyond `valueMax` in size.
 */
export async function readNpyTable(request: InputRequest): Promise<NpyTable | null> {
  const { path, contributor, group, columns, onProgress } = request;
  const isApart = path === '-' || path === flightsName || path.startsWith(queryMark);
  if (isApart || contributor !== undefined || group !== undefined || columns?.length === 0
      || request.header !== undefined || request.form !== undefined) return null;
  try {
    // To open a pipe, and close it, would end its writer.
    if (!(await stat(path)).isFile()) return null;
    const file = await open(path);
    try {
      const found = await file.stat();
      const room = new Uint8Array(Math.min(found.size, headerBytesMax + 12));
      const head = room.subarray(0, (await file.read(room, 0, room.length, 0)).bytesRead);
      const isWhole = head.length >= 12 && npyMagic.every((byte, i) => head[i] === byte)
        && npyHeaderBytes(head, path) <= head.length;
      if (!isWhole) return null;
      const header = parseNpyHeader(head, path);
      const bytes = header.rows * header.columns * header.itemBytes;
      if (bytes === 0 || found.size - header.dataOffset !== bytes) return null;
      const { data, names } = selectColumns({ ...request, source: path }, header.columns, null);
      const values = sharedDoubles(header.rows * data.length);
      const decoder = new Decoder(header, data, values, path);
      const piece =
        new Uint8Array(Math.max(1, Math.floor(pieceBytes / decoder.rowBytes)) * decoder.rowBytes);
      for (let done = 0; done < bytes;) {
        const { bytesRead } =
          await file.read(piece, 0, Math.min(piece.length, bytes - done), header.dataOffset + done);
        const rows = Math.floor(bytesRead / decoder.rowBytes);
        if (rows === 0) return null;
        decoder.take(piece, rows);
        done += rows * decoder.rowBytes;
        onProgress?.(header.dataOffset + done, found.size);
      }
      return { columns: names, count: header.rows, values };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw asInputError(error, path);
  }
}

class Decoder {
  readonly rowBytes: number;
  readonly #isPlain: boolean;
  #rows = 0;

  constructor(
    private readonly header: NpyHeader,
    private readonly data: readonly number[],
    private readonly into: Float64Array,
    private readonly source: string,
  ) {
    this.rowBytes = header.columns * header.itemBytes;
    const isSame = data.length === header.columns && data.every((column, i) => column === i);
    this.#isPlain = isSame && header.itemBytes === 8 && header.littleEndian && isLittleEndian;
  }

  /** Decodes the first `rows` rows of the bytes. */
  take(bytes: Uint8Array, rows: number): void {
    const { data, into } = this;
    const start = this.#rows * data.length;
    const end = start + rows * data.length;
    if (this.#isPlain) {
      new Uint8Array(into.buffer, into.byteOffset + 8 * start)
        .set(bytes.subarray(0, rows * this.rowBytes));
    } else {
      this.#convert(bytes, rows, start);
    }
    const { valueMax } = factsLimits;
    for (let at = start; at < end; at++) {
      // Written so that it throws for NaN.
      if (!(Math.abs(into[at]!) <= valueMax)) throw this.#unusable(at);
    }
    this.#rows += rows;
  }

  #convert(bytes: Uint8Array, rows: number, start: number): void {
    const { header: { itemBytes, littleEndian }, data, into, rowBytes } = this;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = start;
    for (let row = 0; row < rows; row++) {
      for (const column of data) {
        const place = row * rowBytes + column * itemBytes;
        into[at++] = itemBytes === 8
          ? view.getFloat64(place, littleEndian) : view.getFloat32(place, littleEndian);
      }
    }
  }

  #unusable(at: number): InvalidInputError {
    const [row, column] = [Math.floor(at / this.data.length), this.data[at % this.data.length]!];
    return new InvalidInputError(
      `${this.source}, row ${row}, column ${column} (both from 0): not a finite number of at most `
        + `${valueMaxText} in size: remove the row`,
      { source: this.source, row, column },
    );
  }
}
