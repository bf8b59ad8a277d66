import { textForm } from '../../src/base/text-form.js';
import { KnownTexts } from './known-texts.js';
import { cellRole, readNumber, type NumberRows } from './plain-numbers.js';

const [feed, carriage, quote, backslash, minus, zero] = [0x0a, 0x0d, 0x22, 0x5c, 0x2d, 0x30];
const point = 0x2e;
const space = 0x20;
/** Lines of one form: the bytes that lie around their cells, and the roles of the cells. */
export interface LineForm extends NumberRows {
  /** The bytes before each cell, and those after the last. */
  readonly between: readonly Uint8Array[];
}

const token =
  /\s*([[{,])\s*(?:"([^"\\]*)"\s*:\s*)?("[^"\\]*"|-?\d[-+.\deE]*|true|false|null)/y;

/** A line, cut into its cells. */
export interface CutLine {
  /** Undefined in an array. */
  readonly keys: readonly (string | undefined)[];
  readonly between: readonly Uint8Array[];
}

/**
 * Cuts a line of JSON. `null`: it has escapes, values in values, or other signs than those of
 * ASCII.
 */
export function cutLine(line: string): CutLine | null {
  const text = line.trimEnd();
  if (!/^[\x20-\x7e]*$/.test(text)) return null;
  const keys: (string | undefined)[] = [];
  const between: Uint8Array[] = [];
  let at = 0;
  for (token.lastIndex = 0;;) {
    const found = token.exec(text);
    if (found === null) break;
    const [whole, sign, key, value] = found;
    if ((sign === ',') !== (at > 0)) return null;
    keys.push(key);
    between.push(Buffer.from(whole.slice(0, whole.length - value!.length)));
    at = token.lastIndex;
  }
  between.push(Buffer.from(text.slice(at)));
  return /^\s*[\]}]$/.test(text.slice(at)) ? { keys, between } : null;
}

/**
 * Reads lines from their bytes that have the form of the first one: the same bytes between cells of
 * numbers in their plainest form, of texts without escapes, `true`, `false` and `null`. All of
 * these mean what `JSON.parse` says.
 */
export class FormLines {
  /** The bytes between cells, one piece after the other, and where each begins. */
  readonly #between: Uint8Array;
  readonly #starts: Uint32Array;
  readonly #texts = new KnownTexts((bytes, from, to) =>
    textForm(bytes.toString('latin1', from, to)));
  /** The number of lines that the last call of `read` took. */
  lines = 0;

  constructor(private readonly form: LineForm) {
    this.#between = Buffer.concat(form.between);
    this.#starts = new Uint32Array(form.between.length + 1);
    form.between.forEach(({ length }, i) => { this.#starts[i + 1] = this.#starts[i]! + length; });
  }

  /**
   * Reads lines until one has another form.
   * @param to - behind a line feed.
   * @param line - the number of the first one.
   * @returns where that line begins, or `to`.
   */
  read(bytes: Buffer, from: number, to: number, line: number): number {
    const { builder, roles } = this.form;
    let at = from;
    this.lines = 0;
    while (at < to) {
      const start = at;
      let [contributor, group] = ['', ''];
      for (let cell = 0; cell < roles.length; cell++) {
        at = this.#passed(bytes, at, cell);
        const role = roles[cell]!;
        if (role >= 0) at = this.#number(bytes, at, role);
        else if (role === cellRole.unused) at = cellEnd(bytes, at);
        else {
          const first = at;
          const isText = bytes[first] === quote;
          at = isText ? textEnd(bytes, first) : wholeEnd(bytes, first);
          if (at < 0) return start;
          const text = isText ? this.#texts.textOf(bytes, first + 1, at - 1)
            : this.#texts.textOf(bytes, first, at);
          if (text === '') return start;
          if (role === cellRole.contributor) contributor = text;
          else group = text;
        }
        if (at < 0) return start;
      }
      at = this.#passed(bytes, at, roles.length);
      if (bytes[at] === carriage) at += 1;
      if (bytes[at++] !== feed) return start;
      builder.endRow(line + this.lines, contributor, group);
      this.lines += 1;
    }
    return at;
  }

  /** @returns where the cell begins; beyond all bytes: others lie before it. */
  #passed(bytes: Buffer, from: number, cell: number): number {
    const end = this.#starts[cell + 1]!;
    let at = from;
    for (let own = this.#starts[cell]!; own < end; own++, at++) {
      if (bytes[at] !== this.#between[own]) return bytes.length;
    }
    return at;
  }

  /**
   * Writes the number that begins at `from` into its place. Unlike in CSV, `null` stands for an
   * empty cell, and digits stand on both sides of a point, with no zero before other digits.
   * @returns where it ends, or -1.
   */
  #number(bytes: Buffer, from: number, place: number): number {
    const { builder, mayBeEmpty } = this.form;
    if (bytes[from] === 0x6e && mayBeEmpty[place] === 1) {
      builder.target[builder.offset + place] = NaN;
      return wordEnd(bytes, from, 'null');
    }
    const start = bytes[from] === minus ? from + 1 : from;
    if (!isDigit(bytes[start]!)) return -1;
    if (bytes[start] === zero && isDigit(bytes[start + 1]!)) return -1;
    const end = readNumber(bytes, from, place, this.form);
    return bytes[end - 1] === point ? -1 : end;
  }
}

/** The end of a cell that is not read; -1: it is not in its plainest form. */
function cellEnd(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === quote) return textEnd(bytes, from);
  if (first === 0x74) return wordEnd(bytes, from, 'true');
  if (first === 0x66) return wordEnd(bytes, from, 'false');
  if (first === 0x6e) return wordEnd(bytes, from, 'null');
  const end = wholeEnd(bytes, from);
  if (end < 0 || bytes[end] !== point) return end;
  const last = digitsEnd(bytes, end + 1);
  return last === end + 1 ? -1 : last;
}

function wordEnd(bytes: Buffer, from: number, word: string): number {
  for (let i = 0; i < word.length; i++) if (bytes[from + i] !== word.charCodeAt(i)) return -1;
  return from + word.length;
}

function textEnd(bytes: Buffer, from: number): number {
  for (let at = from + 1;; at++) {
    const code = bytes[at]!;
    if (code === quote) return at + 1;
    if (!(code >= space && code < 0x7f) || code === backslash) return -1;
  }
}

/** The end of a whole number that has no zero before other digits; -1: there is none. */
function wholeEnd(bytes: Buffer, from: number): number {
  const start = bytes[from] === minus ? from + 1 : from;
  const end = digitsEnd(bytes, start);
  return end === start || (end > start + 1 && bytes[start] === zero) ? -1 : end;
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= zero + 9;

function digitsEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at]!)) at += 1;
  return at;
}
