import { otherName, type ColumnType } from '../../src/base/columns.js';
import type { Cell } from '../../client/index.js';
import { checkText } from '../../server/study-file/check.js';
import { readColumns } from '../../server/study-file/columns.js';
import { studyError } from '../../server/study-file/refusal.js';
import { studySchema } from '../../server/study-file/schema.js';
import { readText } from '../base/text-files.js';
import type { RowBatch, RowOptions } from './rows.js';

/** What a study file says of the columns of rows. */
export type TypedColumns = Pick<RowOptions, 'columns' | 'types'>;

/**
 * The columns of a study file, to read rows by.
 * @param asked - what was asked for instead of all of them.
 * @throws InvalidInputError if the file cannot be read, KeelsonError if it is no study.
 */
export function columnsOfStudy(file: string, asked?: readonly string[]): TypedColumns {
  // Only the columns are read. A command that sends rows loads no estimator.
  const { content, lineOf } = checkText(studySchema, readText(file), file);
  const { columns, types } = readColumns(content, (path, rule, remedy) =>
    studyError(file, { path, rule, remedy, line: lineOf(path.split('.')) }));
  return {
    columns: asked ?? columns,
    ...(types && { types: new Map(columns.map((name, i) => [name, types[i]!])) }),
  };
}

/**
 * A row of a batch with its values as people give them. The client checks the names of categories
 * against the list of the study that it sends to.
 */
export function typedRow(
  { columns, values }: RowBatch, row: number, types: ReadonlyMap<string, ColumnType>,
): Record<string, Cell> {
  return Object.fromEntries(columns.map((name, i): [string, Cell] => {
    const type = types.get(name);
    const value = values[row * columns.length + i]!;
    if (type?.type === 'boolean') return [name, value === 1];
    return [name, type?.type === 'category' ? type.of[value] ?? otherName : value];
  }));
}
