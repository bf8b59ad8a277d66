import { describe, expect, it } from 'vitest';
import { rowsOfStudies, type RowsFile } from '../../cli/simulate/rows.js';
import { studyDocument } from '../support/hub-bench.js';

const document = studyDocument({ columns: ['a', 'b'] });
const file = (names: readonly string[], values: readonly number[]): RowsFile =>
  ({ path: 'people.csv', names, columns: names.length, values: Float64Array.from(values) });
const rowsOf = (given: RowsFile): readonly (readonly number[])[] => {
  const request = { file: given, rows: 1, contributors: 2, seed: new Uint8Array(32) };
  const [{ source }] = rowsOfStudies([document], request) as [ReturnType<typeof rowsOfStudies>[0]];
  return [0, 1].map((contributor) => Array.from(source(contributor, 1n, document.study)));
};

describe('the rows that simulate sends from a file', () => {
  it('are the columns of the study by name, wherever they are in the file', () => {
    expect(rowsOf(file(['b', 'other', 'a'], [2, 9, 1, 2, 9, 1]))).toEqual([[1, 2], [1, 2]]);
    expect(rowsOf(file(['b', 'a'], [2, 1, 2, 1]))).toEqual([[1, 2], [1, 2]]);
  });

  it('are taken by position when the file has as many columns without these names', () => {
    expect(rowsOf(file(['0', '1'], [1, 2, 1, 2]))).toEqual([[1, 2], [1, 2]]);
  });

  it('are refused, by the names of both, when neither fits', () => {
    expect(() => rowsOf(file(['x', 'y', 'z'], [1, 2, 3])))
      .toThrow('people.csv has 3 columns (x, y, z), and delays has 2 (a, b)');
  });
});
