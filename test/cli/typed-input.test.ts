import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parametersOfTypes, typesOfTable } from '../../cli/estimate/types.js';
import { columnsOfStudy, typedRow } from '../../cli/input/typed-columns.js';
import { readRows } from '../../cli/input/open.js';
import type { RowBatch } from '../../cli/input/rows.js';
import type { ColumnType } from '../../src/base/columns.js';

const types: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ['stops', { type: 'integer' }], ['late', { type: 'boolean' }],
  ['region', { type: 'category', of: ['north', 'Zürich'] }],
]);
const other = new Map(types).set(
  'region', { type: 'category', of: ['north', 'Zürich'], other: true },
);

async function read(
  text: string, format: 'csv' | 'ndjson' | 'npy', given = types,
): Promise<RowBatch> {
  const request = {
    path: '-', format, types: given, columns: [...given.keys()], missing: 'refuse' as const,
  };
  for await (const batch of readRows(request, Readable.from([Buffer.from(text)]))) return batch;
  throw new Error('no rows');
}

const head = 'stops,late,region\n';

describe('files with typed columns', () => {
  it.each([
    ['csv', `${head}3,true,north\n0, 0 , Zu\u0308rich\n-2,1,north\n`],
    ['ndjson', '{"stops":3,"late":true,"region":"north"}\n'
      + '{"stops":0,"late":false,"region":"Zürich "}\n{"stops":-2,"late":true,"region":"north"}\n'],
  ] as const)('give numbers, from %s', async (format, text) => {
    const batch = await read(text, format);
    expect([...batch.values.subarray(0, 9)]).toEqual([3, 1, 0, 0, 0, 1, -2, 1, 0]);
    expect(typedRow(batch, 1, types)).toEqual({ stops: 0, late: false, region: 'Zürich' });
  });

  it('count a name that no list has as other, where the category has that', async () => {
    expect((await read(`${head}1,true,elsewhere\n`, 'csv', other)).values[2]).toBe(2);
  });

  it.each([
    ['csv', `${head}1.5,true,north\n`, 'line 2, column 1 ("stops"): not a whole number'],
    ['csv', `${head}1,yes,north\n`, 'line 2, column 2 ("late"): not true, false, 1 or 0'],
    ['csv', `${head}1,True,north\n`, 'line 2, column 2 ("late"): not true, false, 1 or 0'],
    ['csv', `${head}1,true,secret\n`, 'line 2, column 3 ("region"): none of the names'],
    ['csv', `${head}1,true,\n`, 'line 2, column 3 ("region"): the cell is empty'],
    ['ndjson', '{"stops":"1","late":true,"region":"north"}', 'line 1, column 1 ("stops"): not a'],
    ['ndjson', '{"stops":1,"late":1,"region":"north"}', 'line 1, column 2 ("late"): not true'],
    ['ndjson', '{"stops":1,"late":true,"region":7}', 'line 1, column 3 ("region"): none of'],
    ['npy', 'numbers', 'a .npy file holds numbers only'],
  ] as const)('refuse a cell of another type by its place, from %s', async (format, text, why) => {
    const refused = await read(text, format).then(() => '', String);
    expect(refused).toContain(why);
    expect(refused).not.toMatch(/secret|yes|1\.5/);
  });
});

describe('the columns of a study file', () => {
  let folder: string;
  beforeAll(() => { folder = mkdtempSync(join(tmpdir(), 'keelson-typed-')); });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('say which columns are read, and what a histogram of them asks', () => {
    const path = join(folder, 'rides.yaml');
    writeFileSync(path, 'study: rides\ncolumns: { late: boolean, region: { type: category, of: '
      + '[a, b, c] } }\ncohort: 2000\nepoch: { every: 1d }\nestimator: histogram\n'
      + 'parameters: { column: region }\nprivacy: { epsilon: 1, delta: 1e-6 }\n'
      + 'budget: { epsilon: 8, delta: 1e-5 }\n');
    const found = columnsOfStudy(path);
    expect(found.columns).toEqual(['late', 'region']);
    expect(columnsOfStudy(path, ['region']).columns).toEqual(['region']);
    const own = typesOfTable(['region'], found);
    expect(parametersOfTypes('histogram', {}, ['region'], own)).toEqual({ edges: [1, 2] });
    expect(() => parametersOfTypes('mean', {}, ['region'], own))
      .toThrow('columns.region is a category, and mean works out numbers');
    expect(() => parametersOfTypes('auto', {}, ['region'], own)).toThrow('is a category');
    expect(parametersOfTypes('mean', { scale: 3 }, ['x'], undefined)).toEqual({ scale: 3 });
  });
});
