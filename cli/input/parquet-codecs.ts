import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Compressors } from 'hyparquet';
import { lz4Block } from './lz4.js';
import { snappyBlock } from '../../src/numerics/kernels/snappy.js';
import { zstdFrames } from './zstd.js';

/** Decompression that writes no more bytes than the page's header states. */
export const pageDecoders = {
  UNCOMPRESSED: (input: Uint8Array) => input,
  SNAPPY: snappyBlock,
  GZIP: (input: Uint8Array, length: number) =>
    gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input: Uint8Array, length: number) =>
    brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: zstdFrames,
  LZ4_RAW: lz4Block,
} satisfies Compressors;

/** The compressions that the pages of a column may have. */
export type Codec = keyof typeof pageDecoders;

/** True if pages are compressed in a way that is read. */
export function isCodec(codec: string): codec is Codec {
  return Object.hasOwn(pageDecoders, codec);
}
