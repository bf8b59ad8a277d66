import { crc32 } from 'node:zlib';
import type { PageHeader } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { damaged } from './damage.js';
import { pageDecoders } from './parquet-codecs.js';
import type { Chunk } from './parquet-columns.js';
import { checkThrift } from './parquet-thrift.js';
import { checkRuns, uint32, type PageReader } from './parquet-runs.js';

/** Pages are decoded whole. Files in use have pages of about a mebibyte. */
const pageBytesMax = 256 * 1024 * 1024;
const pageRowsMax = 1 << 24;

/**
 * The delta encodings are left out: a few bytes of them can stand for any number of bytes or keep
 * the library busy without end, and nothing in their headers reveals it.
 */
const encodings: readonly (string | undefined)[] =
  ['PLAIN', 'PLAIN_DICTIONARY', 'RLE_DICTIONARY', 'RLE', 'BYTE_STREAM_SPLIT'];

/**
 * Walks the page headers of a column of a row group before anything of it is decoded: sizes are
 * bounded, pages have all rows, and checksums are right where there are some.
 * @param bytes - those of the file from `chunk.start` to `chunk.end`.
 * @param where - the place, for messages.
 * @throws InvalidInputError with the byte of the file where the bad page begins.
 */
export function checkPages(
  bytes: ArrayBuffer, chunk: Chunk, source: string, where: string,
): void {
  for (const page of pagesOf(bytes, chunk, source, where)) {
    if (page.header.type !== 'DICTIONARY_PAGE') valuesOf(page, chunk, source);
  }
}

/** One page of a column of a row group, as it is in the file. */
export interface Page {
  readonly header: PageHeader;
  readonly content: Uint8Array;
  /** The place, for messages, and the byte of the file where its header begins. */
  readonly place: string;
  readonly byte: number;
}

/** The pages of `checkPages`. Their values are not looked at. */
export function* pagesOf(
  bytes: ArrayBuffer, chunk: Chunk, source: string, where: string,
): Generator<Page, void, undefined> {
  const reader = { view: new DataView(bytes), offset: 0 };
  let rows = 0;
  while (rows < chunk.rows) {
    const at = chunk.start + reader.offset;
    const place = `${where}, byte ${at}`;
    const header = headerOf(reader);
    if (header === null) throw damaged(source, place, 'there is no page', { byte: at });
    const { compressed_page_size: size, uncompressed_page_size: unpacked } = header;
    const left = bytes.byteLength - reader.offset;
    if (!(size >= 0 && size <= left && unpacked >= 0)) {
      throw damaged(source, place, 'a page is longer than its column', { byte: at });
    }
    if (unpacked > pageBytesMax || rowsOf(header) > pageRowsMax) {
      throw new InvalidInputError(`${source}, ${place}: a page has more than ${pageBytesMax} bytes `
        + `or ${pageRowsMax} rows: save the file with smaller pages`, { source, byte: at });
    }
    const content = new Uint8Array(bytes, reader.offset, size);
    if (header.crc !== undefined && crc32(content) !== header.crc >>> 0) {
      throw damaged(source, place, 'the checksum of a page is wrong', { byte: at });
    }
    if (header.type !== 'DICTIONARY_PAGE') {
      checkDataPage(header, chunk, source, place);
      rows += rowsOf(header);
    }
    yield { header, content, place, byte: at };
    reader.offset += size;
  }
  if (rows > chunk.rows) {
    throw damaged(source, where, `its pages have ${rows} rows, and the row group ${chunk.rows}`);
  }
}

function headerOf(reader: { view: DataView; offset: number }): PageHeader | null {
  try {
    checkThrift(new Uint8Array(reader.view.buffer), reader.offset);
    return parquetHeader(reader);
  } catch {
    return null;
  }
}

/** Values of a page; for pages of data also rows, since no column has lists. */
export function rowsOf(header: PageHeader): number {
  return (header.data_page_header ?? header.data_page_header_v2 ?? header.dictionary_page_header)
    ?.num_values ?? 0;
}

function checkDataPage(
  { data_page_header: first, data_page_header_v2: second, ...header }: PageHeader,
  { isOptional }: Chunk, source: string, place: string,
): void {
  const page = header.type === 'DATA_PAGE' ? first : header.type === 'DATA_PAGE_V2' ? second
    : undefined;
  // A page without rows would let the walk go on for as long as the column has bytes.
  if (page === undefined || !(page.num_values > 0)) {
    throw damaged(source, place, 'there is no page of rows');
  }
  const isOldLevel = isOptional && first !== undefined
    && first.definition_level_encoding !== 'RLE';
  if (!encodings.includes(page.encoding) || isOldLevel) {
    throw new InvalidInputError(`${source}, ${place}: the encoding of its values is not read: save `
      + 'the column with plain or dictionary encoding', { source });
  }
  if (second === undefined) return;
  const { num_nulls: nulls, num_rows: rows, num_values: values } = second;
  const levels = second.definition_levels_byte_length + second.repetition_levels_byte_length;
  const isSound = rows === values && nulls >= 0 && nulls <= values
    && levels >= 0 && levels <= header.compressed_page_size
    && levels <= header.uncompressed_page_size;
  if (!isSound) throw damaged(source, place, 'the header of a page contradicts itself');
}

/** The values of a page of data, decompressed. */
export interface PageValues {
  /** At the first value. */
  readonly page: PageReader;
  /** Without nulls. */
  readonly count: number;
  /** At the runs that mark the rows with a value; null: by the column's type, all have one. */
  readonly levels: PageReader | null;
}

/**
 * Decompresses a page of data.
 * @throws InvalidInputError where its runs do not end where its values do.
 */
export function valuesOf(
  { header, content, place, byte }: Page, chunk: Chunk, source: string,
): PageValues {
  try {
    return checkedValues(header, chunk, content);
  } catch {
    throw damaged(source, place, 'the values of a page are not valid', { byte });
  }
}

/**
 * @throws RangeError if runs are longer than the page has values, or what the decoder throws if the
 *   page cannot be decompressed.
 */
function checkedValues(
  header: PageHeader, { codec, isOptional }: Chunk, content: Uint8Array,
): PageValues {
  const { data_page_header: first, data_page_header_v2: second } = header;
  const decode = pageDecoders[codec];
  let count = rowsOf(header);
  let page: PageReader;
  let levels: PageReader | null = null;
  if (second === undefined) {
    page = { bytes: decode(content, header.uncompressed_page_size), at: 0 };
    if (isOptional) {
      const end = uint32(page) + 4;
      levels = { ...page };
      count = checkRuns(page, 1, count);
      page.at = end;
    }
  } else {
    const levelBytes = second.definition_levels_byte_length + second.repetition_levels_byte_length;
    if (isOptional) {
      levels = { bytes: content, at: second.repetition_levels_byte_length };
      const filled = checkRuns({ ...levels }, 1, count);
      if (filled !== count - second.num_nulls) throw new RangeError('another number of nulls');
      count = filled;
    }
    const values = content.subarray(levelBytes);
    const bytes = second.is_compressed
      ? decode(values, header.uncompressed_page_size - levelBytes) : values;
    page = { bytes, at: 0 };
  }
  const { encoding } = first ?? second!;
  const walked = { ...page };
  if (encoding === 'RLE') {
    uint32(walked);
    checkRuns(walked, 1, count);
  } else if (encoding.endsWith('_DICTIONARY')) {
    const width = walked.bytes[walked.at++];
    if (width === undefined && count > 0) throw new RangeError('no width');
    // The first version needs no runs where all values are the same.
    if (width !== 0 || second !== undefined) checkRuns(walked, width ?? 0, count);
  }
  return { page, count, levels };
}
