import { InvalidParameterError } from '../base/errors.js';
import type { RowTest, TestValue } from '../base/questions.js';
import {
  codeOf, columnOf, textOf, type Column, type SentRows, type StudyColumns,
} from './columns.js';

/** True if the row that begins at `start` of the values counts. */
export type RowFilter = (sent: SentRows, start: number) => boolean;

/**
 * The rows that pass every test. It looks at one row alone and is total: an absent cell passes
 * `present: false` and no other test.
 * @throws InvalidParameterError for a column that is not there, or a value of another type.
 */
export function rowFilter(tests: readonly RowTest[], study: StudyColumns): RowFilter {
  const filters = tests.map((test) => filterOf(test, columnOf(study, test.column)));
  return filters.length === 0 ? () => true
    : (sent, start) => filters.every((passes) => passes(sent, start));
}

function filterOf(test: RowTest, column: Column): RowFilter {
  const { place } = column;
  if ('present' in test) {
    return ({ values }, start) => Number.isNaN(values[start + place]!) !== test.present;
  }
  if ('atLeast' in test || 'below' in test) {
    if (column.names !== null || column.isText) {
      throw new InvalidParameterError(
        `column ${test.column} has no order: at-least and below are for numbers`,
      );
    }
    // A comparison with NaN, an absent cell, is false.
    return 'below' in test
      ? ({ values }, start) => values[start + place]! < test.below
      : ({ values }, start) => values[start + place]! >= test.atLeast;
  }
  if ('not' in test) return oneOf(column, [test.not], false);
  return oneOf(column, 'in' in test ? test.in : [test.is], true);
}

/** Rows whose cell is there and is, or is not, among the values. */
function oneOf(column: Column, values: readonly TestValue[], wanted: boolean): RowFilter {
  const { place } = column;
  if (column.isText) {
    const texts = new Set<unknown>(values);
    return (sent, start) => {
      const cell = sent.values[start + place]!;
      return !Number.isNaN(cell) && texts.has(textOf(sent.texts![place]!, cell)) === wanted;
    };
  }
  const codes = new Set(values.map((value) => codeOf(column, value)));
  return (sent, start) => {
    const cell = sent.values[start + place]!;
    return !Number.isNaN(cell) && codes.has(cell) === wanted;
  };
}
