import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { utf8 } from '../../src/base/bytes.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { asInputError, UsageError } from '../base/errors.js';
import { flightsName } from '../data/flights.js';
import { headOf, rejoin } from './chunks.js';
import { readFlights } from './flights.js';
import { readNpy } from './npy.js';
import { npyMagic } from './npy-header.js';
import type { InputFormat, InputRequest, RowBatch, RowOptions } from './rows.js';
import { queryMark } from './query.js';
import { packingOf, unpack, unpackedName } from './unpack.js';

/** Endings of formats whose files begin with a mark. */
const markedEndings: Readonly<Record<string, string>> = {
  '.npy': 'a .npy file',
  '.parquet': 'a Parquet file',
  '.arrow': 'an Arrow file',
  '.arrows': 'an Arrow stream',
  '.feather': 'a Feather file of version 2',
};

/** The formats, and the marks at their start, or at a later byte. */
const magics: readonly (readonly [InputFormat, Uint8Array, number?])[] = [
  ['sqlite', utf8('SQLite format 3')],
  ['duckdb', utf8('DUCK'), 8],
  ['npy', npyMagic],
  ['parquet', utf8('PAR1')],
  ['arrow', utf8('ARROW1')],
  // The first message of an Arrow stream.
  ['arrow', Uint8Array.of(0xff, 0xff, 0xff, 0xff)],
];

/** The length of the longest prefix that identifies a format or a compression. */
const magicBytes = 40;

type StreamReader = (
  chunks: AsyncIterable<Uint8Array>, options: RowOptions,
) => AsyncGenerator<RowBatch, void, undefined>;

/** Marks at the start of a text, and the encodings that they stand for. */
const encodingMarks: readonly (readonly [string, Uint8Array])[] = [
  ['utf-16le', Uint8Array.of(0xff, 0xfe)],
  ['utf-16be', Uint8Array.of(0xfe, 0xff)],
];

/** Formats that are not read from their start to their end. */
type FileFormat = 'parquet' | 'sqlite' | 'duckdb';

type FileReader = (
  request: InputRequest, source: string,
) => AsyncGenerator<RowBatch, void, undefined> | Generator<RowBatch, void, undefined>;

const fileReaders: Readonly<Record<FileFormat, {
  readonly why: string; readonly load: () => Promise<FileReader>;
}>> = {
  parquet: {
    why: 'Parquet is read from its end',
    load: async () => (await import('./parquet.js')).readParquet,
  },
  sqlite: {
    why: 'a database is read in parts',
    load: async () => (await import('./databases.js')).readSqlite,
  },
  duckdb: {
    why: 'a database is read in parts',
    load: async () => (await import('./databases.js')).readDuckDb,
  },
};

const readers: Readonly<Record<Exclude<InputFormat, FileFormat>, () => Promise<StreamReader>>> = {
  npy: () => Promise.resolve(readNpy),
  // Each is loaded when a file needs it, so that a start has less to load.
  csv: async () => (await import('./csv.js')).readCsv,
  ndjson: async () => (await import('./ndjson.js')).readNdjson,
  arrow: async () => (await import('./arrow.js')).readArrow,
};

/**
 * Streams the rows of a file or of standard input, in any format, or the flights of the package.
 * @throws InvalidInputError, with the position in the file if there is one.
 */
export async function* readRows(
  request: InputRequest, stdin: Readable,
): AsyncGenerator<RowBatch, void, undefined> {
  if (request.path === flightsName) {
    if (isCsvAlone(request)) {
      throw new UsageError(`--csv is given with ${flightsName}, which is no file: leave it out, `
        + `or write ./${flightsName} for a file of that name`);
    }
    if ([...request.types?.values() ?? []].some(({ type }) => type !== 'number')) {
      throw new UsageError(`${flightsName} holds numbers only: leave the types of columns out`);
    }
    yield* readFlights({ ...request, source: flightsName });
    return;
  }
  if (request.path.startsWith(queryMark)) {
    yield* (await fileReaders.duckdb.load())(request, 'the query');
    return;
  }
  const source = request.path === '-' ? 'standard input' : request.path;
  let chunks = bytesOf(request, stdin, source);
  let head = await markedHead(chunks);
  const packing = packingOf(head, source);
  if (packing !== undefined) {
    chunks = unpack(rejoin(head, chunks), packing, source);
    head = await markedHead(chunks);
  }
  const format = formatOf(head, request.path, source);
  if (isCsvAlone(request) && format !== 'csv') {
    throw new UsageError(`--csv says what a CSV file looks like, and ${source} is not one: give `
      + 'nothing but missing=null with it');
  }
  if (format === 'npy' && request.types !== undefined) {
    throw new UsageError('a .npy file holds numbers only: give .csv or .ndjson for columns that '
      + 'have types');
  }
  const isBase = format === 'sqlite' || format === 'duckdb';
  if (request.table !== undefined && !isBase) {
    throw new UsageError(`--csv table= names a table of a database, and ${source} is none: leave it `
      + 'out');
  }
  if (isBase || format === 'parquet') {
    await chunks.return(undefined);
    const { why, load } = fileReaders[format];
    if (packing !== undefined || request.path === '-') {
      const remedy = packing === undefined ? 'save it as a file' : 'unpack it first';
      throw new InvalidInputError(`${source}: ${why}, so it must be a file `
        + `that is not compressed as a whole: ${remedy}`, { source });
    }
    yield* (await load())(request, source);
    return;
  }
  const read = await readers[format]();
  const encoding = request.encoding === 'latin1' ? 'windows-1252' : encodingMarks
    .find(([, mark]) => format === 'csv' && mark.every((byte, i) => head[i] === byte))?.[0];
  const bytes = rejoin(head, chunks);
  yield* read(encoding === undefined ? bytes : inUtf8(bytes, encoding, source), {
    ...request, source,
  });
}

/** Without the mark of the encoding. */
async function* inUtf8(
  chunks: AsyncIterable<Uint8Array>, encoding: string, source: string,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of chunks) yield utf8(decoder.decode(chunk, { stream: true }));
    yield utf8(decoder.decode());
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new InvalidInputError(`${source}: it begins as a text in ${encoding.toUpperCase()}, and `
      + 'has bytes that are none: save it again, as UTF-8', { source });
  }
}

async function* bytesOf(
  request: InputRequest, stdin: Readable, source: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    const isStdin = request.path === '-';
    const found = isStdin ? undefined : statSync(request.path);
    const total = found?.isFile() === true ? found.size : undefined;
    const stream: Readable = isStdin
      ? stdin : createReadStream(request.path, { highWaterMark: 256 * 1024 });
    for await (const chunk of stream) {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array);
      bytes += part.length;
      request.onProgress?.(bytes, total);
      yield part;
    }
  } catch (error) {
    throw asInputError(error, source);
  }
}

/** Enough of the input to recognise its format: up to its first bytes that are not blank. */
async function markedHead(chunks: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  const { bytes } = await headOf(chunks, (head) =>
    head.length >= magicBytes && firstMark(head) !== undefined);
  return bytes;
}

/** The first byte that is not blank and not part of a UTF-8 byte order mark. */
function firstMark(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => ![0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].includes(byte));
}

/** True if `--csv` states something that only a CSV file can have. */
function isCsvAlone({ header, form, encoding, empty }: RowOptions | InputRequest): boolean {
  return [header, form, encoding, empty].some((part) => part !== undefined);
}

/**
 * The format by the first bytes.
 * @throws InvalidInputError if the name has the ending of another format, all of whose files have
 *   a mark at their start: the bytes would be taken for CSV.
 */
function formatOf(head: Uint8Array, path: string, source: string): InputFormat {
  const found = magics.find(([, magic, at = 0]) =>
    magic.every((byte, i) => head[at + i] === byte));
  if (found !== undefined) return found[0];
  const name = unpackedName(path).toLowerCase();
  const ending = Object.keys(markedEndings).find((each) => name.endsWith(each));
  if (ending !== undefined) {
    throw new InvalidInputError(`${source}: its name ends in ${ending}, and it does not begin as `
      + `${markedEndings[ending]} does: correct the name, or make the file again`, { source });
  }
  const mark = firstMark(head);
  return mark === 0x5b || mark === 0x7b ? 'ndjson' : 'csv';
}
