import type { FileMetaData, RowGroup, SchemaElement, SchemaTree } from 'hyparquet';
import { InvalidInputError } from '../../src/base/errors.js';
import { damaged } from './damage.js';
import { isCodec, type Codec } from './parquet-codecs.js';
import { adviceOn, type RowOptions } from './rows.js';
import type { TimeKind } from './times.js';

/** The compressed columns of one row group are in memory together. */
const groupBytesMax = 1 << 30;

/**
 * Checks that a column can be read, from its type in the file.
 * @param index - of the column in the file, from 0.
 * @throws InvalidInputError with the contents of the column and what to save instead.
 */
export function checkColumn(
  { children, element }: SchemaTree, index: number, options: RowOptions,
): void {
  const hasTimes = children.length === 0 && timeKindOf(element) !== null;
  const isTime = hasTimes && isOfTimes(options, element.name, index);
  const fault = children.length > 0 || element.repetition_type === 'REPEATED'
    ? nestedFault : isTime ? null : elementFault(element);
  if (fault !== null) throw wrongColumn(options, index, element.name, fault, hasTimes);
}

/** The fault of columns of lists, structures and maps. */
export const nestedFault =
  'lists, structures and maps have no one value for each row: save their parts as columns';
/** The fault of columns of dates and times. */
export const timeFault = 'a date or time: save it as a number, or as a text';
/** True where a column is read as one of times. */
export function isOfTimes({ times }: RowOptions, name: string, index: number): boolean {
  return times?.has(name) === true || times?.has(String(index)) === true;
}

/** The kind of the dates or times of a column; null for other columns. */
export function timeKindOf(
  { type, converted_type: converted, logical_type: logical }: SchemaElement,
): TimeKind | null {
  if (logical?.type === 'TIMESTAMP') return logical.isAdjustedToUTC ? 'utc' : 'local';
  if (logical?.type === 'DATE' || converted === 'DATE') return 'day';
  return converted?.startsWith('TIMESTAMP') === true || type === 'INT96' ? 'utc' : null;
}

/** The fault of columns of decimals. */
export const decimalFault = 'a decimal: save it as a double';
/** The fault of columns of bytes. */
export const bytesFault = 'bytes that are not marked as text: save them as text';

/**
 * An error about the type of a column, in Parquet and Arrow.
 * @param hasTimes - whether it could be read as one of dates or times.
 */
export function wrongColumn(
  options: RowOptions, index: number, name: string, fault: string, hasTimes: boolean,
): InvalidInputError {
  const { source } = options;
  const asTimes = hasTimes ? adviceOn(options, 'type', `, or read it with --type ${name}=time`) : '';
  const place = `${source}, column ${index + 1} ("${name}")`;
  return new InvalidInputError(
    `${place}: ${fault}${asTimes}${adviceOn(options, 'columns', ', or leave the column out with --columns')}`,
    { source, column: index + 1, name },
  );
}

const integers = /^U?INT_(8|16|32|64)$/;

/** The reason why a column of this type is not read; null if it is. */
function elementFault(
  { type, converted_type: converted, logical_type: logical }: SchemaElement,
): string | null {
  const kind = logical?.type ?? converted ?? '';
  if (/^(DATE|TIME|TIMESTAMP|INTERVAL)/.test(kind) || type === 'INT96') return timeFault;
  if (kind === 'DECIMAL') return decimalFault;
  if (type === 'BYTE_ARRAY') {
    return ['UTF8', 'STRING', 'ENUM'].includes(kind) ? null : bytesFault;
  }
  if (kind === 'FLOAT16') return null;
  const isPlain = kind === '' || kind === 'INTEGER' || integers.test(kind);
  return isPlain && type !== 'FIXED_LEN_BYTE_ARRAY' ? null : bytesFault;
}

/** The size of the floats of a column; undefined if it has none. */
export function floatBytesOf(
  { type, converted_type: converted, logical_type: logical }: SchemaElement,
): number | undefined {
  if ((logical?.type ?? converted) === 'FLOAT16') return 2;
  return type === 'DOUBLE' ? 8 : type === 'FLOAT' ? 4 : undefined;
}

/** A group of rows whose columns lie together, and the columns of it that are read. */
export interface Group {
  /** From 1. */
  readonly number: number;
  readonly rows: number;
  readonly chunks: readonly Chunk[];
}

/** One column of one row group. */
export interface Chunk {
  readonly name: string;
  readonly rows: number;
  /** The first and the last byte in the file, the last one excluded. */
  readonly start: number;
  readonly end: number;
  readonly isOptional: boolean;
  readonly codec: Codec;
}

/**
 * The row groups of a file, with the columns that are read.
 * @param columns - the tops of the columns that are read.
 * @throws InvalidInputError if the footer contradicts itself, and for what is not supported.
 */
export function groupsOf(
  { row_groups: groups, num_rows: rows }: FileMetaData, columns: readonly SchemaTree[],
  source: string,
): readonly Group[] {
  const found = groups.map((group, i) => groupOf(group, i + 1, columns, source));
  const sum = found.reduce((all, each) => all + each.rows, 0);
  if (sum === Number(rows)) return found;
  throw damaged(source, 'footer', `it promises ${rows} rows, and its row groups have ${sum}`);
}

function groupOf(
  group: RowGroup, number: number, columns: readonly SchemaTree[], source: string,
): Group {
  const rows = Number(group.num_rows);
  const where = `row group ${number} (from 1)`;
  const chunks = columns.map(({ element }): Chunk => {
    const place = `${where}, column "${element.name}"`;
    const column = group.columns.filter(({ meta_data: meta }) =>
      meta?.path_in_schema[0] === element.name);
    const meta = column[0]?.meta_data;
    if (column.length !== 1 || meta?.path_in_schema.length !== 1
        || column[0]!.file_path !== undefined) {
      throw new InvalidInputError(`${source}, ${place}: the column is encrypted, in another file `
        + 'or missing: save the rows in one plain file', { source });
    }
    if (Number(meta.num_values) !== rows || meta.type !== element.type) {
      throw damaged(source, place, 'its footer contradicts itself');
    }
    if (!isCodec(meta.codec)) {
      throw new InvalidInputError(`${source}, ${place}: its compression is not read: save it with `
        + 'zstd, snappy, gzip, brotli or none', { source });
    }
    const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
    const end = start + Number(meta.total_compressed_size);
    const { codec } = meta;
    return { name: element.name, rows, start, end, isOptional: isOptional(element), codec };
  });
  const bytes = chunks.reduce((all, { start, end }) => all + end - start, 0);
  if (bytes > groupBytesMax) {
    throw new InvalidInputError(`${source}, ${where}: its columns have ${bytes} bytes, at most `
      + `${groupBytesMax} are read: save the file with smaller row groups`,
    { source, limit: groupBytesMax });
  }
  return { number, rows, chunks };
}

function isOptional({ repetition_type: repetition }: SchemaElement): boolean {
  return repetition !== 'REQUIRED';
}
