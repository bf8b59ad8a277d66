import { namesOfType, type ColumnType } from '../base/columns.js';
import { InvalidParameterError } from '../base/errors.js';
import type { TestValue } from '../base/questions.js';
import { textAt, type TextTable } from '../base/text-table.js';

/** The columns of a study, as its facts state them. Without `types` all are numbers. */
export interface StudyColumns {
  readonly columns: readonly string[];
  readonly types?: readonly ColumnType[];
}

/** The texts of a column, whose cells are places among them. */
export type Texts = readonly string[] | TextTable;

/** The texts of each column. Columns of other types have none. */
export type Dictionaries = readonly (Texts | null | undefined)[];

/** Rows as they were sent, row-major. An absent cell is NaN. */
export interface SentRows {
  readonly values: Float64Array;
  readonly rows: number;
  /** Only where a column is a text. */
  readonly texts?: Dictionaries | undefined;
}

const decoded = new WeakMap<TextTable, string[]>();
const decoder = new TextDecoder();

/** One text of a column. Texts that are bytes are decoded once. */
export function textOf(texts: Texts, place: number): string {
  if (!('bytes' in texts)) return texts[place]!;
  let known = decoded.get(texts);
  if (known === undefined) decoded.set(texts, known = []);
  return known[place] ??= decodedText(texts, place);
}

/** Up to this many letters, adding them one by one is faster than the decoder. */
const fewLetters = 12;

function decodedText(texts: TextTable, place: number): string {
  const { bytes, starts } = texts;
  const first = starts[place]! + 1;
  const end = first + bytes[first - 1]!;
  if (end - first > fewLetters) return decoder.decode(textAt(texts, place));
  let text = '';
  for (let i = first; i < end; i++) {
    if (bytes[i]! > 127) return decoder.decode(textAt(texts, place));
    text += String.fromCharCode(bytes[i]!);
  }
  return text;
}

/** One column of a study. */
export interface Column {
  readonly place: number;
  readonly type: ColumnType;
  /** The names of the values 0, 1, 2 ... of a category or boolean; null for others. */
  readonly names: readonly string[] | null;
  readonly isText: boolean;
}

/** @throws InvalidParameterError when the study has no column of this name. */
export function columnOf({ columns, types }: StudyColumns, name: string): Column {
  const place = columns.indexOf(name);
  if (place < 0) {
    throw new InvalidParameterError(
      `there is no column ${name}: the columns are ${columns.join(', ')}`,
    );
  }
  const type = types?.[place] ?? { type: 'number' };
  const isText = type.type === 'text';
  return { place, type, names: isText ? null : namesOfType(type), isText };
}

/**
 * The number that stands for a value in a row. Not for texts.
 * @throws InvalidParameterError for a value of another type than the column's.
 */
export function codeOf({ type, names }: Column, value: TestValue): number {
  if (type.type === 'boolean' && typeof value === 'boolean') return Number(value);
  if (type.type === 'category' && typeof value === 'string') {
    const place = names!.indexOf(value);
    if (place >= 0) return place;
  }
  const isNumber = type.type === 'number' || type.type === 'integer';
  if (isNumber && typeof value === 'number' && Number.isFinite(value)) return value;
  throw new InvalidParameterError(
    `${JSON.stringify(value)} is no value of a ${type.type} column`
      + (names === null ? '' : `: give one of ${names.slice(0, 8).join(', ')}`),
  );
}
