import { pipeline, Readable, type Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { utf8 } from '../../src/base/bytes.js';
import { codeOf, InvalidInputError } from '../../src/base/errors.js';
import { damaged } from './damage.js';

const packings = {
  '.gz': { name: 'gzip', magic: Uint8Array.of(0x1f, 0x8b) },
  '.zst': { name: 'zstd', magic: Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd) },
} as const;

const zip = Uint8Array.of(0x50, 0x4b, 0x03, 0x04);
/** Other packings are refused by name: their bytes would be taken for CSV. */
const otherPackings: readonly (readonly [name: string, magic: Uint8Array])[] = [
  ['by xz', Uint8Array.of(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00)],
  // The version, the level, and the number with which its first block begins.
  ...Array.from({ length: 9 }, (_, level): readonly [string, Uint8Array] =>
    ['by bzip2', Uint8Array.of(
      0x42, 0x5a, 0x68, 0x31 + level, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59,
    )]),
  ['by lz4', Uint8Array.of(0x04, 0x22, 0x4d, 0x18)],
  ['as a ZIP archive', zip],
  ['as a 7z archive', Uint8Array.of(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c)],
];

/** Where an archive has the name of its first entry. */
const nameAt = 30;
/** Spreadsheets: their ending, the bytes with which they begin, and the name of the first entry. */
const spreadsheets: readonly {
  readonly what: string; readonly endings: RegExp; readonly magic: Uint8Array;
  readonly entry?: Uint8Array;
}[] = [
  {
    what: 'a document of LibreOffice (.ods)', endings: /\.ods$/i, magic: zip,
    entry: utf8('mimetype'),
  },
  {
    what: 'a workbook of Excel (.xlsx)', endings: /\.xls[xmb]$/i, magic: zip,
    entry: utf8('[Content_'),
  },
  {
    what: 'a workbook of an old Excel (.xls)', endings: /^/,
    magic: Uint8Array.of(0xd0, 0xcf, 0x11, 0xe0),
  },
];

/** @throws InvalidInputError for a spreadsheet, with how its rows are saved. */
function refuseSpreadsheet(head: Uint8Array, source: string): void {
  const begins = (magic: Uint8Array, at: number): boolean =>
    magic.every((byte, i) => head[at + i] === byte);
  const found = spreadsheets.find(({ endings: named, magic, entry }) => begins(magic, 0)
    && (named.test(source) || (entry !== undefined && begins(entry, nameAt))));
  if (found === undefined) return;
  throw new InvalidInputError(`${source}: it is ${found.what}, which is not read: open it, and save `
    + 'the sheet as "CSV UTF-8" (in LibreOffice "Text CSV"); semicolons and decimal commas need no '
    + 'change', { source });
}

/** The ending of a compressed file. */
export type Packing = keyof typeof packings;

const endings = Object.keys(packings) as Packing[];

/**
 * A file that unpacks to more than this many times its size is refused, once it has given
 * `ratioFrom` bytes. Rows of real people stay far below; rows that are all alike do not.
 */
const ratioMax = 200;
const ratioFrom = 64 * 1024 * 1024;

/** The part of a path that names its contents: without `.gz` or `.zst`. */
export function unpackedName(path: string): string {
  const ending = endings.find((each) => path.toLowerCase().endsWith(each));
  return ending === undefined ? path : path.slice(0, -ending.length);
}

/**
 * The compression of the bytes, from their start; undefined if they are not compressed.
 * @throws InvalidInputError if the name states a compression that the bytes do not have, or if they
 *   have an unsupported one.
 */
export function packingOf(head: Uint8Array, source: string): Packing | undefined {
  const found = endings.find((each) =>
    packings[each].magic.every((byte, i) => head[i] === byte));
  if (found !== undefined) return found;
  refuseSpreadsheet(head, source);
  const other = otherPackings.find(([, magic]) => magic.every((byte, i) => head[i] === byte));
  if (other !== undefined) {
    const isArchive = other[0].includes('archive');
    throw new InvalidInputError(`${source}: it is compressed ${other[0]}: unpack it first`
      + (isArchive ? ', and save a sheet as CSV' : ', or compress it by gzip or zstd'), { source });
  }
  const named = endings.find((each) => source.toLowerCase().endsWith(each));
  if (named === undefined) return undefined;
  throw new InvalidInputError(
    `${source}: its name ends in ${named}, and it does not begin as a ${packings[named].name} file `
      + 'does: correct the name, or make the file again', { source },
  );
}

/**
 * Unpacks gzip or Zstandard as a stream, in memory that does not grow with the file.
 * @throws InvalidInputError if the bytes are cut short or damaged, if they unpack to more than 200
 *   times their size, and for Zstandard where Node has none.
 */
export async function* unpack(
  chunks: AsyncIterable<Uint8Array>, packing: Packing, source: string,
): AsyncGenerator<Uint8Array> {
  const unpacker = await unpackerOf(packing, source);
  const own: { error?: unknown } = {};
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      own.error = error;
      throw error;
    }
  };
  // Errors of each stream reach the loop below.
  pipeline(Readable.from(watched(), { objectMode: false }), unpacker, () => {});
  let written = 0;
  try {
    for await (const chunk of unpacker) {
      written += (chunk as Uint8Array).length;
      // It compares with the bytes that were unpacked: a file is read far ahead of them.
      if (written > ratioFrom && written > ratioMax * unpacker.bytesWritten) {
        throw new InvalidInputError(
          `${source}: it unpacks to more than ${ratioMax} times its size: if you trust it, unpack `
            + 'it and give the unpacked file', { source, ratioMax },
        );
      }
      yield chunk as Uint8Array;
    }
  } catch (error) {
    // The error belongs to the file itself, not to its compression.
    if (own.error === error || error instanceof InvalidInputError) throw error;
    const { name } = packings[packing];
    const at = unpacker.bytesWritten;
    const isCut = codeOf(error) === 'Z_BUF_ERROR';
    throw damaged(
      source, `byte ${at} of the compressed file`,
      isCut ? `the ${name} data is cut short` : `the ${name} data is not valid`,
      { byte: at },
    );
  }
}

async function unpackerOf(
  packing: Packing, source: string,
): Promise<Transform & { readonly bytesWritten: number }> {
  if (packing === '.gz') return createGunzip();
  const { zstdStream } = await import('./zstd.js');
  if (zstdStream !== undefined) return zstdStream();
  throw new InvalidInputError(
    `${source}: compressed files of Zstandard need Node 22.15 or later: run it there, or unpack the `
      + 'file with "zstd -d"', { source, node: process.versions.node },
  );
}
