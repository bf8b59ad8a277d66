import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRows } from '../../cli/input/open.js';
import type { InputRequest } from '../../cli/input/rows.js';
import { keelson } from '../support/command.js';

type Options = Partial<Omit<InputRequest, 'path'>>;

interface Found {
  readonly columns: readonly string[];
  readonly values: readonly number[];
  readonly notes: readonly string[];
}

async function read(file: string | Buffer, options: Options = {}): Promise<Found> {
  const notes: string[] = [];
  const values: number[] = [];
  let columns: readonly string[] = [];
  const request = {
    path: '-', missing: 'null' as const, onNote: (note: string) => notes.push(note), ...options,
  };
  for await (const batch of readRows(request, Readable.from([Buffer.from(file)]))) {
    ({ columns } = batch);
    values.push(...batch.values);
  }
  return { columns, values, notes };
}

async function refusal(file: string | Buffer, options?: Options): Promise<string> {
  return read(file, options).then(() => 'was read', (error: unknown) => (error as Error).message);
}

const names = 'Alter;Einkommen (€)';
const people = [[39, 24210.39], [19, 1234.5], [null, 68.25], [58, 1034567]] as const;

/** The people as programs of several countries write them. */
function written(separator: string, decimal: string, thousands: string, end = '\n'): string {
  const numberOf = (value: number | null): string => {
    if (value === null) return '';
    const [whole, decimals] = String(value).split('.');
    const groups = whole!.replace(/\B(?=(?:\d{3})+$)/g, thousands);
    return decimals === undefined ? groups : groups + decimal + decimals;
  };
  const quoted = (cell: string): string => (cell.includes(separator) ? `"${cell}"` : cell);
  return [names.split(';'), ...people.map((cells) => cells.map(numberOf))]
    .map((cells) => cells.map(quoted).join(separator) + end).join('');
}

const values = people.flat().map((value) => value ?? NaN);
const german = written(';', ',', '.');

describe('the form of a CSV file', () => {
  it.each([
    ['German', german, 'separator=;,decimal=comma,thousands=point'],
    ['French', written(';', ',', '\u202f'), 'separator=;,decimal=comma,thousands=narrow-space'],
    ['Swiss', written(';', '.', '\u2019'), 'thousands=typographic-apostrophe'],
    ['tabs and points', written('\t', '.', ''), 'separator=tab,decimal=point'],
    ['bars, blanks', written('|', ',', ' ', '\r\n'), 'separator=|,decimal=comma,thousands=space'],
    ['semicolons, points', written(';', '.', ','), 'separator=;,decimal=point,thousands=comma'],
  ])('is found: %s', async (_, text, form) => {
    const found = await read(text);
    expect(found).toMatchObject({ columns: names.split(';'), values });
    expect(found.notes).toEqual([expect.stringContaining(form)]);
    expect(found.notes[0]).not.toMatch(/24210|1234/);
  });

  it('is of commas and points without a word', async () => {
    expect(await read(written(',', '.', ''))).toMatchObject({ values, notes: [] });
  });

  it('is stated by the line that Excel reads, which is counted as a line', async () => {
    expect(await read(`\ufeffsep=;\r\n${written(';', ',', '.', '\r\n')}`)).toMatchObject({ values });
    expect(await refusal(`sep=;\n${german}x;1\n`)).toContain('line 7, column 1');
  });

  it('is that of the text in other encodings', async () => {
    const [little, big] = [`\ufeff${german}`, `\ufeff${german}`]
      .map((text) => Buffer.from(text, 'utf16le'));
    expect(await read(little!)).toMatchObject({ columns: names.split(';'), values });
    expect(await read(big!.swap16())).toMatchObject({ columns: names.split(';'), values });
    const latin = Buffer.from(german.replace('€', '£'), 'latin1');
    expect(await read(latin, { encoding: 'latin1' }))
      .toMatchObject({ columns: ['Alter', 'Einkommen (£)'], values });
    expect(await refusal(Buffer.concat([little!, Buffer.of(0x00, 0xd8)])))
      .toContain('has bytes that are none');
  });

  it('is the one that has the names that are asked for', async () => {
    const text = 'a;b,c;d\n1;2,5;3\n4;5,5;6\n';
    expect(await read(text, { columns: ['b,c'] })).toMatchObject({ values: [2.5, 5.5] });
    expect(await read('min|max,avg\n1,2\n3,4\n')).toMatchObject({ columns: ['min|max', 'avg'] });
  });

  it('is asked for where the first line is a row', async () => {
    expect(await refusal('1;2\n3;4\n')).toContain('say so with --csv separator=');
    expect(await read('1;2\n3;4\n', { header: 'no', form: { separator: ';' } }))
      .toMatchObject({ values: [1, 2, 3, 4] });
  });
});

describe('the decimal mark', () => {
  it('is not decided by one row', async () => {
    const rest = 'x\n1,234\n2,345\n3,456\n';
    const form = { separator: ';' } as const;
    const undecided = 'the first lines do not show whether a comma or a point stands before';
    expect(await refusal(rest, { form })).toContain(undecided);
    expect(await refusal(`${rest}1,5\n`, { form })).toContain(undecided);
    expect(await refusal(`${rest}1.5\n`, { form })).toContain(undecided);
    expect((await read(`${rest}1,5\n2,5\n`, { form })).values).toEqual([1.234, 2.345, 3.456, 1.5, 2.5]);
    expect((await read(`${rest}1.5\n2.5\n`, { form })).values).toEqual([1234, 2345, 3456, 1.5, 2.5]);
    expect((await read(rest, { form: { separator: ';', decimal: ',' } })).values)
      .toEqual([1.234, 2.345, 3.456]);
  });

  it('is not decided by the rows of one person', async () => {
    const one = 'id;x\np;1,5\np;2,5\nq;1,234\n';
    expect(await refusal(one, { contributor: 'id' })).toContain('the first lines do not show');
    expect((await read(one.replace('p', 'r'), { contributor: 'id' })).values)
      .toEqual([1.5, 2.5, 1.234]);
  });

  it('is not another one further down', async () => {
    const message = await refusal(`${german}1;2.5\n`);
    expect(message).toContain('line 6, column 2 ("Einkommen (€)"): the numbers of this file have a '
      + 'comma before their decimals, and this one has a point');
  });

  it('is asked for where each number has three digits behind a point', async () => {
    const dots = (more: string): string => `id,amount\n0,2.384\n1,11.752\n2,900\n${more}`;
    const either = 'the point may stand before decimals or between thousands: pass --csv '
      + 'decimal=point or --csv thousands=point';
    for (const quoted of ['', '3,"1.500"\n']) {
      expect(await refusal(dots(quoted), { columns: ['amount'] })).toContain(either);
    }
    for (const sure of ['1.5', '.125', '0.125', '1234.567', '1.', '"1.5"']) {
      expect((await read(dots(`3,${sure}\n`), { columns: ['amount'] })).values[0], sure).toBe(2.384);
    }
    expect((await read(dots(''), { columns: ['amount'], form: { decimal: '.' } })).values)
      .toEqual([2.384, 11.752, 900]);
    expect((await read(dots(''), { columns: ['amount'], form: { thousands: '.' } })).values)
      .toEqual([2384, 11752, 900]);
    expect((await read(dots(''), { columns: ['id'] })).values).toEqual([0, 1, 2]);
  });
});

describe('a point in a column of names', () => {
  it('is no mark of a number', async () => {
    const text = 'host,kind,x\na.example,v1.2,1\nb.example,v1.2,2\n';
    const types = new Map([
      ['host', { type: 'text' as const, bytes: 16 }],
      ['kind', { type: 'category' as const, of: ['v1.2'] }],
    ]);
    expect((await read(text, { columns: ['host', 'kind', 'x'], types })).values)
      .toEqual([0, 0, 1, 1, 0, 2]);
  });
});

describe('an empty cell', () => {
  it('may be a word in a column of numbers', async () => {
    const text = 'name,x\nNA,1\na,NA\nb,n/a\nc,NULL\nd,-\ne,\n';
    const types = new Map([['name', { type: 'text' as const, bytes: 8 }]]);
    const found = await read(text, { columns: ['x'] });
    expect(found.values).toEqual([1, NaN, NaN, NaN, NaN, NaN]);
    expect((await read(text, { columns: ['name', 'x'], types })).values).toHaveLength(12);
    expect(await refusal(text, { columns: ['x'], missing: 'refuse' }))
      .toContain('line 3, column 2 ("x"): the cell is empty');
    expect((await read('x\n-99\n1\n', { empty: ['-99'] })).values).toEqual([-99, 1]);
    expect((await read('x\n.\n1\n', { empty: ['.'] })).values).toEqual([NaN, 1]);
    expect(await refusal('x\nNA\n1\n', { empty: ['.'] })).toContain('not a number');
  });
});

describe('advice on ids', () => {
  const events = (name: string, people: number): string => [`${name},ms`,
    ...Array.from({ length: 60 }, (_, i) => `u${i % people},${i}.5`)].join('\n');

  it('is one line where rows look like those of the same people', async () => {
    const columns = ['ms'];
    expect((await read(events('user_id', 20), { columns })).notes).toEqual([
      'standard input: each row was taken for a person. If "user_id" says whose row it is, pass '
      + '--contributor user_id',
    ]);
    for (const [name, people] of [['user_id', 60], ['user_id', 4], ['place', 20]] as const) {
      expect((await read(events(name, people), { columns })).notes).toEqual([]);
    }
    expect((await read(events('user_id', 20), { columns, contributor: 'user_id' })).notes)
      .toEqual([]);
  });

  it('is on standard error only', async () => {
    const run = await keelson(['estimate', 'mean', '-', '--columns', 'ms', '--set', 'range=0..60',
      '--epsilon', '4', '--delta', '1e-6', '--json'], { stdin: events('user_id', 20) });
    expect(run.status).toBe(0);
    expect(run.stderr).toContain('pass --contributor user_id');
    expect(run.stdout).not.toContain('user_id');
  });
});
