/**
 * Checks of runs, before the library decodes them: it trusts the length of each run, so that four
 * bytes could fill the memory. Format: "Run Length Encoding / Bit-Packing Hybrid" of Parquet.
 */

/** More values than any writer fills up with. */
const filledMax = 1_024;

/** Bytes of a page, and where its next value is. */
export interface PageReader {
  readonly bytes: Uint8Array;
  at: number;
}

/**
 * Walks runs of `count` values of `width` bits.
 * @param reader - afterwards at the end of the runs.
 * @returns how many of the values are 1, if a value has one bit; else 0.
 * @throws RangeError if a run is longer than what is left, or is cut short.
 */
export function checkRuns(reader: PageReader, width: number, count: number): number {
  if (width > 32) throw new RangeError('values have too many bits');
  const { bytes } = reader;
  let seen = 0;
  let ones = 0;
  while (seen < count) {
    const header = varint(reader);
    const length = header >>> 1;
    if ((header & 1) === 0) {
      if (length > count - seen) throw new RangeError('a run is too long');
      const value = bytes[reader.at] ?? 0;
      reader.at += Math.ceil(width / 8);
      if (width === 1 && value === 1) ones += length;
      seen += length;
    } else {
      // Groups of eight values. Writers fill up the last one, or several. Each value has bits, so
      // the bytes of the page bound them; only values without bits need a bound of their own.
      if (width === 0 && 8 * length > count - seen + filledMax) {
        throw new RangeError('a run is too long');
      }
      if (width === 1) ones += onesIn(bytes, reader.at, Math.min(8 * length, count - seen));
      reader.at += length * width;
      seen += 8 * length;
    }
    if (reader.at > bytes.length) throw new RangeError('a run is cut short');
  }
  return ones;
}

/** Writes the values of runs that `checkRuns` has walked. @param reader - at their start. */
export function readRuns(reader: PageReader, width: number, values: Uint32Array): void {
  const { bytes } = reader;
  for (let seen = 0; seen < values.length;) {
    const header = varint(reader);
    const length = header >>> 1;
    if ((header & 1) === 0) {
      let value = 0;
      for (let i = 0; i < width; i += 8) value += (bytes[reader.at++] ?? 0) * 2 ** i;
      values.fill(value, seen, seen + length);
      seen += length;
    } else {
      const end = Math.min(values.length, seen + 8 * length);
      const next = reader.at + length * width;
      if (width <= 24) unpack(reader, width, values.subarray(seen, end));
      else unpackWide(reader, width, values.subarray(seen, end));
      reader.at = next;
      seen = end;
    }
  }
}

/** Values of at most 24 bits, so that one and seven bits before it are in four bytes. */
function unpack({ bytes, at }: PageReader, width: number, values: Uint32Array): void {
  const mask = 2 ** width - 1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = Math.min(values.length, Math.floor((8 * (bytes.length - at - 4)) / width));
  let bit = 8 * at;
  for (let i = 0; i < whole; i++, bit += width) {
    values[i] = (view.getUint32(bit >>> 3, true) >>> (bit & 7)) & mask;
  }
  // Past the end of the page there are zeros.
  for (let i = Math.max(0, whole); i < values.length; i++, bit += width) {
    let held = 0;
    for (let byte = 0; byte < 4; byte++) held |= (bytes[(bit >>> 3) + byte] ?? 0) << (8 * byte);
    values[i] = (held >>> (bit & 7)) & mask;
  }
}

/** Values of at most 32 bits, whose bits a double holds. */
function unpackWide(reader: PageReader, width: number, values: Uint32Array): void {
  let [held, bits] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    for (; bits < width; bits += 8) held += reader.bytes[reader.at++]! * 2 ** bits;
    values[i] = held % 2 ** width;
    held = Math.floor(held / 2 ** width);
    bits -= width;
  }
}

/** The length of runs that is written before them, in four bytes. */
export function uint32(reader: PageReader): number {
  const { bytes, at } = reader;
  reader.at += 4;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);
}

/** A number below 2^31 in seven bits a byte. */
function varint(reader: PageReader): number {
  let value = 0;
  for (let shift = 0; shift < 32; shift += 7) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined) throw new RangeError('a run is cut short');
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80 && value < 2 ** 31) return value;
    if (byte < 0x80) break;
  }
  throw new RangeError('a run is too long');
}

function onesIn(bytes: Uint8Array, start: number, count: number): number {
  let ones = 0;
  for (let i = 0; i < count; i++) ones += ((bytes[start + (i >> 3)] ?? 0) >> (i & 7)) & 1;
  return ones;
}
