import type { ColumnType } from '../base/columns.js';
import { utf8 } from '../base/bytes.js';
import { WireError } from '../base/errors.js';
import { textBytesFault, textFaultWords } from '../base/text-form.js';
import type { TextTable } from '../base/text-table.js';
import type { Cells } from './messages.js';
import { malformed } from './reader.js';

/** The most different texts in one column of a batch. A code of two bytes says which one. */
export const textsPerBatch = 65_535;

/** Bytes of one code that chooses among so many names. */
export function codeBytes(names: number): 1 | 2 {
  return names > 256 ? 2 : 1;
}

/** Places among `names`, as little-endian codes. */
export function encodeCodes(values: Float64Array, names: number): Uint8Array {
  const size = codeBytes(names);
  const codes = new Uint8Array(size * values.length);
  values.forEach((value, i) => {
    codes[size * i] = value;
    if (size === 2) codes[2 * i + 1] = value >> 8;
  });
  return codes;
}

/** The reverse of `encodeCodes`. The caller has checked the length. */
export function readCodes(codes: Uint8Array, count: number, names: number): Float64Array {
  const values = new Float64Array(count);
  const wide = codeBytes(names) === 2;
  for (let i = 0; i < count; i++) {
    values[i] = wide ? codes[2 * i]! + 256 * codes[2 * i + 1]! : codes[i]!;
  }
  return values;
}

/** @param places of the values in `texts`, which may name one text twice. */
export function encodeTexts(places: Float64Array, texts: readonly string[]): Cells {
  const used = new Map([...new Set(Array.from(places, (place) => texts[place]!))]
    .map((text) => [text, utf8(text)]));
  const sorted = [...used].sort(([, left], [, right]) => compareBytes(left, right));
  const codes = new Map(sorted.map(([text], code) => [text, code]));
  return {
    numbers: new Uint8Array(0),
    codes: encodeCodes(places.map((place) => codes.get(texts[place]!)!), sorted.length),
    dictionary: dictionaryOf(sorted.map(([, bytes]) => bytes)),
  };
}

function dictionaryOf(texts: readonly Uint8Array[]): Uint8Array {
  const dictionary = new Uint8Array(texts.reduce((sum, { length }) => sum + 1 + length, 0));
  let at = 0;
  for (const text of texts) {
    dictionary[at] = text.length;
    dictionary.set(text, at + 1);
    at += 1 + text.length;
  }
  return dictionary;
}

/** Below 0, 0 or above 0, as the left bytes come before, at or after the right ones. */
function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const shared = Math.min(left.length, right.length);
  for (let i = 0; i < shared; i++) if (left[i] !== right[i]) return left[i]! - right[i]!;
  return left.length - right.length;
}

/** True if the text whose byte of length is at `left` comes before the one at `right`. */
function isAscending(bytes: Uint8Array, left: number, right: number): boolean {
  const shared = Math.min(bytes[left]!, bytes[right]!);
  for (let i = 1; i <= shared; i++) {
    if (bytes[left + i] !== bytes[right + i]) return bytes[left + i]! < bytes[right + i]!;
  }
  return bytes[left]! < bytes[right]!;
}

/**
 * The dictionary of a text column; null for other columns.
 * @throws WireError('malformed') for a dictionary of another column, one that is cut short, has too
 *   many texts, or is not strictly ascending.
 */
export function readTexts(
  bytes: Uint8Array = new Uint8Array(0), type: ColumnType, column: number,
): TextTable | null {
  if (type.type !== 'text') {
    if (bytes.length > 0) throw malformed(`column ${column} has no texts, and a dictionary`);
    return null;
  }
  let [count, end] = [0, 0];
  for (; end < bytes.length; end += 1 + bytes[end]!) {
    if (count === textsPerBatch) {
      throw malformed(`column ${column} has more than ${textsPerBatch} texts`);
    }
    count += 1;
  }
  if (end !== bytes.length) throw malformed(`the dictionary of column ${column} is cut short`);
  const starts = new Uint32Array(count);
  for (let place = 1; place < count; place++) {
    const before = starts[place - 1]!;
    const start = starts[place] = before + 1 + bytes[before]!;
    if (!isAscending(bytes, before, start)) {
      throw malformed(`the dictionary of column ${column} is not in strictly ascending order`);
    }
  }
  return { count, bytes, starts };
}

/** Which texts of the batch that is read have a row. */
const used = new Uint8Array(textsPerBatch);

/**
 * Writes the codes of a text column to their places in the rows, where every row has a text. It has
 * no memory of its own but the table, and takes half the time of the general way.
 * @param texts - the column's dictionary, as `readTexts` gives it.
 * @param column - the place of the column, and the number of all.
 * @returns false for every fault, which the general way then judges.
 */
export function readAllTexts(
  { numbers, codes }: Cells, texts: TextTable, bytesMax: number, values: Float64Array,
  { column, columns, judge }: {
    readonly column: number; readonly columns: number; readonly judge: 'new' | 'accepted';
  },
): boolean {
  const { count, bytes, starts } = texts;
  const wide = codeBytes(count) === 2;
  const rows = values.length / columns;
  if (numbers.length > 0 || codes.length !== (wide ? 2 : 1) * rows) return false;
  used.fill(0, 0, count);
  for (let row = 0; row < rows; row++) {
    const code = wide ? codes[2 * row]! + 256 * codes[2 * row + 1]! : codes[row]!;
    if (code >= count) return false;
    used[code] = 1;
    values[row * columns + column] = code;
  }
  for (let place = 0; place < count; place++) {
    if (used[place] === 0) return false;
    const from = starts[place]! + 1;
    const end = from + bytes[from - 1]!;
    if (judge === 'new' && textBytesFault(bytes, bytesMax, from, end) !== null) return false;
  }
  return true;
}

/**
 * Checks the codes of a text column, and the form of its texts unless they were accepted before.
 * @throws WireError with `malformed` for a code past the dictionary or a text that no row uses, and
 *   `bad-text` for a text that is not in the one form.
 */
export function checkTexts(
  codes: Float64Array, texts: TextTable, bytesMax: number,
  { column, there, judge }: {
    readonly column: number;
    /** The rows of the codes; null for all rows. */
    readonly there: Uint32Array | null;
    readonly judge: 'new' | 'accepted';
  },
): void {
  const firstUse = new Int32Array(texts.count).fill(-1);
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!;
    if (code >= texts.count) throw malformed(`column ${column} has a code past its dictionary`);
    if (firstUse[code]! < 0) firstUse[code] = i;
  }
  for (let place = 0; place < firstUse.length; place++) {
    const i = firstUse[place]!;
    if (i < 0) throw malformed(`the dictionary of column ${column} has a text that no row has`);
    if (judge === 'accepted') continue;
    const from = texts.starts[place]! + 1;
    const fault = textBytesFault(texts.bytes, bytesMax, from, from + texts.bytes[from - 1]!);
    if (fault !== null) {
      const row = there?.[i] ?? i;
      throw new WireError('bad-text',
        `column ${column}, row ${row}: the text ${textFaultWords[fault]}`);
    }
  }
}
