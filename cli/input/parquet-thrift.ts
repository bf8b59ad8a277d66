/** Headers and footers of Parquet nest at most eight deep. */
const depthMax = 32;

/** The types of Thrift's compact protocol that Parquet uses, with those of fixed size in bytes. */
const fixedSizes: ReadonlyMap<number, number> = new Map([[3, 1], [7, 8]]);
const numbers: ReadonlySet<number> = new Set([4, 5, 6]);
const [trueType, falseType, binary, list, struct] = [1, 2, 8, 9, 12];

/**
 * Walks a structure of Thrift's compact protocol before the library decodes it. The library
 * allocates as much room as a list states, so a few bytes can claim any amount of memory. Here
 * every list and text fits into the bytes that are left. The time is linear in these bytes.
 * @param start - where the structure begins.
 * @throws RangeError if it is not sound.
 */
export function checkThrift(bytes: Uint8Array, start: number): void {
  new Walk(bytes, start).struct(0);
}

class Walk {
  constructor(private readonly bytes: Uint8Array, private at: number) {}

  struct(depth: number): void {
    for (let head = this.byte(); head !== 0; head = this.byte()) {
      if (head >> 4 === 0) this.number();
      const type = head & 15;
      // The value of a field that is true or false is its type.
      if (type !== trueType && type !== falseType) this.element(type, depth + 1);
    }
  }

  private element(type: number, depth: number): void {
    if (depth > depthMax) throw new RangeError('too deep');
    if (numbers.has(type)) this.number();
    else if (type === binary) this.skip(this.number());
    else if (type === list) this.list(depth);
    else if (type === struct) this.struct(depth);
    else {
      const size = fixedSizes.get(type);
      if (size === undefined) throw new RangeError('not a type of Parquet');
      this.skip(size);
    }
  }

  private list(depth: number): void {
    const head = this.byte();
    const count = head >> 4 === 15 ? this.number() : head >> 4;
    // Each element needs at least one byte.
    if (count > this.bytes.length - this.at) throw new RangeError('a list is too long');
    const type = head & 15;
    const isTruth = type === trueType || type === falseType;
    for (let i = 0; i < count; i++) this.element(isTruth ? 3 : type, depth + 1);
  }

  private skip(count: number): void {
    if (count > this.bytes.length - this.at) throw new RangeError('a text is too long');
    this.at += count;
  }

  private byte(): number {
    const found = this.bytes[this.at];
    if (found === undefined) throw new RangeError('it is cut short');
    this.at += 1;
    return found;
  }

  /** Seven bits a byte, the lowest first. */
  private number(): number {
    let found = 0;
    for (let place = 1; ; place *= 128) {
      const next = this.byte();
      found += (next & 127) * place;
      if (next < 128) return found;
      if (place > 2 ** 63) throw new RangeError('a number is too long');
    }
  }
}
