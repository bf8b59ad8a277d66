import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  columnFromArray, dateDay, tableFromColumns, tableToIPC, timestamp, TimeUnit, type DataType,
} from '@uwdata/flechette';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { csvFlag } from '../../cli/input/csv-flag.js';
import { readRows } from '../../cli/input/open.js';
import type { RowOptions } from '../../cli/input/rows.js';
import { readTypes } from '../../cli/input/typed-columns.js';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('times');

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

interface Found {
  readonly cells: readonly (number | string)[];
  readonly groups: readonly string[] | null;
  readonly notes: readonly string[];
}

/** The cells of a file's one column; of a text its text. */
async function read(
  text: string, types: readonly string[], csv?: string, more: Partial<RowOptions> = {},
): Promise<Found> {
  const notes: string[] = [];
  const request = {
    path: '-', missing: 'refuse' as const, onNote: (note: string) => notes.push(note),
    ...csvFlag(csv), ...await readTypes(undefined, undefined, types, '--study'), ...more,
  };
  for await (const { values, texts, groups } of readRows(request, Readable.from([text]))) {
    return { cells: [...values].map((value) => texts?.[0]?.[value] ?? value), groups, notes };
  }
  throw new Error('no rows');
}

async function refusal(...words: Parameters<typeof read>): Promise<string> {
  return read(...words).then(() => 'was read', (error: unknown) => (error as Error).message);
}

const day = (text: string): number => Date.parse(text);

describe('a column of times', () => {
  it('is read from CSV and JSON lines alike', async () => {
    const csv = 'at;minutes\n19.12.2026 14:05;1,5\n2026-07-01T12:00Z;2,5\n';
    const types = ['at=time'];
    const columns = { columns: ['at'] };
    const expected = [day('2026-12-19T13:05Z'), day('2026-07-01T12:00Z')];
    expect((await read(csv, types, 'zone=Europe/Berlin', columns)).cells).toEqual(expected);
    const json = '{"at":"19.12.2026 14:05","minutes":1}\n{"at":"2026-07-01T12:00Z","minutes":2}\n';
    expect((await read(json, types, 'zone=Europe/Berlin', columns)).cells).toEqual(expected);
  });

  it('becomes bins, as texts, as names of a list and as groups', async () => {
    const rows = 'at\n2026-12-30\n2026-12-31\n2027-01-01\n';
    expect((await read(rows, ['at=month'])).cells).toEqual(['2026-12', '2026-12', '2027-01']);
    expect((await read(rows, ['at=day:2026-12-31..2027-01-02'])).cells).toEqual([3, 0, 1]);
    const times = { times: new Map([['at', 'week' as const]]), group: 'at', columns: [] };
    const { groups } = await read(`id,${rows.replaceAll('\n2', '\nx,2')}`, [], undefined,
      { ...times, contributor: 'id', types: new Map() });
    expect(groups).toEqual(['2026-W53', '2026-W53', '2026-W53']);
  });

  it('is found to have the day or the month first, by what two people show', async () => {
    const european = await read('at\n3/4/2026\n13/4/2026\n14/4/2026\n', ['at=time']);
    expect(european.cells).toEqual(['2026-04-03', '2026-04-13', '2026-04-14'].map(day));
    expect(european.notes).toEqual([expect.stringContaining('dates=dmy')]);
    const american = await read('at\n3/4/2026\n4/13/2026\n4/14/2026\n', ['at=time']);
    expect(american.cells).toEqual(['2026-03-04', '2026-04-13', '2026-04-14'].map(day));
    expect((await read('at\n3/4/2026\n', ['at=time'], 'dates=mdy')).cells)
      .toEqual([day('2026-03-04')]);
  });

  it.each([
    ['at\n3/4/2026\n5/6/2026\n', 'line 2, column 1 ("at"): the day or the month may come first'],
    ['at\n3/4/2026\n13/6/2026\n', 'pass --csv dates=dmy or --csv dates=mdy'],
    ['id,at\n7,13/4/2026\n7,14/6/2026\n', 'pass --csv dates=dmy or --csv dates=mdy'],
    ['at\n13/4/2026\n14/6/2026\n6/15/2026\n', 'line 4, column 1 ("at"): not a date or time'],
    ['at\n1767225600\n', 'pass --csv dates=ymd, dates=seconds or dates=milliseconds'],
    ['at\n2026-01-01 12:00\n', 'name it, as in --csv zone=Europe/Berlin'],
    ['at\n2026-01-01\n\n2026-01-02\nsoon\n', 'line 5, column 1 ("at"): not a date or time'],
    ['{"at":"2026-01-01"}\n{"at":7}\n', 'line 2, column 1 ("at"): digits alone may be a date'],
  ])('is refused at the place, with what decides: %j', async (text, why) => {
    const contributor = text.startsWith('id') ? { contributor: 'id' } : {};
    const refused = await refusal(text.replace('\n\n', '\n2026-01-01\n'), ['at=time'], undefined,
      contributor);
    expect(refused).toContain(why);
    expect(refused).not.toMatch(/soon|13\/|1767/);
  });

  it('needs a zone for bins of times that have an offset', async () => {
    const rows = 'at\n2026-12-31T23:30Z\n';
    expect(await refusal(rows, ['at=day'])).toContain('--csv zone=Europe/Berlin or --csv zone=UTC');
    expect((await read(rows, ['at=day'], 'zone=Europe/Berlin')).cells).toEqual(['2027-01-01']);
  });

  it('may be empty where a column of numbers may', async () => {
    const rows = 'at\n2026-12-31\nNA\n2026-12-30\n';
    expect(await refusal(rows, ['at=time'])).toContain('line 3, column 1 ("at"): the cell is emp');
    expect((await read(rows, ['at=time'], 'missing=null')).cells)
      .toEqual([day('2026-12-31'), NaN, day('2026-12-30')]);
  });

  it('is named where its cells were taken for numbers', async () => {
    expect(await refusal('at,n\n2026-12-31,1\n', [])).toContain('with --type at=time');
    // The points between day, month and year are no marks of a number.
    expect(await refusal('at;n\n31.12.2026;1\n', [])).toContain('with --type at=time');
  });
});

describe('a column of times of Parquet and Arrow', () => {
  const when = [new Date('2026-12-31T23:30:00.250Z'), null, new Date(2 ** 40 + 1)];
  const firstDay = [new Date('2026-12-31'), null, new Date('2004-11-03')];

  async function valuesOf(bytes: Uint8Array, name: string, csv?: string): Promise<unknown[]> {
    const path = join(folder, `times.${name}`);
    writeFileSync(path, bytes);
    const found: unknown[] = [];
    const request = {
      path, missing: 'cells' as const, ...csvFlag(csv),
      ...await readTypes(undefined, undefined, ['at=time', 'on=day'], '--study'),
    };
    for await (const { values, texts } of readRows(request, Readable.from([]))) {
      found.push(...Array.from(values, (value, i) => (i % 2 === 1 ? texts![1]![value] : value)));
    }
    return found;
  }

  const parquet = (at: object): Uint8Array => new Uint8Array(parquetWriteBuffer({
    columnData: [{ name: 'at', data: when }, { name: 'on', data: firstDay }],
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'at', repetition_type: 'OPTIONAL', type: 'INT64', ...at },
      { name: 'on', repetition_type: 'OPTIONAL', type: 'INT32', converted_type: 'DATE' },
    ] as never,
  }));
  const arrow = (type: DataType): Uint8Array => tableToIPC(tableFromColumns({
    at: columnFromArray(when, type), on: columnFromArray(firstDay, dateDay()),
  }), { format: 'stream' })!;
  const cells = (shiftMs: number): unknown[] => [
    when[0]!.getTime() - shiftMs, '2026-12-31', NaN, undefined, 2 ** 40 + 1 - shiftMs, '2004-11-03',
  ];

  it('is read exactly, from its own types', async () => {
    const utc = parquet({ converted_type: 'TIMESTAMP_MILLIS' });
    expect(await valuesOf(utc, 'parquet')).toEqual(cells(0));
    expect(await valuesOf(arrow(timestamp(TimeUnit.MILLISECOND, 'UTC')), 'arrow'))
      .toEqual(cells(0));
  });

  it('needs a zone where the file states none', async () => {
    const logical = { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'MILLIS' };
    const files = {
      parquet: parquet({ logical_type: logical, converted_type: undefined }),
      arrow: arrow(timestamp(TimeUnit.MILLISECOND)),
    };
    for (const [name, bytes] of Object.entries(files)) {
      await expect(valuesOf(bytes, name)).rejects.toThrow(/row 1, column 1.*zone=Europe\/Berlin/);
      expect(await valuesOf(bytes, name, 'zone=Etc/GMT-1')).toEqual(cells(3_600_000));
    }
  });
});

describe('--type of a column of times', () => {
  it.each([
    ['at=day:2026-12-31..2026-12-01', 'write at=day:2026-12-01..2026-12-31'],
    ['at=time:2026..2027', 'write at=time'],
    ['at=hour:2026-01-01T00..2026-12-31T00', 'lists more than 1024'],
    ['at=days', 'time, hour, day, week or month'],
  ])('is refused: %s', async (type, why) => {
    expect(await refusal('at\n2026-12-31\n', [type])).toContain(why);
  });

  it('says how the file of a study is read', async () => {
    const study = file('study.yaml', `study: rides
columns: { at: { type: number }, day: { type: text } }
cohort: 1000
epoch: { every: 1d }
questions: { at: { estimator: median, columns: [at] } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
`);
    const types = (texts: readonly string[]) => readTypes(undefined, study, texts, '--study');
    expect([...(await types(['at=time', 'day=month'])).times!]).toEqual(
      [['at', 'time'], ['day', 'month']],
    );
    await expect(types(['at=day'])).rejects.toThrow('makes names, and at is of type number');
    await expect(types(['day=time'])).rejects.toThrow('makes numbers, and day is of type text');
    await expect(types(['end=time'])).rejects.toThrow('it has at, day');
    await expect(types(['at=integer'])).rejects.toThrow('both give columns their types');
    await expect(types(['at=day:2026-01-01..2026-01-02'])).rejects.toThrow('both give columns');
  });
});

/** 3000 people, 100 on each day of November 2026 in Berlin, at noon. */
const rides = file('rides.csv', ['id,started,minutes', ...Array.from({ length: 3000 }, (_, i) =>
  `${i},${String(i % 30 + 1).padStart(2, '0')}.11.2026 12:00,${i % 60}.25`)].join('\n'));
const shared = [rides, '--epsilon', '1', '--delta', '1e-6', '--csv', 'zone=Europe/Berlin'];
const secret = ['--cohort', '3000', '--participation', 'public'];

async function run(words: readonly string[]) {
  return keelson(['estimate', ...words], { environment: { KEELSON_INSECURE_SEED: 'times' } });
}

interface Answer {
  readonly estimate: readonly number[];
  readonly labels?: readonly string[];
  readonly notes?: readonly string[];
}

async function answer(words: readonly string[]): Promise<Answer> {
  const { status, stdout, stderr } = await run([...words, '--json']);
  expect(status, stderr).toBe(0);
  const found = JSON.parse(stdout) as Answer & { readonly questions?: Record<string, Answer> };
  return found.questions === undefined ? found : Object.values(found.questions)[0]!;
}

const hour = 3_600_000;

describe('keelson estimate on times', () => {
  it('answers with a time, in words and in milliseconds', async () => {
    const words = ['median', ...shared, '--columns', 'started', '--type', 'started=time'];
    const { estimate: [median], notes } = await answer(words);
    expect(Math.abs(median! - day('2026-11-15T23:00Z'))).toBeLessThan(48 * hour);
    expect(notes).toContain('the numbers of started are milliseconds since 1970, and are shown as '
      + 'times of Europe/Berlin');
    const { stdout } = await run(words);
    expect(stdout).toMatch(/started +2026-11-1\d \d\d:\d\d +2026-11-1\d \d\d:\d\d to 2026-11-1\d/);
  });

  it('means times near 2^40 milliseconds to the second', async () => {
    const rows = file('near.csv', ['at', ...Array.from({ length: 4000 }, (_, i) =>
      new Date(2 ** 40 + (i % 100) * 1000).toISOString())].join('\n'));
    const range = `${2 ** 40 - 100_000}..${2 ** 40 + 200_000}`;
    const { estimate: [mean] } = await answer(['mean', rows, '--type', 'at=time', '--set',
      `range=${range}`, '--epsilon', '1', '--delta', '1e-6']);
    expect(Math.abs(mean! - (2 ** 40 + 49_500))).toBeLessThan(1000);
  });

  it('takes a range in times, which ends with what its last time names', async () => {
    const one = ['--columns', 'started', '--type', 'started=time'];
    const medianWithin = async (range: string, ...more: readonly string[]) =>
      (await run(['median', ...shared, ...one, ...more, '--set', `range=${range}`, '--json']))
        .stdout;
    const [from, to] = [Date.parse('2026-10-31T23:00Z'), Date.parse('2026-11-30T23:00Z')];
    const inMs = await medianWithin(`${from}..${to}`);
    expect(inMs).toContain('"outcome":"value"');
    for (const text of [
      '2026-11-01..2026-11-30', '2026-11..2026-11', '01.11.2026..30.11.2026', `${from}..2026-11`,
    ]) expect(await medianWithin(text)).toBe(inMs);
    expect(await medianWithin('2026-11-01..2026-11-29')).not.toBe(inMs);
    const where = [...secret, '--where', 'started>=2026-01'];
    expect(await medianWithin('2026-11..2026-11', ...where))
      .toBe(await medianWithin(`${from}..${to}`, ...where));
  });

  it('counts by week, whether the bins are names or groups', async () => {
    const type = ['--type', 'started=week:2026-W45..2026-W48'];
    const bins = ['2026-W45', '2026-W46', '2026-W47', '2026-W48'];
    const inBins = await answer(['histogram', ...shared, '--columns', 'started', ...type]);
    expect(inBins.labels).toEqual([...bins, 'other']);
    // The first of November 2026 is a Sunday, and the thirtieth a Monday.
    [700, 700, 700, 700, 200].forEach((count, i) =>
      expect(Math.abs(inBins.estimate[i]! - count)).toBeLessThan(15));
    const { stdout, status } = await run(['count', ...shared, '--group-by', 'started', ...type,
      '--json']);
    expect(status).toBe(0);
    const { groups } = JSON.parse(stdout) as {
      readonly groups: readonly { readonly group: string; readonly estimate: readonly number[] }[];
    };
    expect(groups.map(({ group }) => group)).toEqual(bins);
    groups.forEach(({ estimate: [count] }) => expect(Math.abs(count! - 700)).toBeLessThan(15));
  });

  it.each([
    ['started>=2026-11-16', 1500], ['started>2026-11-16', 1400], ['started<2026-11-16', 1500],
    ['started<=2026-11-16', 1600], ['started=2026-11-16', 100], ['started=2026-11', 3000],
    ['started<2026-11-16T12:00', 1500], ['started<=16.11.2026 12:00', 1600],
    ['started>2026-11', 0],
  ])('counts rows of which %s', async (test, count) => {
    const { estimate: [found] } = await answer(['count', ...shared, ...secret, '--type',
      'started=time', '--where', test]);
    expect(Math.abs(found! - count)).toBeLessThan(30);
  });

  it.each([
    [['sum', '--columns', 'started', '--type', 'started=time', '--set', 'cap=3'],
      'the numbers of sum would be no times: ask for mean, median or quantile'],
    [['histogram', '--columns', 'started', '--type', 'started=day'],
      '--type started=day:2026-12-01..2026-12-31'],
    [['count', '--group-by', 'started', '--groups', 'x', '--type', 'started=time'],
      'or write hour, day, week or month for times'],
    [['count', '--group-by', 'started', '--groups-max', '1', '--type', 'started=time', ...secret],
      'say which bins, as in --type started=day:'],
    [['count', '--where', 'started>soon', '--type', 'started=time', ...secret],
      '--where started>soon names no time: write 2026-12-31'],
    [['median', '--columns', 'started', '--type', 'started=time', '--set', 'range=soon..2026'],
      '--set range=soon..2026 names no time: write 2026-12-31'],
    [['count', '--where', 'started>=2026-11-16', '--type', 'started=day', ...secret],
      'started is read as the name of its day, and names have no order. Give --type started=time'],
    [['count', '--where', 'started!=2026-11-16', '--type', 'started=time', ...secret],
      'is no test of a time'],
  ])('refuses what means nothing for times: %j', async (words, why) => {
    const { status, stderr } = await run([words[0]!, ...shared, ...words.slice(1)]);
    expect(stderr.replace(/\s+/g, ' ')).toContain(why);
    expect(status).toBe(2);
  });
});
