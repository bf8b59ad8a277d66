import { InvalidParameterError } from '../src/base/errors.js';
import { firstNonFinite } from '../src/wire/index.js';

/** Rows from a caller: row-major numbers, or a list of rows of one length. */
export type RowsInput = Float64Array | readonly (readonly number[] | Float64Array)[];

/**
 * Copies the rows into one new array, row-major.
 * @param columns the study's dimension, if it is known already.
 * @throws InvalidParameterError for no rows, rows of different lengths, or a value that is NaN or
 *   infinite. The
 * message names the row and column, never the value.
 */
export function flattenRows(rows: RowsInput, columns: number | null): Float64Array {
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
  const bad = firstNonFinite(values);
  if (bad >= 0) {
    const place = width === null
      ? `value ${bad}` : `column ${bad % width} of row ${Math.floor(bad / width)}`;
    throw new InvalidParameterError(
      `${place} is not a finite number: leave the row out`, { index: bad },
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
