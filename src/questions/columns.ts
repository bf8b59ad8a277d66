import { namesOfType, type ColumnType } from '../base/columns.js';
import { InvalidParameterError } from '../base/errors.js';
import type { TestValue } from '../base/questions.js';

/** The columns of a study, as its facts state them. Without `types` all are numbers. */
export interface StudyColumns {
  readonly columns: readonly string[];
  readonly types?: readonly ColumnType[];
}

/**
 * The dictionaries of a batch: for each column of texts, the texts that its cells are places in.
 * Other columns have none.
 */
export type Dictionaries = readonly (readonly string[] | undefined)[];

/** Rows as they were sent, row-major. An absent cell is NaN. */
export interface SentRows {
  readonly values: Float64Array;
  readonly rows: number;
  /** Only where a column is a text. */
  readonly texts?: Dictionaries | undefined;
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
  const isText = (type.type as string) === 'text';
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
