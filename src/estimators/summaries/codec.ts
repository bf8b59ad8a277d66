import { InvalidParameterError } from '../../base/errors.js';

/** Appends little-endian numbers to a growing buffer. */
export class StateWriter {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  #reserve(more: number): number {
    const at = this.#length;
    this.#length += more;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.length));
      larger.set(this.#bytes);
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }

  integer(value: number): this {
    const at = this.#reserve(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  doubles(values: Float64Array): this {
    const at = this.#reserve(8 * values.length);
    values.forEach((value, i) => { this.#view.setFloat64(at + 8 * i, value, true); });
    return this;
  }

  words(values: BigUint64Array): this {
    const at = this.#reserve(8 * values.length);
    values.forEach((value, i) => { this.#view.setBigUint64(at + 8 * i, value, true); });
    return this;
  }

  /** A length and the bytes. */
  block(bytes: Uint8Array): this {
    this.integer(bytes.length);
    // Reserving may replace the buffer, so it comes first.
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }
}

/** Reads what StateWriter wrote; every read checks what is left. */
export class StateReader {
  readonly #view: DataView;
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  #take(size: number): number {
    const at = this.#at;
    if (size > this.bytes.length - at) this.fail('is cut short');
    this.#at += size;
    return at;
  }

  /** Bytes that were not read yet. */
  get left(): number {
    return this.bytes.length - this.#at;
  }

  integer(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  doubles(count: number): Float64Array {
    const at = this.#take(8 * count);
    return Float64Array.from({ length: count }, (_, i) => this.#view.getFloat64(at + 8 * i, true));
  }

  words(count: number): BigUint64Array {
    const at = this.#take(8 * count);
    return BigUint64Array.from({ length: count }, (_, i) =>
      this.#view.getBigUint64(at + 8 * i, true));
  }

  block(): Uint8Array {
    const size = this.integer();
    const at = this.#take(size);
    return this.bytes.subarray(at, at + size);
  }

  /** @throws InvalidParameterError unless the next number is the expected one. */
  expect(value: number, what: string): void {
    if (this.integer() !== value) this.fail(`has another ${what}`);
  }

  /** @throws InvalidParameterError when bytes are left over. */
  end(): void {
    if (this.#at !== this.bytes.length) this.fail('has bytes left over');
  }

  fail(why: string): never {
    throw new InvalidParameterError(
      `the stored summary ${why}: it was written by another version or damaged; rebuild it`,
    );
  }
}

/** The form of an encoded summary: its number, and what must match besides. */
export interface StateForm {
  readonly format: number;
  readonly dimension: number;
}

/** A writer that has written the form. */
export function writerOf({ format, dimension }: StateForm): StateWriter {
  return new StateWriter().integer(format).integer(dimension);
}

/**
 * Reads bytes that `writerOf` began.
 * @throws InvalidParameterError for bytes of another form, and for bytes that `read` leaves over.
 */
export function readState<State>(
  bytes: Uint8Array, { format, dimension }: StateForm, read: (reader: StateReader) => State,
): State {
  const reader = new StateReader(bytes);
  reader.expect(format, 'format');
  reader.expect(dimension, 'dimension');
  const state = read(reader);
  reader.end();
  return state;
}
