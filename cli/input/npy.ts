import { InvalidInputError } from '../../src/base/errors.js';
import { factsLimits, valueMaxText } from '../../src/base/facts-limits.js';
import { selectColumns } from './columns.js';
import { floatIdFault, isFloatId } from './ids.js';
import { npyHeaderBytes, parseNpyHeader, type NpyHeader } from './npy-header.js';
import { BatchBuilder, noRows, type RowBatch, type RowOptions } from './rows.js';

/**
 * Reads a NumPy array file as a stream: versions 1 to 3, float32 or float64, C order, one or two
 * axes. Columns are indexes. There are no empty cells: a value that is not finite, or beyond
 * `valueMax` in size, is refused.
 * @throws InvalidInputError with row and column, both counted from 0.
 */
export async function* readNpy(
  chunks: AsyncIterable<Uint8Array>,
  options: RowOptions,
): AsyncGenerator<RowBatch, void, undefined> {
  const { source } = options;
  let rest: Uint8Array = new Uint8Array(0);
  let header: NpyHeader | null = null;
  let rows: NpyRows | null = null;
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (header === null) {
      const isWhole = bytes.length >= 12 && bytes.length >= npyHeaderBytes(bytes, source);
      if (!isWhole) {
        rest = bytes;
        continue;
      }
      header = parseNpyHeader(bytes, source);
      rows = new NpyRows(header, options);
      bytes = bytes.subarray(header.dataOffset);
    }
    rest = bytes.subarray(rows!.take(bytes));
    yield* rows!.batches(false);
  }
  if (header === null || rows === null) {
    throw new InvalidInputError(`${source}: cut short inside the .npy header`);
  }
  if (rest.length > 0 || rows.count < header.rows) {
    const expected = header.rows * header.columns * header.itemBytes;
    const found = rows.count * header.columns * header.itemBytes + rest.length;
    throw new InvalidInputError(
      `${source}: its header promises ${expected} bytes of numbers and ${found} follow: save it `
        + 'again',
      { expectedBytes: expected, foundBytes: found },
    );
  }
  yield* rows.batches(true);
}

class NpyRows {
  count = 0;
  private readonly selection;
  private readonly builder: BatchBuilder;

  constructor(private readonly header: NpyHeader, private readonly options: RowOptions) {
    if (header.rows === 0 || header.columns === 0) {
      throw noRows(options.source);
    }
    this.selection = selectColumns(options, header.columns, null);
    this.builder = new BatchBuilder(this.selection.names, {
      contributors: this.selection.contributor >= 0,
      groups: this.selection.group >= 0,
    });
  }

  /**
   * Reads the complete rows at the start of the bytes. Returns the number of bytes that it read.
   */
  take(bytes: Uint8Array): number {
    const { itemBytes, littleEndian, columns } = this.header;
    const rowBytes = itemBytes * columns;
    const wholeRows = Math.min(Math.floor(bytes.length / rowBytes), this.header.rows - this.count);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const read = (row: number, column: number): number => {
      const at = row * rowBytes + column * itemBytes;
      return itemBytes === 8
        ? view.getFloat64(at, littleEndian) : view.getFloat32(at, littleEndian);
    };
    for (let row = 0; row < wholeRows; row++) this.addRow((column) => read(row, column));
    return wholeRows * rowBytes;
  }

  *batches(all: boolean): Generator<RowBatch> {
    yield* this.builder.take(all);
  }

  private addRow(read: (column: number) => number): void {
    const { data, contributor, group } = this.selection;
    const { target, offset } = this.builder;
    for (let i = 0;
        i < data.length; i++) target[offset + i] = this.checked(read(data[i]!), data[i]!);
    this.builder.endRow(
      this.count,
      contributor < 0 ? '' : this.idOf(read(contributor), contributor),
      group < 0 ? '' : this.idOf(read(group), group),
    );
    this.count += 1;
  }

  private idOf(value: number, column: number): string {
    if (isFloatId(this.checked(value, column), this.header.itemBytes)) return String(value);
    throw this.refused(column, floatIdFault);
  }

  private checked(value: number, column: number): number {
    if (Math.abs(value) <= factsLimits.valueMax) return value;
    throw this.refused(
      column, `not a finite number of at most ${valueMaxText} in size: remove the row`,
    );
  }

  private refused(column: number, what: string): InvalidInputError {
    const { source } = this.options;
    return new InvalidInputError(
      `${source}, row ${this.count}, column ${column} (both from 0): ${what}`,
      { source, row: this.count, column },
    );
  }
}
