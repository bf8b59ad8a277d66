/**
 * The bytes of protobuf messages: the primitives that the generated code calls. The library that
 * generates this code has them too, with much more: it would be a quarter of a contributor's page.
 */

/** A 64-bit field in the form of the generated code: two halves of 32 bits. */
export interface Long {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The most bytes of a number, which may be padded. */
const varintBytesMax = 10;

/** Reads the fields of one message after another. Every method throws where bytes end too soon. */
export class Reader {
  pos = 0;
  /** Where the message that is being read ends. */
  len: number;
  private readonly view: DataView;

  constructor(private readonly buf: Uint8Array) {
    this.len = buf.length;
    this.view = new DataView(buf.buffer, buf.byteOffset, buf.byteLength);
  }

  /** The low 32 bits. */
  uint32(): number {
    return this.varint(varintBytesMax, 127).low >>> 0;
  }

  int32(): number {
    return this.varint(varintBytesMax, 127).low;
  }

  uint64(): Long {
    return this.varint(varintBytesMax, 127);
  }

  bool(): boolean {
    const { low, high } = this.varint(varintBytesMax, 127);
    return low !== 0 || high !== 0;
  }

  /** The number and type of a field: 32 bits. */
  tag(): number {
    return this.varint(5, 15).low >>> 0;
  }

  /** A length: 31 bits. */
  size(): number {
    return this.varint(5, 7).low;
  }

  double(): number {
    const at = this.taken(8);
    return this.view.getFloat64(at, true);
  }

  /** A view of the bytes that are read. */
  bytes(): Uint8Array {
    const length = this.size();
    const at = this.taken(length);
    return this.buf.subarray(at, at + length);
  }

  /** @throws TypeError when the bytes are not UTF-8. */
  stringVerify(): string {
    return decoder.decode(this.bytes());
  }

  uint32s(into: number[]): number[] {
    return this.packed(into, () => this.uint32());
  }

  uint64s(into: Long[]): Long[] {
    return this.packed(into, () => this.uint64());
  }

  doubles(into: number[]): number[] {
    return this.packed(into, () => this.double());
  }

  private packed<T>(into: T[], read: () => T): T[] {
    const size = this.size();
    const { len } = this;
    const end = this.pos + size;
    if (end > len) throw new RangeError('a list ends too late');
    this.len = end;
    while (this.pos < end) into.push(read());
    this.len = len;
    return into;
  }

  /** Moves past some bytes. Returns where they begin. */
  private taken(length: number): number {
    const at = this.pos;
    if (at + length > this.len) throw new RangeError('the bytes end too soon');
    this.pos += length;
    return at;
  }

  /**
   * @param bytesMax how many bytes it may have.
   * @param lastMax the largest value of the last of them.
   */
  private varint(bytesMax: number, lastMax: number): Long {
    let low = 0;
    let high = 0;
    for (let i = 0; i < bytesMax; i++) {
      const byte = this.buf[this.taken(1)]!;
      if (i === bytesMax - 1 && byte > lastMax) break;
      const bits = byte & 127;
      if (i < 5) low |= bits << (7 * i);
      if (i === 4) high = bits >> 4;
      if (i > 4) high |= bits << (7 * i - 32);
      if (byte < 128) return { low, high, unsigned: true };
    }
    throw new RangeError('a number has too many bytes');
  }
}

/** Writes the fields of one message after another. */
export class Writer {
  private buf = new Uint8Array(128);
  private pos = 0;
  /** Where the messages begin that are being written, outermost first. */
  private readonly starts: number[] = [];

  uint32(value: number): this {
    return this.uint64({ low: value, high: 0, unsigned: true });
  }

  /** A negative number has 64 bits. */
  int32(value: number): this {
    return this.uint64({ low: value, high: value < 0 ? -1 : 0, unsigned: true });
  }

  uint64(value: number | Long): this {
    let { low, high } = typeof value === 'number'
      ? { low: value % 2 ** 32, high: Math.floor(value / 2 ** 32) } : value;
    [low, high] = [low >>> 0, high >>> 0];
    while (high > 0 || low > 127) {
      this.byte((low & 127) | 128);
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    return this.byte(low);
  }

  bool(value: boolean): this {
    return this.byte(Number(value));
  }

  double(value: number): this {
    this.room(8);
    new DataView(this.buf.buffer).setFloat64(this.pos, value, true);
    this.pos += 8;
    return this;
  }

  bytes(value: Uint8Array): this {
    return this.uint32(value.length).raw(value);
  }

  string(value: string): this {
    return this.bytes(encoder.encode(value));
  }

  uint32s(values: readonly number[]): this {
    return this.packed(values, (value) => this.uint32(value));
  }

  uint64s(values: readonly (number | Long)[]): this {
    return this.packed(values, (value) => this.uint64(value));
  }

  doubles(values: readonly number[]): this {
    return this.packed(values, (value) => this.double(value));
  }

  /** Begins a message within this one. `ldelim` ends it. */
  fork(): this {
    this.starts.push(this.pos);
    return this;
  }

  /** Ends the message that was begun last, and puts its length in front. */
  ldelim(): this {
    const start = this.starts.pop()!;
    const own = this.buf.slice(start, this.pos);
    this.pos = start;
    return this.bytes(own);
  }

  /** What was written, in its own memory. */
  finish(): Uint8Array {
    return this.buf.slice(0, this.pos);
  }

  private packed<T>(values: readonly T[], write: (value: T) => unknown): this {
    this.fork();
    values.forEach(write);
    return this.ldelim();
  }

  private byte(value: number): this {
    this.room(1);
    this.buf[this.pos++] = value;
    return this;
  }

  private raw(value: Uint8Array): this {
    this.room(value.length);
    this.buf.set(value, this.pos);
    this.pos += value.length;
    return this;
  }

  private room(length: number): void {
    if (this.pos + length <= this.buf.length) return;
    const larger = new Uint8Array(Math.max(2 * this.buf.length, this.pos + length));
    larger.set(this.buf);
    this.buf = larger;
  }
}
