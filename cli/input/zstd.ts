import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { decompress } from 'fzstd';

/** Node has Zstandard from 22.15 and 23.8 on. */
const { zstdDecompressSync, createZstdDecompress } = zlib as unknown as {
  readonly zstdDecompressSync?: (
    input: Uint8Array, options: { readonly maxOutputLength: number },
  ) => Uint8Array;
  readonly createZstdDecompress?: () => Transform & { readonly bytesWritten: number };
};

/**
 * Decodes frames of a known length.
 * @throws Error if they are damaged or have more bytes.
 */
export function zstdFrames(input: Uint8Array, length: number): Uint8Array {
  return zstdDecompressSync === undefined
    ? decompress(input, new Uint8Array(length))
    : zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) });
}

/** A stream that decodes frames and checks their checksums; undefined if this Node has none. */
export const zstdStream = createZstdDecompress;
