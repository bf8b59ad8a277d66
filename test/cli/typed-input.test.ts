import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parametersOfTypes, typesOfTable } from '../../cli/estimate/types.js';
import { columnsOfStudy } from '../../cli/input/study-columns.js';
import { readTypes, typedRow } from '../../cli/input/typed-columns.js';
import { readRows } from '../../cli/input/open.js';
import { readTables } from '../../cli/input/table.js';
import type { RowBatch } from '../../cli/input/rows.js';
import type { ColumnType } from '../../src/base/columns.js';
import { npyBytes } from '../support/npy.js';

const types: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ['stops', { type: 'integer' }], ['late', { type: 'boolean' }],
  ['region', { type: 'category', of: ['north', 'Zürich'] }],
]);
const other = new Map(types).set(
  'region', { type: 'category', of: ['north', 'Zürich'], other: true },
);

async function read(
  text: string | Buffer, given = types,
): Promise<RowBatch> {
  const request = {
    path: '-', types: given, columns: [...given.keys()], missing: 'refuse' as const,
  };
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  for await (const batch of readRows(request, Readable.from([bytes]))) return batch;
  throw new Error('no rows');
}

const head = 'stops,late,region\n';

describe('files with typed columns', () => {
  it.each([
    ['csv', `${head}3,true,north\n0, 0 , Zu\u0308rich\n-2,1,north\n`],
    ['ndjson', '{"stops":3,"late":true,"region":"north"}\n'
      + '{"stops":0,"late":false,"region":"Zürich "}\n{"stops":-2,"late":true,"region":"north"}\n'],
  ] as const)('give numbers, from %s', async (_format, text) => {
    const batch = await read(text);
    expect([...batch.values.subarray(0, 9)]).toEqual([3, 1, 0, 0, 0, 1, -2, 1, 0]);
    expect(typedRow(batch, 1, types)).toEqual({ stops: 0, late: false, region: 'Zürich' });
  });

  it('count a name that no list has as other, where the category has that', async () => {
    expect((await read(`${head}1,true,elsewhere\n`, other)).values[2]).toBe(2);
  });

  it.each([
    ['csv', `${head}1.5,true,north\n`, 'line 2, column 1 ("stops"): not a whole number'],
    ['csv', `${head}9007199254740993,true,north\n`, 'a whole number of at most 2^53 - 1 in size'],
    ['csv', `${head}1,yes,north\n`, 'line 2, column 2 ("late"): not true, false, 1 or 0'],
    ['csv', `${head}1,True,north\n`, 'line 2, column 2 ("late"): not true, false, 1 or 0'],
    ['csv', `${head}1,true,secret\n`, 'line 2, column 3 ("region"): none of the names'],
    ['csv', `${head}1,true,\n`, 'line 2, column 3 ("region"): the cell is empty'],
    ['ndjson', '{"stops":"1","late":true,"region":"north"}', 'line 1, column 1 ("stops"): not a'],
    ['ndjson', '{"stops":1,"late":1,"region":"north"}', 'line 1, column 2 ("late"): not true'],
    ['ndjson', '{"stops":1,"late":true,"region":7}', 'line 1, column 3 ("region"): none of'],
    ['npy', npyBytes([[1, 2]]), 'a .npy file holds numbers only'],
  ] as const)('refuse a cell of another type by its place, from %s', async (_format, text, why) => {
    const refused = await read(text).then(() => '', String);
    expect(refused).toContain(why);
    expect(refused).not.toMatch(/secret|yes|1\.5/);
  });
});

const optional: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ['app', { type: 'text', bytes: 8 }], ['city', { type: 'text', bytes: 64, optional: true }],
  ['stops', { type: 'integer', optional: true }], ['late', { type: 'boolean', optional: true }],
  ['region', { type: 'category', of: ['north'], optional: true }],
]);
const wide = 'app,city,stops,late,region\n';

describe('files with texts and optional columns', () => {
  it.each([
    ['csv', `${wide} maps ,Zu\u0308rich,3,true,north\nmaps,,, ,\n"a, b",Z\u00fcrich,0,0,north\n`],
    ['ndjson', '{"app":"maps","city":" Zu\u0308rich","stops":3,"late":true,"region":"north"}\n'
      + '{"app":"maps "}\n{"app":"a, b","city":"Zürich","stops":0,"late":false,"region":"north"}'],
  ] as const)('give each row its values, from %s', async (_format, text) => {
    const batch = await read(text, optional);
    expect([0, 1, 2].map((row) => typedRow(batch, row, optional))).toEqual([
      { app: 'maps', city: 'Zürich', stops: 3, late: true, region: 'north' },
      { app: 'maps', city: null, stops: null, late: null, region: null },
      { app: 'a, b', city: 'Zürich', stops: 0, late: false, region: 'north' },
    ]);
    // Equal texts are one, however they are written.
    expect(batch.texts).toEqual([['maps', 'a, b'], ['Zürich'], null, null, null]);
  });

  it.each([
    ['csv', `${wide},,,,\n`, 'line 2, column 1 ("app"): the cell is empty'],
    ['csv', `${wide}secrets99,,,,\n`, '("app"): the text has more bytes than its column takes (8)'],
    ['csv', `${wide}a\u200eb,,,,\n`, 'column 1 ("app"): the text has a control character'],
    ['csv', `${wide}a,,secret,,\n`, 'line 2, column 3 ("stops"): not a whole number'],
    ['ndjson', '{"app":""}', 'line 1, column 1 ("app"): the cell is empty'],
    ['ndjson', '{"app":[77]}', 'column 1 ("app"): not a text: write it in double quotes'],
  ] as const)('refuse a cell by its place, from %s %j', async (format, text, why) => {
    const named = format === 'csv' ? optional : new Map([['app', optional.get('app')!]]);
    const refused = await read(text, named).then(() => '', String);
    expect(refused).toContain(why);
    expect(refused).not.toMatch(/secret|77/);
  });

  it('read an optional column that the first object does not have', async () => {
    const batch = await read('{"app":"a"}\n{"city":"Bern","app":"b"}\n', optional);
    expect(typedRow(batch, 0, optional)).toMatchObject({ app: 'a', city: null });
    expect(typedRow(batch, 1, optional)).toMatchObject({ app: 'b', city: 'Bern' });
  });

  it('starts the texts of every batch anew', async () => {
    const lines = Array.from({ length: 4_097 }, (_, i) => `app${i}\n`).join('');
    const request = {
      path: '-', types: optional, columns: ['app'], missing: 'refuse' as const,
    };
    const batches: RowBatch[] = [];
    const input = Readable.from([Buffer.from(`app\n${lines}`)]);
    for await (const batch of readRows(request, input)) batches.push(batch);
    expect(batches.map(({ texts }) => texts![0]!.length)).toEqual([4_096, 1]);
    expect(typedRow(batches[1]!, 0, optional)).toEqual({ app: 'app4096' });
  });

  it('leave a row out of the answer of one estimator where it lacks a value', async () => {
    const request = {
      path: '-', types: optional, columns: ['stops', 'late'], missing: 'refuse' as const,
    };
    const text = 'stops,late\n3,true\n,true\n5,\n7,false\n';
    const [table] = await readTables(request, Readable.from([Buffer.from(text)]));
    expect([...table!.values]).toEqual([3, 1, NaN, NaN, NaN, NaN, 7, 0]);
  });
});

describe('types from flags', () => {
  const flags = ['stops=integer', 'region=category:north, Zu\u0308rich', 'app=text:64', 'to=text'];

  it('are those of a study file', async () => {
    expect(await readTypes(undefined, undefined, flags, '--study')).toEqual({ types: new Map([
      ['stops', { type: 'integer' }], ['region', { type: 'category', of: ['north', 'Zürich'] }],
      ['app', { type: 'text', bytes: 64 }], ['to', { type: 'text', bytes: 64 }],
    ]) });
    expect(await readTypes('a,b', undefined, [], '--study')).toEqual({ columns: ['a', 'b'] });
  });

  it.each([
    ['app=texts'], ['app=text:0'], ['app=text:'], ['app=text:256'], ['app=category'],
    ['app=category:a,a'], ['app=boolean:1'],
  ])('refuse %s', async (flag) => {
    await expect(readTypes(undefined, undefined, [flag], '--study')).rejects
      .toThrow(`--type ${flag} is no type: write number, integer, integer:0..9`);
  });

  it('refuse types that contradict other flags', async () => {
    await expect(readTypes('stops', undefined, flags, '--study')).rejects
      .toThrow('--columns leaves it out');
    await expect(readTypes(undefined, 'rides.yaml', flags, '--types')).rejects
      .toThrow('--type and --types both give columns their types: leave one out');
  });

  const batchOf = async (text: string, ...given: readonly string[]): Promise<RowBatch> => {
    const request = {
      path: '-', missing: 'refuse' as const,
      ...await readTypes(undefined, undefined, given, '--study'),
    };
    for await (const batch of readRows(request, Readable.from([Buffer.from(text)]))) return batch;
    throw new Error('no rows');
  };

  it('are for columns of the file, by name or without names by index', async () => {
    expect((await batchOf('app,minutes\nmaps,3\n', 'app=text')).texts).toEqual([['maps'], null]);
    expect((await batchOf('maps,3\nmail,4\n', '0=text')).texts).toEqual([['maps', 'mail'], null]);
    expect((await batchOf('["maps",3]\n', '0=text')).texts).toEqual([['maps'], null]);
    await expect(batchOf('app,minutes\nmaps,3\n', 'apps=text')).rejects
      .toThrow('there is no column "apps": did you mean "app"?');
    await expect(batchOf('app,minutes\nmaps,3\n', '0=text')).rejects
      .toThrow('column 0 has the name "app": give its type by this name');
    await expect(batchOf('["maps",3]\n', 'app=text')).rejects
      .toThrow('there is no column "app": it has no column names, give an index from 0 to 1');
  });

  it('are not for the flights of the package', async () => {
    const request = {
      path: 'flights', missing: 'refuse' as const, types: new Map(types),
    };
    await expect(readRows(request, Readable.from([])).next()).rejects
      .toThrow('flights holds numbers only');
  });
});

describe('the columns of a study file', () => {
  let folder: string;
  beforeAll(() => { folder = mkdtempSync(join(tmpdir(), 'keelson-typed-')); });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('say which columns are read, and what a histogram of them asks', async () => {
    const path = join(folder, 'rides.yaml');
    writeFileSync(path, 'study: rides\ncolumns: { late: boolean, region: { type: category, of: '
      + '[a, b, c] } }\ncohort: 2000\nepoch: { every: 1d }\nestimator: histogram\n'
      + 'parameters: { column: region }\nprivacy: { epsilon: 1, delta: 1e-6 }\n'
      + 'budget: { epsilon: 8, delta: 1e-5 }\n');
    const found = columnsOfStudy(path);
    expect(found.columns).toEqual(['late', 'region']);
    expect(columnsOfStudy(path, ['region']).columns).toEqual(['region']);
    const own = typesOfTable(['region'], found);
    expect(await parametersOfTypes('histogram', {}, ['region'], own)).toEqual({ edges: [1, 2] });
    await expect(parametersOfTypes('mean', {}, ['region'], own)).rejects
      .toThrow('columns.region is a category, and mean works out numbers');
    await expect(parametersOfTypes('auto', {}, ['region'], own)).rejects.toThrow('is a category');
    expect(await parametersOfTypes('mean', { spread: 3 }, ['x'], undefined)).toEqual({ spread: 3 });
  });
});
