import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../cli/input/open.js';
import type { InputRequest, RowBatch } from '../../cli/input/rows.js';
import { readTables } from '../../cli/input/table.js';
import type { ColumnType } from '../../src/base/columns.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { npyBytes } from '../support/npy.js';
import { scratchFiles } from '../support/scratch.js';
import { arrowBytes, parquetBytes, type TestColumn } from '../support/table-files.js';

const place = scratchFiles('ids');

async function batchOf(
  path: string, options: Partial<InputRequest> = { contributor: 'id' },
): Promise<RowBatch> {
  const request = { path, missing: 'refuse' as const, ...options };
  for await (const batch of readRows(request, Readable.from([]))) return batch;
  throw new Error('no rows');
}

const idsIn = async (path: string): Promise<readonly string[]> =>
  (await batchOf(path)).contributors!;

async function refusal(path: string, options?: Partial<InputRequest>): Promise<string> {
  const error = await batchOf(path, options).then(() => null, (thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidInputError);
  return (error as Error).message;
}

/** A double holds every second of them. */
const large = Array.from({ length: 600 }, (_, i) => 2n ** 53n + 1n + BigInt(i));
const written = large.map(String);
const wide = [2n ** 63n - 1n, 2n ** 63n - 2n, -(2n ** 63n)];

function columnsOf(type: TestColumn['type'], ids: TestColumn['values']): readonly TestColumn[] {
  return [
    { name: 'id', type, values: ids }, { name: 'x', type: 'double', values: ids.map(() => 1) },
  ];
}

const csvOf = (ids: readonly string[]): string =>
  place('.csv', `id,x\n${ids.map((id) => `${id},1\n`).join('')}`);
const ndjsonOf = (ids: readonly string[]): string =>
  place('.ndjson', ids.map((id) => `{"id":${id},"x":1}\n`).join(''));
const arraysOf = (ids: readonly string[]): string =>
  place('.ndjson', ids.map((id) => `[1,"9\\"7",${id}]\n`).join(''));

describe('ids and texts that are numbers', () => {
  it('keep every digit, in every format', async () => {
    const paths = [
      csvOf(written), ndjsonOf(written), place('.parquet', parquetBytes(columnsOf('int64', large))),
      place('.arrow', arrowBytes(columnsOf('int64', large))),
    ];
    for (const path of paths) expect(await idsIn(path), path).toEqual(written);
    for (const make of [parquetBytes, arrowBytes]) {
      expect(await idsIn(place(make === arrowBytes ? '.arrow' : '.parquet',
        make(columnsOf('int64', wide))))).toEqual(wide.map(String));
    }
    const array = { contributor: '2', columns: ['0'] };
    expect((await batchOf(arraysOf(written), array)).contributors).toEqual(written);
    const [table] = await readTables({
      path: ndjsonOf(written), missing: 'refuse', contributor: 'id',
    }, Readable.from([]));
    expect(table!.count).toBe(600);
  });

  it('are kept as they are written: two forms of one number are two people', async () => {
    const forms = ['1', '1.0', '1e0', '10'];
    expect(await idsIn(csvOf(forms))).toEqual(forms);
    expect(await idsIn(ndjsonOf(forms))).toEqual(forms);
    // JSON has no zeros in front, except in a text.
    expect(await idsIn(ndjsonOf(['"01"', '" 1 "']))).toEqual(['01', '1']);
    expect(await idsIn(csvOf(['01', ' 1 ']))).toEqual(['01', '1']);
    // In a column of floats the type says that they are numbers.
    for (const [ending, make] of [['.parquet', parquetBytes], ['.arrow', arrowBytes]] as const) {
      expect(await idsIn(place(ending, make(columnsOf('double', [1, 1.5]))))).toEqual(['1', '1.5']);
    }
  });

  it('are one where their texts differ only in white space and Unicode form', async () => {
    const forms = ['Zu\u0308rich', ' Z\u00fcrich ', 'Z\u00fcrich\u2003'];
    const one = ['Z\u00fcrich', 'Z\u00fcrich', 'Z\u00fcrich'];
    for (const path of [
      csvOf(forms), ndjsonOf(forms.map((form) => JSON.stringify(form))),
      place('.parquet', parquetBytes(columnsOf('text', forms))),
      place('.arrow', arrowBytes(columnsOf('text', forms))),
    ]) {
      expect(await idsIn(path), path).toEqual(one);
      const [group] = await readTables({
        path, missing: 'refuse', group: 'id', groups: ['Zu\u0308rich'],
      }, Readable.from([]));
      expect(group!.count, path).toBe(3);
    }
  });

  it('are the same texts and names of categories in every format', async () => {
    const ids = large.slice(0, 3);
    const types = new Map<string, ColumnType>([['id', { type: 'text', bytes: 64 }]]);
    const names = new Map<string, ColumnType>([
      ['id', { type: 'category', of: written.slice(0, 3).toReversed() }],
    ]);
    for (const path of [
      csvOf(ids.map(String)), ndjsonOf(ids.map(String)),
      place('.parquet', parquetBytes(columnsOf('int64', ids))),
      place('.arrow', arrowBytes(columnsOf('int64', ids))),
    ]) {
      const texts = await batchOf(path, { columns: ['id'], types });
      expect(texts.texts, path).toEqual([ids.map(String)]);
      expect([...(await batchOf(path, { columns: ['id'], types: names })).values], path)
        .toEqual([2, 1, 0]);
    }
  });

  it('are refused where a float of their size stands for several', async () => {
    const text = new Map<string, ColumnType>([['id', { type: 'text', bytes: 64 }]]);
    for (const [ending, make] of [['.parquet', parquetBytes], ['.arrow', arrowBytes]] as const) {
      const largest = place(ending, make(columnsOf('double', [2 ** 53 - 1])));
      expect(await idsIn(largest)).toEqual(['9007199254740991']);
      const double = place(ending, make(columnsOf('double', [1, 2 ** 53])));
      const why = 'row 2, column 1: an id, group or text that is so large a float may stand for '
        + 'several: save the column as integers or as texts';
      expect(await refusal(double)).toContain(why);
      expect(await refusal(double, { group: 'id' })).toContain(why);
      expect(await refusal(double, { columns: ['id'], types: text })).toContain(why);
      const single = place(ending, make(columnsOf('float', [2 ** 24 - 1, -(2 ** 24)])));
      expect(await refusal(single)).toContain(why);
    }
    const npy = place('.npy', npyBytes([[1, 5], [2 ** 53, 5]]));
    expect(await refusal(npy, { contributor: '0' })).toContain('row 1, column 0');
  });
});
