import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../cli/input/open.js';
import type { InputRequest, RowBatch } from '../../cli/input/rows.js';
import { typedRow } from '../../cli/input/typed-columns.js';
import { InvalidInputError } from '../../src/base/errors.js';
import type { ColumnType } from '../../src/base/columns.js';
import { keelson } from '../support/command.js';
import { scratchFiles } from '../support/scratch.js';
import { arrowBytes, csvText, parquetBytes, type TestColumn } from '../support/table-files.js';

const place = scratchFiles('tables');

type Options = Partial<Omit<InputRequest, 'path'>>;

async function batchesOf(path: string, options: Options = {}): Promise<RowBatch[]> {
  const batches: RowBatch[] = [];
  const request = { path, missing: 'refuse' as const, ...options };
  for await (const batch of readRows(request, Readable.from([]))) batches.push(batch);
  return batches;
}

/** What is read of a file, without what depends on the kind of file. */
async function contentOf(path: string, options: Options = {}): Promise<unknown> {
  return (await batchesOf(path, options)).map(({ positions, ...rest }) =>
    ({ ...rest, positions: positions?.length }));
}

async function refusal(path: string, options: Options = {}): Promise<string> {
  const error = await batchesOf(path, options).then(() => null, (thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidInputError);
  return (error as Error).message;
}

const count = 5_000;
const list = <Value>(make: (i: number) => Value): Value[] =>
  Array.from({ length: count }, (_, i) => make(i));
const rows: readonly TestColumn[] = [
  { name: 'id', type: 'int64', values: list((i) => BigInt((i * 7) % 9_973)) },
  { name: 'delay', type: 'double', values: list((i) => (i % 11 === 0 ? null : Math.sin(i) * 1e3)) },
  { name: 'stops', type: 'int32', values: list((i) => (i % 7) - 3) },
  { name: 'late', type: 'boolean', values: list((i) => (i % 13 === 0 ? null : i % 3 === 0)) },
  { name: 'city', type: 'text', values: list((i) => (i % 5 === 0 ? null : `Zürich, "${i % 300}"`)) },
  { name: 'region', type: 'dictionary', values: list((i) => ['north', 'south', 'else'][i % 3]!) },
];
const types: ReadonlyMap<string, ColumnType> = new Map<string, ColumnType>([
  ['delay', { type: 'number', optional: true }], ['stops', { type: 'integer' }],
  ['late', { type: 'boolean', optional: true }],
  ['city', { type: 'text', bytes: 64, optional: true }],
  ['region', { type: 'category', of: ['north', 'south'], other: true }],
]);
const csv = place('.csv', csvText(rows));
const small = rows.map((column) => ({ ...column, values: column.values.slice(0, 40) }));

const forms: readonly (readonly [string, () => string])[] = [
  ['Parquet', () => place('.parquet', parquetBytes(rows))],
  ['Parquet in many row groups and pages', () =>
    place('.parquet', parquetBytes(rows, { rowGroupSize: 1_500, pageSize: 900 }))],
  ['Parquet with gzip', () => place('.parquet', parquetBytes(rows, { codec: 'GZIP' }))],
  ['Parquet with brotli', () => place('.parquet', parquetBytes(rows, { codec: 'BROTLI' }))],
  ['Parquet without a name', () => place('', parquetBytes(rows, { codec: 'UNCOMPRESSED' }))],
  ['an Arrow file', () => place('.arrow', arrowBytes(rows))],
  ['an Arrow stream in many batches', () =>
    place('.arrows', arrowBytes(rows, { format: 'stream', batchRows: 700 }))],
  ['an Arrow file without a name', () => place('', arrowBytes(rows, { batchRows: 5_000 }))],
];

describe('files with typed columns of their own', () => {
  it.each(forms)('give the rows of the CSV: %s', async (_, make) => {
    const path = make();
    const typed = { types, columns: [...types.keys()], contributor: 'id' };
    expect(await contentOf(path, typed)).toEqual(await contentOf(csv, typed));
    const numbers = { columns: ['stops', 'delay'], group: 'region', missing: 'null' as const };
    expect(await contentOf(path, numbers)).toEqual(await contentOf(csv, numbers));
    // A count needs no column.
    expect(await contentOf(path, { columns: [] })).toEqual(await contentOf(csv, { columns: [] }));
    const byIndex = { columns: ['2'], contributor: '4' };
    expect(await refusal(path, byIndex)).toMatch(/, row 1, column 5: the contributor id is empty/);
  });

  it('give the release of the CSV, byte for byte', { tags: ['long'] }, async () => {
    const words = ['--epsilon', '4', '--delta', '1e-6', '--set', 'spread=2', '--columns', 'stops',
      '--contributor', 'id', '--json'];
    const environment = { KEELSON_INSECURE_SEED: 'tables' };
    const releases = await Promise.all([csv, ...forms.map(([, make]) => make())].map((path) =>
      keelson(['estimate', 'mean', path, ...words], { environment })));
    expect(releases[0]).toMatchObject({ status: 0 });
    expect(new Set(releases.map(({ stdout }) => stdout)).size).toBe(1);
  });

  it.each([
    ['.parquet', parquetBytes], ['.arrow', arrowBytes],
  ] as const)('keep every cell, in %s', async (ending, bytes) => {
    const [batch] = await batchesOf(place(ending, bytes(small)), {
      types, columns: [...types.keys()],
    });
    expect(typedRow(batch!, 1, types)).toEqual({
      delay: Math.sin(1) * 1e3, stops: -2, late: false, city: 'Zürich, "1"', region: 'south',
    });
    expect(typedRow(batch!, 0, types)).toEqual({
      delay: null, stops: -3, late: null, city: null, region: 'north',
    });
    const [people] = await batchesOf(place(ending, bytes(small)), {
      types, columns: ['stops'], contributor: 'region',
    });
    expect([...people!.positions!.subarray(0, 2)]).toEqual([1, 2]);
  });

  it.each([
    ['.parquet', parquetBytes], ['.arrow', arrowBytes],
  ] as const)('take a null for a missing value where estimate reads, in %s', async (end, bytes) => {
    const path = place(end, bytes([{ name: 'x', type: 'double', values: [1, null, 3] }]));
    expect([...(await batchesOf(path, { missing: 'cells' }))[0]!.values]).toEqual([1, NaN, 3]);
    expect(await refusal(path)).toContain(', row 2, column 1 ("x"): the cell is empty');
    const words = ['--epsilon', '1', '--delta', '1e-6', '--set', 'spread=1',
      '--cohort', '2000', '--participation', 'secret'];
    const { stderr } = await keelson(['estimate', 'mean', path, ...words]);
    expect(stderr).toBe('');
    const empty = place(end, bytes([{ name: 'x', type: 'text', values: ['1', '', '3'] }]));
    expect(await refusal(empty, { missing: 'cells' })).toContain('the cell is empty');
  });

  it.each([
    ['.parquet', parquetBytes], ['.arrow', arrowBytes],
  ] as const)('refuse a cell by its row and column, in %s', async (ending, bytes) => {
    const path = place(ending, bytes(small));
    const refuse = (column: string, type?: ColumnType): Promise<string> =>
      refusal(path, { columns: [column], ...(type && { types: new Map([[column, type]]) }) });
    expect(await refuse('delay')).toContain(', row 1, column 2 ("delay"): the cell is empty');
    expect(await refuse('region')).toContain('row 1, column 6 ("region"): not a number');
    expect(await refuse('region')).not.toContain('north');
    expect(await refuse('region', { type: 'category', of: ['south'] })).toContain('none of the');
    expect(await refuse('stops', { type: 'boolean' })).toContain('not true, false, 1 or 0');
    expect(await refuse('stop')).toContain('did you mean "stops"?');
    for (const value of [NaN, Infinity]) {
      const odd = place(ending, bytes([{ name: 'x', type: 'double', values: [1, value] }]));
      expect(await refusal(odd)).toContain(', row 2, column 1 ("x"): not a finite decimal');
    }
    const large = place(ending, bytes([{ name: 'x', type: 'int64', values: [2n ** 53n] }]));
    expect(await refusal(large, { types: new Map([['x', { type: 'integer' }]]) }))
      .toContain('not a whole number');
    expect((await batchesOf(large))[0]!.values[0]).toBe(2 ** 53);
  });

  it.each([['.parquet', parquetBytes], ['.arrow', arrowBytes]] as const)(
    'give one empty batch for a file without rows, in %s', async (ending, bytes) => {
      const batches = await batchesOf(place(ending, bytes([
        { name: 'x', type: 'double', values: [] },
      ])));
      expect(batches.map(({ columns, count: rowCount }) => ({ columns, rowCount })))
        .toEqual([{ columns: ['x'], rowCount: 0 }]);
    },
  );
});

describe('real tables', () => {
  const data = createRequire(import.meta.url).resolve('vega-datasets/package.json')
    .replace('package.json', 'data/');

  it('flights-200k.arrow holds what flights-200k.json does', { tags: ['long'] }, async () => {
    const batches = await batchesOf(`${data}flights-200k.arrow`, {
      columns: ['delay', 'distance', 'time'],
    });
    const found = batches.flatMap(({ values }) => [...values]);
    const flights = JSON.parse(readFileSync(`${data}flights-200k.json`, 'utf8')) as
      { delay: number; distance: number; time: number }[];
    expect(found).toEqual(flights.flatMap(({ delay, distance, time }) =>
      [delay, distance, Math.fround(time)]));
  });

  it('flights-3m.parquet gives its rows with texts', { tags: ['slow'] }, async () => {
    const airports: ReadonlyMap<string, ColumnType> =
      new Map<string, ColumnType>([['origin', { type: 'text', bytes: 3 }]]);
    let read = 0;
    let sum = 0;
    const origins = new Set<string>();
    const request = {
      path: `${data}flights-3m.parquet`, columns: ['delay', 'distance', 'origin'],
      types: airports, missing: 'refuse' as const,
    };
    for await (const { count: rowCount, values, texts } of readRows(request, Readable.from([]))) {
      read += rowCount;
      for (let i = 0; i < values.length; i += 3) sum += values[i]! + values[i + 1]!;
      for (const text of texts![2]!) origins.add(text);
    }
    // Two other readers, DuckDB and hyparquet alone, agree on the sum.
    expect([read, sum, origins.has('JFK')]).toEqual([3_000_000, 2_214_860_341, true]);
  });
});

/**
 * A file of two rows (x 1.5 and 2, g a and b) as Arrow's library for JavaScript writes it: the
 * schema is in the footer alone.
 */
const withoutSchemaInFront = Buffer.from(
  'QVJST1cxAAD/////sAAAABQAAAAAAAAADAAcABoAEwAUAAQADAAAABgAAAAAAAAAAAAAAAAAAAIQAAAAAAAEAAgACg'
  + 'AAAAQACAAAABAAAAAAAAoAGAAMAAgABAAKAAAAFAAAAEgAAAACAAAAAAAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAAAA'
  + 'AAAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAAAgAAAAAAAAAAAAAAAEAAAACAAAAAAAAAAAAAAAAAAAAAAAAAAEAAAACAA'
  + 'AAAAAAAGFiAAAAAAAA/////7gAAAAUAAAAAAAAAAwAFgAUAA8AEAAEAAwAAAAYAAAAAAAAAAAAAAMQAAAABAAKABgA'
  + 'DAAIAAQACgAAABQAAABYAAAAAgAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAEA'
  + 'AAAAAAAAAAAAAAAAAAABAAAAAAAAAACAAAAAAAAAAAAAAAAgAAAAIAAAAAAAAAAAAAAAAAAAACAAAAAAAAAAAAAAAA'
  + 'AAAAAAAAAAAA+D8AAAAAAAAAQAAAAAABAAAA/////wAAAAAQAAAADAAUAA4AEAAEAAgADAAAABAAAAAsAAAAAAAEAE'
  + 'AAAAABAAAACAAAAAAAAAC4AAAAAAAAABgAAAAAAAAAAAAAAAEAAADYAAAAAAAAAMAAAAAAAAAAGAAAAAAAAACs////'
  + 'BAAAAAIAAAB8AAAAFAAAABAAHAAIAA8AFwAYAAQAEAAQAAAANAAAABQAAAAAAAABFAAAAAAAAAUUAAAAAQAAAGcAAA'
  + 'AAAAAABAAEAAQAAAAIAAgAAAAEAAgAAAAMAAAACAAMAAgABwAIAAAAAAAAASAAAAAQABQABAAAAA8AEAAAAAgAEAAA'
  + 'ABAAAAAUAAAAAAAAAxgAAAABAAAAeAAAAAAAAAAAAAYACAAGAAYAAAAAAAIAGAEAAEFSUk9XMQ==', 'base64',
);

describe('an Arrow file whose schema is in its footer alone', () => {
  it('is read, also as a stream', async () => {
    const content = (path: string) => contentOf(path, {
      types: new Map([['g', { type: 'category', of: ['a', 'b'] }]]),
    });
    const expected = await content(place('.csv', 'x,g\n1.5,a\n2,b\n'));
    expect(await content(place('.arrow', withoutSchemaInFront))).toEqual(expected);
  });

  it('is damaged where its footer has no schema or is cut short', async () => {
    for (const length of [withoutSchemaInFront.length - 1, withoutSchemaInFront.length - 60]) {
      expect(await refusal(place('.arrow', withoutSchemaInFront.subarray(0, length))))
        .toMatch(/does not end with a footer|cut short/);
    }
    const broken = Buffer.from(withoutSchemaInFront);
    broken.fill(0xff, broken.length - 120, broken.length - 10);
    expect(await refusal(place('.arrow', broken))).toMatch(/damaged/);
  });
});
