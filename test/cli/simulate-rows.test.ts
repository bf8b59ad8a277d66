import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../cli/base/io.js';
import { readRowsFile, rowsOfStudies, type RowsFile } from '../../cli/simulate/rows.js';
import type { ColumnType } from '../../src/base/columns.js';
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

describe('the rows of columns with types', () => {
  const types: readonly ColumnType[] = [
    { type: 'text', bytes: 16, optional: true }, { type: 'boolean' },
    { type: 'category', of: ['north', 'south'] }, { type: 'integer', optional: true },
  ];
  const typed = studyDocument({ version: 2, columns: ['app', 'late', 'region', 'stops'], types });
  const read = (text: string, names = typed.columns, given = types): Promise<RowsFile> =>
    readRowsFile('-', { stdin: Readable.from([Buffer.from(text)]) } as unknown as Io, {
      types: new Map(names.map((name, i) => [name, given[i]!])), columns: names,
    });
  const dealt = (file: RowsFile) => {
    const request = { file, rows: 1, contributors: 3, seed: new Uint8Array(32) };
    const { source, texts } = rowsOfStudies([typed], request)[0]!;
    const rows = [0, 1, 2].map((contributor) =>
      Array.from(source(contributor, 1n, typed.study)));
    return { rows: rows.sort((left, right) => left[0]! - right[0]!), texts };
  };

  it('are texts, names and truth values, and may be missing where that is allowed', async () => {
    const file = await read(
      'app,late,region,stops\nmaps,true,south,2\n,0,north,\nmail ,false,north,-1\n',
    );
    const { rows, texts } = dealt(file);
    expect(texts).toEqual(['maps', 'mail']);
    expect(rows).toEqual(expect.arrayContaining([
      [0, 1, 1, 2], [Number.NaN, 0, 0, Number.NaN], [1, 0, 0, -1],
    ]));
  });

  it('go by the study\'s own places of names, whatever the file\'s types say', async () => {
    const given: readonly ColumnType[] = [
      { type: 'text', bytes: 16 }, { type: 'boolean' },
      { type: 'category', of: ['south', 'north'] }, { type: 'integer' },
    ];
    const file = await read('app,late,region,stops\nmaps,1,south,2\n', typed.columns, given);
    expect(dealt(file).rows[0]).toEqual([0, 1, 1, 2]);
  });

  it('are refused by row and column where the study cannot hold them, never by value', async () => {
    const given = types.with(2, { type: 'category', of: ['north', 'secret place'] });
    const file =
      await read('app,late,region,stops\na,1,north,2\nb,1,secret place,2\n', typed.columns, given);
    expect(() => dealt(file)).toThrow(
      'standard input, rows counted from 0: region of row 1 is no category of the study',
    );
    expect(() => dealt(file)).not.toThrow('secret');
    await expect(read('app,late,region,stops\na,1,east,2\n')).rejects
      .toThrow('line 2, column 3 ("region"): none of the names of this category');
  });
});
