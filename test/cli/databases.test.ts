import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { csvFlag } from '../../cli/input/csv-flag.js';
import { readRows } from '../../cli/input/open.js';
import type { InputRequest } from '../../cli/input/rows.js';
import { readTypes } from '../../cli/input/typed-columns.js';
import { connect } from '../../server/store/sqlite/driver.js';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('databases');

interface Asked extends Partial<Omit<InputRequest, 'path'>> {
  readonly csv?: string;
  readonly type?: readonly string[];
}

async function read(path: string, { csv, type = [], ...more }: Asked = {}): Promise<{
  readonly columns: readonly string[];
  readonly values: readonly unknown[];
  readonly contributors: readonly string[];
}> {
  const request = {
    path, missing: 'cells' as const, ...csvFlag(csv),
    ...await readTypes(undefined, undefined, type, '--study'), ...more,
  };
  let columns: readonly string[] = [];
  const [values, ids]: [unknown[], string[]] = [[], []];
  for await (const batch of readRows(request, Readable.from([]))) {
    ({ columns } = batch);
    batch.values.forEach((value, i) =>
      values.push(batch.texts?.[i % columns.length]?.[value] ?? value));
    ids.push(...batch.contributors ?? []);
  }
  return { columns, values, contributors: ids };
}

const refusal = (path: string, asked: Asked = {}): Promise<string> =>
  read(path, asked).then(() => 'was read', (error: unknown) => (error as Error).message);

const rides = join(folder, 'rides.db');
const two = join(folder, 'two.sqlite');

describe('a file of SQLite', () => {
  beforeAll(() => {
    const database = connect(rides);
    database.exec('create table rides (id integer, minutes real, at text, "where" text, raw blob)');
    database.exec(`insert into rides values (9007199254740993, 1.5, '2026-12-31', 'Köln', null),
      (2, null, '2027-01-01', 'Bonn', null), (3, 7, '2027-01-02', 'Köln', x'ff')`);
    database.close();
    const other = connect(two);
    other.exec('create table a (x); create table "b c" (x); insert into "b c" values (5);'
      + 'create view v as select x + 1 as y from "b c";');
    other.close();
  });

  it('gives numbers, texts, times and ids', async () => {
    expect(await read(rides, { columns: ['minutes'], contributor: 'id' })).toEqual({
      columns: ['minutes'], values: [1.5, NaN, 7], contributors: ['9007199254740993', '2', '3'],
    });
    const typed = await read(rides, { type: ['at=week', 'where=text'], columns: ['at', 'where'] });
    expect(typed.values).toEqual(['2026-W53', 'Köln', '2026-W53', 'Bonn', '2026-W53', 'Köln']);
    expect((await read(rides, { columns: [] })).values).toEqual([]);
  });

  it('is read at the table that is named', async () => {
    expect(await read(two, { csv: 'table=b c' })).toMatchObject({ columns: ['x'], values: [5] });
    expect(await read(two, { csv: 'table=v' })).toMatchObject({ columns: ['y'], values: [6] });
    expect(await refusal(two)).toContain('it has a, b c, v: name one with --csv table=');
    expect(await refusal(two, { csv: 'table=b d' })).toContain('did you mean "b c"');
  });

  it('is refused where a cell has no meaning, it is cut, or it comes by a pipe', async () => {
    expect(await refusal(rides, { columns: ['raw'], csv: 'missing=null' }))
      .toContain('column 5 ("raw"): bytes that are not marked as text');
    expect(await refusal(rides, { columns: ['at'] })).toContain('row 1, column 3 ("at"): not a');
    const cut = join(folder, 'cut.db');
    writeFileSync(cut, Buffer.from('SQLite format 3\0 and nothing else of it'));
    expect(await refusal(cut)).toContain('SQLite cannot read it');
    const { status, stderr } = await keelson(['estimate', 'count', '-', '--epsilon', '1'], {
      stdin: Buffer.from('SQLite format 3\0....'),
    });
    expect([status, stderr]).toEqual([2, expect.stringContaining('must be a file')]);
  });

  it('alone has tables', async () => {
    const csv = join(folder, 'rows.csv');
    writeFileSync(csv, 'x\n1\n');
    expect(await refusal(csv, { csv: 'table=x' })).toContain('a table of a database');
    expect(await refusal(rides, { csv: 'separator=;' })).toContain('not one');
  });

  it('answers as the same rows in CSV do', async () => {
    const path = join(folder, 'many.db');
    const database = connect(path);
    database.exec('create table t (x real)');
    database.exec('with recursive n(i) as (select 0 union all select i + 1 from n where i < 4999) '
      + 'insert into t select i % 100 + 0.25 from n');
    database.close();
    const csv = join(folder, 'many.csv');
    const cells = Array.from({ length: 5000 }, (_, i) => i % 100 + 0.25);
    writeFileSync(csv, `x\n${cells.join('\n')}\n`);
    const words = (file: string): readonly string[] =>
      ['estimate', 'mean', file, '--epsilon', '1', '--delta', '1e-6', '--json'];
    const environment = { KEELSON_INSECURE_SEED: 'databases' };
    const [one, other] = [
      await keelson(words(path), { environment }), await keelson(words(csv), { environment }),
    ];
    expect(one.status, one.stderr).toBe(0);
    expect(one.stdout).toBe(other.stdout);
  });
});

interface DuckDb {
  readonly DuckDBInstance: { create(path: string): Promise<{
    connect(): Promise<{ run(text: string): Promise<unknown>; closeSync(): void }>;
    closeSync(): void;
  }>; };
}

describe('DuckDB', () => {
  const base = join(folder, 'rides.duckdb');
  const parquet = join(folder, 'rides.parquet');

  beforeAll(async () => {
    const { DuckDBInstance } = createRequire(import.meta.url)('@duckdb/node-api') as DuckDb;
    const instance = await DuckDBInstance.create(base);
    const connection = await instance.connect();
    await connection.run(`create table rides as select * from (values
      (9007199254740993, 1.5::double, 2.25::decimal(9, 2), timestamptz '2026-12-31 23:30:00+00',
        date '2026-12-31', 'Köln', [1]),
      (2, null, 1000000.5, timestamptz '2004-11-03 19:53:47.777+00', date '2027-01-04', 'Bonn', [2])
    ) t(id, minutes, price, begun, day, place, list)`);
    await connection.run(`copy rides to '${parquet}' (format parquet)`);
    connection.closeSync();
    instance.closeSync();
  });

  it('reads a table of its file', async () => {
    expect(await read(base, { columns: ['minutes', 'price'], contributor: 'id' })).toEqual({
      columns: ['minutes', 'price'], values: [1.5, 2.25, NaN, 1000000.5],
      contributors: ['9007199254740993', '2'],
    });
    const type = ['begun=time', 'day=week', 'place=text'];
    expect((await read(base, { type, columns: ['begun', 'day', 'place'] })).values).toEqual([
      Date.UTC(2026, 11, 31, 23, 30), '2026-W53', 'Köln', 2 ** 40 + 1, '2027-W01', 'Bonn',
    ]);
    expect(await refusal(base, { columns: ['list'] })).toContain('lists, structures and maps');
    expect(await refusal(base, { columns: ['day'] })).toContain('--type day=time');
  });

  it('answers a query, and is refused where it says why', async () => {
    const query = `sql:select minutes * 2 as m from '${parquet}' where minutes is not null;`;
    expect(await read(query)).toMatchObject({ columns: ['m'], values: [3] });
    expect((await read('sql:from range(5000)')).values).toHaveLength(5000);
    expect(await refusal('sql:select x from nowhere')).toContain('nowhere does not exist');
    expect(await refusal('sql:drop table x')).toContain('a query begins with SELECT');
    expect(await refusal(`sql:select 1; copy (select 1) to '${folder}/x.csv'`))
      .toContain('Parser Error');
    const secret = await refusal('sql:select \'secret\'::integer as x');
    expect(secret).toContain('Conversion Error, of which the text may hold cells');
    expect(secret).not.toContain('secret');
  });
});
