import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../cli/input/open.js';
import type { InputRequest } from '../../cli/input/rows.js';
import { InvalidInputError } from '../../src/base/errors.js';
import { keelson } from '../support/command.js';

type Options = Partial<Omit<InputRequest, 'path'>>;

interface Found {
  readonly columns: readonly string[];
  readonly rows: number;
  readonly notes: readonly string[];
}

async function read(text: string, options: Options = {}): Promise<Found> {
  const notes: string[] = [];
  let rows = 0;
  let columns: readonly string[] = [];
  const request = {
    path: '-', missing: 'refuse' as const, onNote: (note: string) => notes.push(note), ...options,
  };
  for await (const batch of readRows(request, Readable.from([Buffer.from(text)]))) {
    ({ columns } = batch);
    rows += batch.count;
  }
  return { columns, rows, notes };
}

async function refusal(text: string, options?: Options): Promise<string> {
  const error = await read(text, options).then(() => null, (thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidInputError);
  return (error as Error).message;
}

const lines = (first: string, count: number, line: (i: number) => string): string =>
  [first, ...Array.from({ length: count }, (_, i) => line(i))].join('\n');
/** Ages of people in two years. */
const years = (first: string, count = 400): string =>
  lines(first, count, (i) => `${i % 41},${(7 * i) % 38}`);
const decimals = (first: string): string => lines(first, 40, (i) =>
  first.split(',').map((_, j) => (3 * Math.sin(i + j)).toFixed(2)).join(','));
const ambiguous = 'the first line holds whole numbers alone, which may be the names of the columns '
  + 'or a row';

describe('a first line of numbers', () => {
  it('is a header where it counts and all rows differ from it', async () => {
    const found = await read(years('2024,2025'));
    expect(found).toMatchObject({ columns: ['2024', '2025'], rows: 400 });
    expect(found.notes).toEqual([
      'standard input: the first line holds whole numbers alone and was taken for the names of the '
      + 'columns; --csv header=no takes it for a row',
    ]);
    // The names that programs give to columns without names.
    expect(await read(decimals('0,1,2'))).toMatchObject({ columns: ['0', '1', '2'], rows: 40 });
  });

  it('is a header, without a word, where a name in it is asked for', async () => {
    for (const options of [
      { columns: ['2025'] }, { columns: ['1'], contributor: '2024' },
      { types: new Map([['2024', { type: 'integer' }], ['2025', { type: 'number' }]] as const) },
    ]) {
      expect(await read(years('2024,2025', 3), options)).toMatchObject({ rows: 3, notes: [] });
    }
    expect((await read('region,2024,2025\nnorth,3,4\n', { columns: ['2025'] })).columns)
      .toEqual(['2025']);
    expect(await refusal(years('2024,2025'), { columns: ['2023'] }))
      .toContain('there is no column "2023"');
  });

  it('is a row where a row could be so', async () => {
    // Fractions, signs and repeated numbers are no names.
    for (const first of ['2024.5,2025', '-3,4', '7,7', '007,8']) {
      expect(await read(years(first)), first).toMatchObject({ rows: 401, notes: [] });
    }
    const found = await read(years('27,19'));
    expect(found).toMatchObject({ columns: ['0', '1'], rows: 401 });
    expect(found.notes[0])
      .toContain('was taken for a row; --csv header=yes takes it for the names');
    const single = await read(lines('12', 50, (i) => String(i)));
    expect(single).toEqual({ columns: ['0'], rows: 51, notes: [] });
    expect(await read('12,640\n3,233\n')).toMatchObject({ rows: 2 });
  });

  it('is refused where it may be either, and the flag decides', async () => {
    const files = [
      // It counts, and rows have such numbers too, or there are too few of them.
      years('3,4'), '2024,2025\n1,2\n', lines('0,1,2', 50, (i) => `${i % 9},${i % 7},${i % 5}`),
      // It does not count, and no row has such numbers.
      years('1990,2025'), lines('2025', 50, (i) => String(i % 9)), decimals('0'), decimals('4,7'),
    ];
    for (const file of files) {
      expect(await refusal(file)).toBe(
        `standard input: ${ambiguous}: pass --csv header=yes or --csv header=no`);
      const all = file.trim().split('\n').length;
      const [first] = file.split('\n');
      expect(await read(file, { header: 'yes' }))
        .toMatchObject({ rows: all - 1, columns: first!.split(','), notes: [] });
      expect(await read(file, { header: 'no' })).toMatchObject({ rows: all, notes: [] });
    }
    expect(await refusal(files[0]!, { flags: [] }))
      .toContain('give the columns names that are no numbers, or no names');
    expect(await refusal('region,2024\nnorth,5\n'))
      .toContain('pass --csv header=yes or --csv header=no');
  });

  it('is never turned from names into a row by one row below', async () => {
    for (const [first, isNames] of [['2024,2025', true], ['1990,2025', false]] as const) {
      const outcomes = new Set<number | string>();
      for (const row of ['5,5', '2024,2025', '1990,2025', '1e6,-1e6', '0.5,0.5']) {
        for (const place of [1, 20, 100]) {
          const file = years(first, 120).split('\n').toSpliced(place, 1, row).join('\n');
          outcomes.add(await read(file).then(({ rows }) => rows, () => 'refused'));
        }
      }
      expect(outcomes.has(isNames ? 121 : 120)).toBe(false);
    }
  });
});

describe('keelson estimate', { tags: ['long'] }, () => {
  const asked = ['--epsilon', '50', '--delta', '1e-6', '--json'];
  const answer = async (name: string, stdin: string, ...flags: string[]) => {
    const { status, stdout, stderr } =
      await keelson(['estimate', name, '-', ...asked, ...flags], {
        stdin, environment: { KEELSON_INSECURE_SEED: 'headers' },
      });
    return { status, stderr, estimate: status === 0
      ? (JSON.parse(stdout) as { readonly estimate: readonly number[] }).estimate[0]! : NaN };
  };

  it('counts people and not the names of columns, and finds a column by its name', async () => {
    const all = await answer('count', years('2024,2025'));
    expect(Math.abs(all.estimate - 400)).toBeLessThan(2);
    expect(all.stderr).toContain('was taken for the names of the columns; --csv header=no takes');
    const mean =
      await answer('mean', years('2024,2025'), '--columns', '2025', '--set', 'range=0..40');
    const exact = Array.from({ length: 400 }, (_, i) => (7 * i) % 38)
      .reduce((sum, value) => sum + value) / 400;
    expect(Math.abs(mean.estimate - exact)).toBeLessThan(2);
    const asRow = await answer('count', years('3,4'), '--csv', 'header=no');
    expect(Math.abs(asRow.estimate - 401)).toBeLessThan(2);
    expect((await answer('count', '{"x":1}', '--csv', 'header=yes')).stderr)
      .toContain('--csv says what a CSV file looks like, and standard input is not one');
  });

  it('counts rows whatever they hold', async () => {
    const regions = lines('id,income,region', 300, (i) => `${i},${i % 7 === 0 ? '' : 1.5},north`);
    for (const [name, ...flags] of [['count'], ['auto', '--question', 'count']] as const) {
      const { estimate } = await answer(name, regions, ...flags);
      expect(Math.abs(estimate - 300), name).toBeLessThan(2);
    }
    const people = await answer('count', regions, '--contributor', 'region');
    expect(Math.abs(people.estimate - 1)).toBeLessThan(2);
    expect((await answer('count', regions, '--set', 'threshold=1', '--columns', 'region')).stderr)
      .toContain('not a number');
  });

  it('says how the names of a column of words are given', async () => {
    const words = lines('travel,region', 20, () => '1,north');
    expect((await answer('histogram', words, '--columns', 'region')).stderr).toMatch(
      /line 2, column 2 \("region"\): .*, or give its names with --type region=category:\.\.\.$/m);
    expect((await answer('histogram', lines('my place', 20, () => 'north'))).stderr)
      .toContain('--type \'my place=category:...\'');
    const { estimate } = await answer('histogram', words, '--columns', 'region', '--type',
      'region=category:north,south');
    expect(Math.abs(estimate - 20)).toBeLessThan(2);
  });
});
