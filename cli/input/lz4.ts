/**
 * LZ4, for Parquet pages and Arrow buffers. The lengths are known before, so output never grows.
 * Format: the LZ4 block and frame format descriptions, version 1.6.
 */

const frameMagic = 0x184d2204;
const lengthMore = 255;
const matchLeast = 4;

/**
 * Decodes one block to `output` from `start`. Matches may reach back before `start`.
 * @returns the end of what was written.
 * @throws RangeError if the block is damaged or has more bytes than there is room.
 */
export function decodeLz4Block(input: Uint8Array, output: Uint8Array, start: number): number {
  let from = 0;
  let to = start;
  const extended = (length: number): number => {
    if (length !== 15) return length;
    let all = length;
    let more: number | undefined;
    do {
      more = input[from++];
      if (more === undefined) throw new RangeError('an LZ4 block ends inside a length');
      all += more;
    } while (more === lengthMore);
    return all;
  };
  while (from < input.length) {
    const token = input[from++]!;
    const literals = extended(token >> 4);
    if (from + literals > input.length || to + literals > output.length) {
      throw new RangeError('an LZ4 block has too many literals');
    }
    output.set(input.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    // The last sequence has no match.
    if (from === input.length) return to;
    if (from + 2 > input.length) throw new RangeError('an LZ4 block ends inside an offset');
    const distance = input[from]! | (input[from + 1]! << 8);
    from += 2;
    const length = extended(token & 15) + matchLeast;
    if (distance === 0 || distance > to || to + length > output.length) {
      throw new RangeError('an LZ4 match is outside of the block');
    }
    // Byte by byte: a match may overlap its own output.
    for (const end = to + length; to < end; to++) output[to] = output[to - distance]!;
  }
  throw new RangeError('an LZ4 block has no end');
}

/**
 * Decodes a block of a known length.
 * @throws RangeError if it does not have exactly this many bytes.
 */
export function lz4Block(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  if (length === 0 && input.length === 0) return output;
  if (decodeLz4Block(input, output, 0) !== length) throw new RangeError('an LZ4 block is short');
  return output;
}

/**
 * Decodes a frame of a known length. It does not check the frame's checksums.
 * @throws RangeError if the frame is damaged or does not have exactly this many bytes.
 */
export function lz4Frame(input: Uint8Array, length: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  if (view.getUint32(0, true) !== frameMagic) throw new RangeError('no LZ4 frame');
  const flags = view.getUint8(4);
  const hasDictionary = (flags & 1) !== 0;
  if (flags >> 6 !== 1 || hasDictionary) throw new RangeError('an unknown kind of LZ4 frame');
  const checksumBytes = (flags & 0x10) === 0 ? 0 : 4;
  const sizeBytes = (flags & 8) === 0 ? 0 : 8;
  const output = new Uint8Array(length);
  let to = 0;
  // Magic, flags, block size, content size and the header's checksum.
  let from = 7 + sizeBytes;
  for (let size = view.getUint32(from, true); size !== 0; size = view.getUint32(from, true)) {
    from += 4;
    const bytes = size & 0x7fffffff;
    if (from + bytes > input.length) throw new RangeError('an LZ4 frame is cut short');
    const block = input.subarray(from, from + bytes);
    if (size >>> 31 === 0) {
      to = decodeLz4Block(block, output, to);
    } else {
      output.set(block, to);
      to += bytes;
    }
    from += bytes + checksumBytes;
  }
  if (to !== length) throw new RangeError('an LZ4 frame has another length');
  return output;
}
