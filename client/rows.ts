import { cellOf, type ColumnType } from '../src/base/columns.js';
import { InvalidParameterError } from '../src/base/errors.js';
import { valueMaxText } from '../src/base/facts-limits.js';
import { textFault, textFaultWords, textForm } from '../src/base/text-form.js';
import { firstUnusable } from '../src/wire/index.js';
import type { StudyDocument } from '../src/wire/study-document.js';

/**
 * One value of a row: a name for a category, any text for a text column. Null or undefined, where
 * the column is optional: the row has no value.
 */
export type Cell = number | boolean | string | null | undefined;
/** A row whose values are given by the columns' names, or in the columns' order. */
export type TypedRow = Readonly<Record<string, Cell>> | readonly Cell[];
/**
 * Rows from a caller: row-major numbers, or a list of rows, all in one form. In rows of numbers
 * alone a boolean is 0 or 1 and a category the place of its name, from 0.
 */
export type RowsInput<Row extends TypedRow = TypedRow> =
  Float64Array | readonly (readonly number[] | Float64Array)[] | readonly Row[];
/** Rows of numbers alone. */
export type NumberRows = Exclude<RowsInput, readonly TypedRow[]>;

/** True if rows are numbers already. Others need the study's columns. */
export function areNumbers(rows: RowsInput): rows is NumberRows {
  return rows instanceof Float64Array || rows.every((row) => row instanceof Float64Array
    || (Array.isArray(row) && row.every((cell) => typeof cell === 'number')));
}

/** Rows as numbers, row-major. NaN: no value. Of a text column: a place in `texts`. */
export interface RowNumbers {
  readonly values: Float64Array;
  readonly texts?: readonly string[];
}

/**
 * The numbers of rows that are given by names or with their types. Texts are brought into the one
 * form that a study accepts: without white space around them, in Unicode form NFC.
 * @throws InvalidParameterError for a row without one value of the right type for each column that
 *   is not optional, or with a text that the study would refuse. It names row and column, never the
 *   value.
 */
export function numbersOf(
  rows: readonly TypedRow[], { columns, types }: Pick<StudyDocument, 'columns' | 'types'>,
): RowNumbers {
  const values = new Float64Array(rows.length * columns.length);
  const places = new Map<string, number>();
  rows.forEach((row, i) => {
    const isList = Array.isArray(row);
    const cells: Readonly<Record<string, Cell>> = row as never;
    const fits = isList ? row.length === columns.length
      : Object.keys(row).every((name) => columns.includes(name))
        && columns.every((name, j) => name in row || types?.[j]?.optional === true);
    if (!fits) {
      throw new InvalidParameterError(
        `row ${i} does not have the columns ${columns.join(', ')}: make them equal`, { row: i },
      );
    }
    columns.forEach((name, j) => {
      const type: ColumnType = types?.[j] ?? { type: 'number' };
      const value = numberOf(cells[isList ? j : name], type, places);
      if (typeof value === 'string') {
        throw new InvalidParameterError(
          `${name} of row ${i} ${value}: leave the row out`, { row: i, column: j },
        );
      }
      values[i * columns.length + j] = value;
    });
  });
  return { values, ...(places.size > 0 && { texts: [...places.keys()] }) };
}

/** The number of a cell, or its fault. */
function numberOf(cell: Cell, type: ColumnType, places: Map<string, number>): number | string {
  if (type.optional === true && (cell === null || cell === undefined)) return Number.NaN;
  if (type.type !== 'text' || typeof cell !== 'string') {
    return cellOf(type, cell) ?? `is no ${type.type} of the study`;
  }
  const text = textForm(cell);
  const fault = textFault(text, type.bytes);
  if (fault !== null) return textFaultWords[fault];
  const place = places.get(text) ?? places.size;
  places.set(text, place);
  return place;
}

/**
 * Copies the rows into one new array, row-major.
 * @param columns the study's dimension, if it is known already.
 * @throws InvalidParameterError for no rows, rows of different lengths, or a value that is NaN,
 *   infinite or beyond `valueMax` in size. The message names the row and column, never the value.
 */
export function flattenRows(rows: NumberRows, columns: number | null): Float64Array {
  const values = rows instanceof Float64Array ? rows.slice() : joined(rows);
  if (values.length === 0) throw new InvalidParameterError('there are no rows: give at least one');
  const width = columns ?? (rows instanceof Float64Array ? null : rows[0]!.length);
  if (columns !== null && values.length % columns !== 0) {
    throw new InvalidParameterError(
      `${values.length} values do not make whole rows of the study's ${columns} columns`,
    );
  }
  if (columns !== null && !(rows instanceof Float64Array) && rows[0]!.length !== columns) {
    throw new InvalidParameterError(
      `the rows have ${rows[0]!.length} columns, the study has ${columns}`,
    );
  }
  const bad = firstUnusable(values);
  if (bad >= 0) {
    const place = width === null
      ? `value ${bad}` : `column ${bad % width} of row ${Math.floor(bad / width)}`;
    throw new InvalidParameterError(
      `${place} is not a finite number of at most ${valueMaxText} in size: leave the row out`,
      { index: bad },
    );
  }
  return values;
}

function joined(rows: readonly (readonly number[] | Float64Array)[]): Float64Array {
  const columns = rows[0]?.length ?? 0;
  const values = new Float64Array(rows.length * columns);
  rows.forEach((row, i) => {
    if (row.length !== columns) {
      const text = `row ${i} has ${row.length} columns, row 0 has ${columns}: make them equal`;
      throw new InvalidParameterError(text, { row: i });
    }
    values.set(row, i * columns);
  });
  return values;
}
