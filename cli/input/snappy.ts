/**
 * Snappy, for Parquet pages: the library copies long literals byte by byte. Format: the description
 * of the Snappy block format.
 */

/** Bytes from which on a view and a copy of it take less than a loop. */
const viewFrom = 64;

/**
 * Decodes a block of a known length. Pages have a part for every few bytes, so numbers are read
 * where they are needed; what is past the end is 0, and the checks refuse it.
 * @throws RangeError if the block is damaged, or does not have exactly this many bytes.
 */
export function snappyBlock(input: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  const end = input.length;
  let from = 0;
  let to = 0;
  // The length, which the page's header has said: seven bits a byte.
  while (from < end && input[from]! >= 128) from += 1;
  if (from === end) throw new RangeError('a Snappy block ends inside a number');
  from += 1;
  while (from < end) {
    const tag = input[from++]!;
    if ((tag & 3) === 0) {
      let size = (tag >>> 2) + 1;
      if (size > 60) {
        const bytes = size - 60;
        size = numberAt(input, from, bytes) + 1;
        from += bytes;
      }
      if (from + size > end || to + size > length) {
        throw new RangeError('a Snappy block has too many literals');
      }
      if (size >= viewFrom) output.set(input.subarray(from, from + size), to);
      else for (let i = 0; i < size; i++) output[to + i] = input[from + i]!;
      from += size;
      to += size;
      continue;
    }
    let size = (tag >>> 2) + 1;
    let distance: number;
    if ((tag & 3) === 1) {
      size = ((tag >>> 2) & 7) + 4;
      distance = ((tag >>> 5) << 8) | input[from]!;
      from += 1;
    } else if ((tag & 3) === 2) {
      distance = input[from]! | (input[from + 1]! << 8);
      from += 2;
    } else {
      distance = numberAt(input, from, 4);
      from += 4;
    }
    if (from > end || distance === 0 || distance > to || to + size > length) {
      throw new RangeError('a Snappy copy is outside of the block');
    }
    // Byte by byte: a copy may overlap its own output.
    for (let i = 0; i < size; i++) output[to + i] = output[to + i - distance]!;
    to += size;
  }
  if (to !== length) throw new RangeError('a Snappy block has another length');
  return output;
}

/** A number of so many bytes, the lowest first. */
function numberAt(input: Uint8Array, at: number, bytes: number): number {
  let value = 0;
  for (let i = 0; i < bytes; i++) value += (input[at + i] ?? 0) * 2 ** (8 * i);
  return value;
}
