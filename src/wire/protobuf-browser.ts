import type { LongBits } from './long-bits.js';

/*
 * The part of protobufjs that the generated code needs, for pages: the whole wire format of this
 * protocol, which is varints, doubles, and fields with a length. protobufjs would be 7.7 KB of a
 * contributor's page, for its groups, numbers of other kinds and Node buffers. A test compares both
 * on every vector, on the corpus of the fuzzers, and on mutations of them.
 */

const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const textEncoder = new TextEncoder();

/** The largest last byte of a varint of 5 bytes: 32 bits in a tag, 31 in a length. */
const lastOfTag = 15;
const lastOfSize = 7;

/**
 * Reads fields from a message in `buf`. Every method throws RangeError where the message ends
 * before the field does, or the field is none. Fields of bytes are views of `buf`. StrictReader
 * refuses the fields that the generated code does not know.
 */
class Reader {
  pos = 0;
  /** Where the present message ends. */
  len: number;
  private view: DataView | null = null;

  constructor(readonly buf: Uint8Array) {
    this.len = buf.length;
  }

  private byte(): number {
    if (this.pos >= this.len) throw outOfRange();
    return this.buf[this.pos++]!;
  }

  /** A varint of at most 5 bytes. */
  private short(last: number): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      if (shift === 28 && byte > last) break;
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
    throw outOfRange();
  }

  tag(): number {
    return this.short(lastOfTag);
  }

  /** The length of what follows. */
  size(): number {
    return this.short(lastOfSize);
  }

  /** The lower 32 bits of a varint. */
  uint32(): number {
    return this.int32() >>> 0;
  }

  int32(): number {
    const byte = this.pos < this.len ? this.buf[this.pos]! : 128;
    if (byte > 127) return this.varint().low;
    this.pos += 1;
    return byte;
  }

  uint64(): LongBits {
    return this.varint();
  }

  bool(): boolean {
    const { low, high } = this.varint();
    return (low | high) !== 0;
  }

  private varint(): LongBits {
    let [low, high] = [0, 0];
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      const bits = byte & 127;
      if (shift <= 28) low |= bits << shift;
      if (shift === 28) high = bits >> 4;
      if (shift > 28) high |= bits << (shift - 32);
      if (byte < 128) return { low, high, unsigned: true };
    }
    throw outOfRange();
  }

  double(): number {
    const at = this.skip(8);
    return this.dataView().getFloat64(at, true);
  }

  bytes(): Uint8Array {
    const length = this.size();
    const at = this.skip(length);
    return this.buf.subarray(at, at + length);
  }

  /** Throws TypeError for bytes that are not UTF-8. */
  stringVerify(): string {
    return textDecoder.decode(this.bytes());
  }

  uint32s(list: number[]): void {
    this.packed(() => list.push(this.uint32()));
  }

  uint64s(list: LongBits[]): void {
    this.packed(() => list.push(this.uint64()));
  }

  doubles(list: number[]): void {
    this.packed(() => list.push(this.double()));
  }

  private packed(readOne: () => void): void {
    const { len } = this;
    const length = this.size();
    const end = this.pos + length;
    if (end > len) throw outOfRange();
    this.len = end;
    while (this.pos < end) readOne();
    this.len = len;
  }

  private skip(length: number): number {
    const at = this.pos;
    if (length > this.len - at) throw outOfRange();
    this.pos = at + length;
    return at;
  }

  private dataView(): DataView {
    const { buffer, byteOffset, byteLength } = this.buf;
    return this.view ??= new DataView(buffer, byteOffset, byteLength);
  }
}

function outOfRange(): RangeError {
  return new RangeError('a field goes beyond its message');
}

/** Writes fields one after the other. Each method returns the writer. */
class Writer {
  private buf = new Uint8Array(256);
  private pos = 0;
  /** Where the messages begin that are being written, innermost last. */
  private readonly starts: number[] = [];

  static create(): Writer {
    return new Writer();
  }

  private reserve(bytes: number): void {
    const needed = this.pos + bytes;
    if (needed <= this.buf.length) return;
    const larger = new Uint8Array(Math.max(2 * this.buf.length, needed));
    larger.set(this.buf.subarray(0, this.pos));
    this.buf = larger;
  }

  uint32(value: number): this {
    this.reserve(5);
    let rest = value >>> 0;
    for (; rest > 127; rest >>>= 7) this.buf[this.pos++] = (rest & 127) | 128;
    this.buf[this.pos++] = rest;
    return this;
  }

  int32(value: number): this {
    return value < 0 ? this.uint64({ low: value, high: -1, unsigned: true }) : this.uint32(value);
  }

  uint64({ low, high }: LongBits): this {
    this.reserve(10);
    let [lower, upper] = [low >>> 0, high >>> 0];
    while (upper > 0) {
      this.buf[this.pos++] = (lower & 127) | 128;
      lower = ((lower >>> 7) | (upper << 25)) >>> 0;
      upper >>>= 7;
    }
    return this.uint32(lower);
  }

  bool(value: boolean): this {
    return this.uint32(value ? 1 : 0);
  }

  double(value: number): this {
    this.reserve(8);
    new DataView(this.buf.buffer).setFloat64(this.pos, value, true);
    this.pos += 8;
    return this;
  }

  bytes(value: Uint8Array): this {
    this.uint32(value.length);
    this.reserve(value.length);
    this.buf.set(value, this.pos);
    this.pos += value.length;
    return this;
  }

  string(value: string): this {
    return this.bytes(textEncoder.encode(value));
  }

  uint32s(list: readonly number[]): this {
    this.fork();
    for (const value of list) this.uint32(value);
    return this.ldelim();
  }

  uint64s(list: readonly LongBits[]): this {
    this.fork();
    for (const value of list) this.uint64(value);
    return this.ldelim();
  }

  doubles(list: ArrayLike<number>): this {
    this.uint32(8 * list.length);
    this.reserve(8 * list.length);
    const view = new DataView(this.buf.buffer);
    for (let i = 0; i < list.length; i++, this.pos += 8) {
      view.setFloat64(this.pos, list[i]!, true);
    }
    return this;
  }

  /** Begins a message in the message. */
  fork(): this {
    this.starts.push(this.pos);
    return this;
  }

  /** Ends it: puts its length before it. */
  ldelim(): this {
    const start = this.starts.pop()!;
    const end = this.pos;
    let head = 1;
    for (let rest = (end - start) >>> 7; rest > 0; rest >>>= 7) head += 1;
    this.reserve(head);
    this.buf.copyWithin(start + head, start, end);
    this.pos = start;
    this.uint32(end - start);
    this.pos = end + head;
    return this;
  }

  /** The bytes, in their own memory. */
  finish(): Uint8Array {
    return this.buf.slice(0, this.pos);
  }
}

type Fields = Record<string, unknown>;

/** The other names that the generated code asks for. */
const util = {
  Long: {
    fromBits: (low: number, high: number, unsigned: boolean): LongBits =>
      ({ low, high, unsigned }),
  },
  newBuffer: (bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes),
  /** The name of the one that is set of fields that exclude each other. */
  oneOfGetter: (names: readonly string[]) => function getter(this: Fields): string | undefined {
    return names.find((name) => (this[name] ?? null) !== null);
  },
  oneOfSetter: (names: readonly string[]) => function setter(this: Fields, name: string): void {
    for (const other of names) if (other !== name) delete this[other];
  },
};

export default { Reader, Writer, util, roots: {} };
