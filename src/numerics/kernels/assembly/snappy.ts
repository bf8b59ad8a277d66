/** Bytes that are moved at once. Both areas have room for as many past their ends. */
const stretch: usize = 16;

/** The answer where parts do not fit, or a copy would begin before the block. */
const damaged: i32 = -1;

/**
 * Decodes the parts of a Snappy block, from behind its length, into `length` bytes. Every size is
 * compared with what is left before anything is moved. Returns how many bytes it wrote, or
 * `damaged`. Past what it wrote, up to a stretch is overwritten.
 */
export function snappyParts(from: usize, end: usize, output: usize, length: i32): i32 {
  const last = output + <usize>length;
  let to = output;
  while (from < end) {
    const tag = <u32>load<u8>(from++);
    let size = <u64>(tag >> 2) + 1;
    if ((tag & 3) == 0) {
      if (size > 60) {
        const bytes = <usize>size - 60;
        size = (<u64>load<u32>(from) & (~<u64>0 >> (64 - 8 * bytes))) + 1;
        from += bytes;
      }
      if (from > end || size > <u64>(end - from) || size > <u64>(last - to)) return damaged;
      if (size <= stretch) v128.store(to, v128.load(from));
      else memory.copy(to, from, <usize>size);
      from += <usize>size;
      to += <usize>size;
      continue;
    }
    let distance: usize;
    if ((tag & 3) == 1) {
      size = <u64>((tag >> 2) & 7) + 4;
      distance = <usize>((tag >> 5) << 8) | <usize>load<u8>(from);
      from += 1;
    } else if ((tag & 3) == 2) {
      distance = <usize>load<u16>(from);
      from += 2;
    } else {
      distance = <usize>load<u32>(from);
      from += 4;
    }
    if (from > end || distance == 0 || distance > to - output || size > <u64>(last - to)) {
      return damaged;
    }
    copyWithin(to, distance, <usize>size);
    to += <usize>size;
  }
  return <i32>(to - output);
}

/** A copy may overlap its own output: no more is moved at once than is there. */
// @ts-ignore: decorator
@inline
function copyWithin(to: usize, distance: usize, size: usize): void {
  const after = to + size;
  if (distance >= stretch) {
    for (; to < after; to += stretch) v128.store(to, v128.load(to - distance));
  } else if (distance >= 8) {
    for (; to < after; to += 8) store<u64>(to, load<u64>(to - distance));
  } else for (; to < after; to++) store<u8>(to, load<u8>(to - distance));
}
