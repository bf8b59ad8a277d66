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
 * the library busy for ever, which nothing in their headers says.
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
      if (!isSoundPage(header, chunk, content)) {
        throw damaged(source, place, 'the values of a page are not valid', { byte: at });
      }
      rows += rowsOf(header);
    }
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
function rowsOf(header: PageHeader): number {
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

/** Whether the runs of a page end where its values do. */
function isSoundPage(header: PageHeader, chunk: Chunk, content: Uint8Array): boolean {
  try {
    checkValues(header, chunk, content);
    return true;
  } catch {
    return false;
  }
}

/**
 * @throws RangeError if runs are longer than the page has values, or what the decoder throws if the
 *   page cannot be decompressed.
 */
function checkValues(header: PageHeader, { codec, isOptional }: Chunk, content: Uint8Array): void {
  const { data_page_header: first, data_page_header_v2: second } = header;
  const decode = pageDecoders[codec];
  let count = rowsOf(header);
  let page: PageReader;
  if (second === undefined) {
    page = { bytes: decode(content, header.uncompressed_page_size), at: 0 };
    if (isOptional) {
      const end = uint32(page) + 4;
      count = checkRuns(page, 1, count);
      page.at = end;
    }
  } else {
    const levels = second.definition_levels_byte_length + second.repetition_levels_byte_length;
    if (isOptional) {
      const at = second.repetition_levels_byte_length;
      const filled = checkRuns({ bytes: content, at }, 1, count);
      if (filled !== count - second.num_nulls) throw new RangeError('another number of nulls');
      count = filled;
    }
    const values = content.subarray(levels);
    const bytes = second.is_compressed
      ? decode(values, header.uncompressed_page_size - levels) : values;
    page = { bytes, at: 0 };
  }
  const { encoding } = first ?? second!;
  if (encoding === 'RLE') {
    uint32(page);
    checkRuns(page, 1, count);
  } else if (encoding.endsWith('_DICTIONARY')) {
    const width = page.bytes[page.at++];
    if (width === undefined && count > 0) throw new RangeError('no width');
    // The first version needs no runs where all values are the same.
    if (width !== 0 || second !== undefined) checkRuns(page, width ?? 0, count);
  }
}
