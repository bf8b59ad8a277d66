import type { Question } from '../../src/base/questions.js';
import { checkText } from '../../server/study-file/check.js';
import { readColumns } from '../../server/study-file/columns.js';
import { studyError } from '../../server/study-file/refusal.js';
import { studySchema } from '../../server/study-file/schema.js';
import { readText } from '../base/text-files.js';
import type { RowOptions } from './rows.js';

/** A study file's columns and their types, and the way to reduce the rows of one person. */
export type TypedColumns = Pick<RowOptions, 'columns' | 'types' | 'times'> & {
  readonly reduce?: Question['reduce'];
};

/**
 * The columns of a study file, to read rows by.
 * @param asked - the columns that were requested instead of all of them.
 * @throws InvalidInputError if the file cannot be read, KeelsonError if it is no study.
 */
export function columnsOfStudy(file: string, asked?: readonly string[]): TypedColumns {
  // Only the columns are read. A command that sends rows loads no estimator.
  const { content, lineOf } = checkText(studySchema, readText(file), file);
  const { columns, types } = readColumns(content, (path, rule, remedy) =>
    studyError(file, { path, rule, remedy, line: lineOf(path.split('.')) }));
  const { reduce } = content.contribution ?? {};
  return {
    columns: asked ?? columns,
    ...(reduce !== undefined && { reduce }),
    ...(types && { types: new Map(columns.map((name, i) => [name, types[i]!])) }),
  };
}
