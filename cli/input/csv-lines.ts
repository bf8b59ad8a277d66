import { textForm } from '../../src/base/text-form.js';
import type { KnownTexts } from './known-texts.js';
import type { CsvForm } from './csv-form.js';
import { cellRole, readGrouped, readNumber, type NumberRows } from './plain-numbers.js';

const [quote, feed, carriage] = [0x22, 0x0a, 0x0d];
/** Longer lines are the parser's, which refuses those that are too long for any row. */
const lineBytesMax = 1024 * 1024;

/** @param data - columns of the file, by place in a row. @param width - columns of the file. */
export function rolesOf(
  { data, contributor, group }: {
    readonly data: readonly number[]; readonly contributor: number; readonly group: number;
  },
  width: number,
): Int32Array {
  const roles = new Int32Array(width).fill(cellRole.unused);
  data.forEach((column, place) => { roles[column] = place; });
  if (contributor >= 0) roles[contributor] = cellRole.contributor;
  if (group >= 0) roles[group] = cellRole.group;
  return roles;
}

/** The receiver of a file's records. */
export interface Records {
  take(record: readonly string[]): void;
  /** Null while the columns are not known yet, and where some of them are not numbers. */
  readonly numbers: NumberRows | null;
  /** The first line of the record after the last one. */
  readonly nextLine: number;
  /** Counts a line of which the builder has the row. */
  passLine(): void;
  /** Ids and names of groups; empty where `textIn` is. */
  readonly texts: KnownTexts;
}

/**
 * Reads the lines of a CSV file from its bytes as long as there is no quote. Cells of numbers
 * become numbers at once. A line in which anything else is found is cut at its separators.
 */
export class PlainLines {
  #bytes: Buffer = Buffer.alloc(0);
  #isBegun = false;
  /** The end of the first line: 1 for a line feed, 2 with a carriage return before it. */
  #ending: 0 | 1 | 2 = 0;

  constructor(
    private readonly records: Records, private readonly separator: CsvForm['separator'],
  ) {}

  /** The line ending; undefined: no line has ended. */
  get delimiter(): string | undefined {
    return ([undefined, '\n', '\r\n'] as const)[this.#ending];
  }

  /** @returns the bytes from which on a parser is needed; null: all is read so far. */
  take(chunk: Uint8Array): Buffer | null {
    const bytes = this.#bytes.length === 0 ? bufferOf(chunk) : Buffer.concat([this.#bytes, chunk]);
    this.#bytes = bytes;
    if (!this.#begin(bytes)) return null;
    if (this.#ending === 0 && !this.#findEnding()) return this.#tooLong();
    return this.#ending === 0 ? this.#bytes : this.#takeLines();
  }

  /** @returns the last bytes, if there are any: a line that no line break ends. */
  end(): Buffer | null {
    return this.#bytes.length === 0 ? null : this.#bytes;
  }

  /** Takes off a byte order mark. False: more bytes are needed to know. */
  #begin(bytes: Buffer): boolean {
    if (this.#isBegun) return true;
    if (bytes.length < 3) return false;
    this.#isBegun = true;
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      this.#bytes = bytes.subarray(3);
    }
    return true;
  }

  /** False: the first line has not ended. True with ending 0: only a parser can read the file. */
  #findEnding(): boolean {
    const bytes = this.#bytes;
    const [lineFeed, back] = [bytes.indexOf(feed), bytes.indexOf(carriage)];
    const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
    if (isUtf16 || (bytes.includes(quote) && !(lineFeed >= 0 && lineFeed < bytes.indexOf(quote)))) {
      return true;
    }
    if (back < 0 || (lineFeed >= 0 && lineFeed < back)) {
      if (lineFeed >= 0) this.#ending = 1;
      return lineFeed >= 0;
    }
    if (back + 1 === bytes.length) return false;
    if (bytes[back + 1] === feed) this.#ending = 2;
    return true;
  }

  #takeLines(): Buffer | null {
    const bytes = this.#bytes;
    const quoted = bytes.indexOf(quote);
    const last = bytes.lastIndexOf(feed, quoted < 0 ? bytes.length : quoted) + 1;
    const stop = this.#read(bytes, last);
    this.#bytes = bytes.subarray(stop);
    return stop < last || quoted >= 0 ? this.#bytes : this.#tooLong();
  }

  #tooLong(): Buffer | null {
    return this.#bytes.length > lineBytesMax ? this.#bytes : null;
  }

  /** @returns where the lines end that were read: `to`, or before. */
  #read(bytes: Buffer, to: number): number {
    let at = 0;
    const form = { ending: this.#ending, separator: this.separator.charCodeAt(0) };
    while (at < to) {
      const { numbers } = this.records;
      if (numbers !== null) at = readNumbers(bytes, at, to, form, numbers, this.records);
      if (at === to) break;
      const end = bytes.indexOf(feed, at);
      const textEnd = end + 1 - this.#ending;
      if ((this.#ending === 2 && bytes[textEnd] !== carriage) || end - at > lineBytesMax) return at;
      this.records.take(bytes.toString('utf8', at, textEnd).split(this.separator));
      at = end + 1;
    }
    return at;
  }
}

/**
 * Reads lines until one is not made of numbers in their plainest form.
 * @returns where that line begins, or `to`.
 */
function readNumbers(
  bytes: Buffer, from: number, to: number,
  { ending, separator }: { readonly ending: number; readonly separator: number },
  numbers: NumberRows, records: Records,
): number {
  const { builder, roles, marks } = numbers;
  const read = marks.thousands.length > 0 ? readGrouped : readNumber;
  const last = roles.length - 1;
  let at = from;
  while (at < to) {
    const start = at;
    let [contributor, group] = ['', ''];
    for (let column = 0; column <= last; column++) {
      const role = roles[column]!;
      const first = at;
      if (role >= 0) at = read(bytes, at, role, numbers);
      else at = cellEnd(bytes, at, separator);
      if (at < 0) return start;
      if (role < cellRole.unused) {
        const text = records.texts.textOf(bytes, first, at);
        if (text === '') return start;
        if (role === cellRole.contributor) contributor = text;
        else group = text;
      }
      if (column < last && bytes[at++] !== separator) return start;
    }
    if (ending === 2 && bytes[at++] !== carriage) return start;
    if (bytes[at++] !== feed) return start;
    builder.endRow(records.nextLine, contributor, group);
    records.passLine();
  }
  return at;
}

/** A carriage return ends a cell, too: one that no line feed follows is looked at by others. */
function cellEnd(bytes: Buffer, from: number, separator: number): number {
  for (let at = from;; at++) {
    const code = bytes[at]!;
    if (code === separator || code === feed || code === carriage) return at;
  }
}

/** An id, or a group's name. Empty, too, where it has other signs than those of ASCII. */
export function textIn(bytes: Buffer, from: number, to: number): string {
  for (let at = from; at < to; at++) if (bytes[at]! > 0x7f) return '';
  return textForm(bytes.toString('latin1', from, to));
}

function bufferOf(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
