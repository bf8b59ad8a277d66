import { Readable } from 'node:stream';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../src/base/errors.js';
import { readTables, type RowTable, type TableRequest } from '../../cli/input/table.js';
import { npyBytes } from '../support/npy.js';
import { scratchFolder } from '../support/scratch.js';

const scratch = scratchFolder('input');

type Options = Partial<Omit<TableRequest, 'path'>>;

/** Reads from standard input in pieces of `step` bytes, so that every boundary is crossed. */
async function tables(
  input: string | Buffer, options: Options = {}, step = 3,
): Promise<readonly RowTable[]> {
  const bytes = Buffer.from(input);
  const count = Math.ceil(bytes.length / step);
  const pieces = Array.from({ length: count }, (_, i) => bytes.subarray(i * step, (i + 1) * step));
  return readTables({ path: '-', missing: 'refuse', ...options }, Readable.from(pieces));
}

async function rows(input: string | Buffer, options: Options = {}): Promise<number[][]> {
  const [table] = await tables(input, options);
  const d = table!.columns.length;
  return Array.from({ length: table!.count }, (_, i) =>
    [...table!.values.subarray(i * d, (i + 1) * d)]);
}

async function refusal(input: string | Buffer, options: Options = {}): Promise<string> {
  try {
    await tables(input, options);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputError);
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

describe('CSV', () => {
  it('reads with and without a header', async () => {
    expect(await rows('5,2\n3,4\n')).toEqual([[5, 2], [3, 4]]);
    expect(await rows('delay,distance\n1,2\n3,4')).toEqual([[1, 2], [3, 4]]);
    expect((await tables('delay, distance\n1,2\n'))[0]!.columns).toEqual(['delay', 'distance']);
    expect((await tables('5,2\n'))[0]!.columns).toEqual(['0', '1']);
  });

  it('reads quotes, CRLF, a byte order mark, blanks around numbers and every form of '
    + 'decimal', async () => {
    expect(await rows('\ufeff"a ""b""","c\r\nd"\r\n"1", 2.5\r\n-3.,.5e1\r\n'))
      .toEqual([[1, 2.5], [-3, 5]]);
    expect((await tables('"a ""b""","c\r\nd"\r\n1,2\r\n'))[0]!.columns)
      .toEqual(['a "b"', 'c\r\nd']);
  });

  it('selects columns by name or index, names first', async () => {
    const text = 'id,x,1\na,10,100\nb,20,200\n';
    expect(await rows(text, { columns: ['x'] })).toEqual([[10], [20]]);
    expect(await rows(text, { columns: ['1', 'x'], contributor: 'id' }))
      .toEqual([[100, 10], [200, 20]]);
    expect(await rows(text, { columns: ['2'], contributor: 'id' })).toEqual([[100], [200]]);
    expect(await rows('a,1\nb,2\n', { contributor: '0' })).toEqual([[1], [2]]);
    expect(await refusal(text, { columns: ['y'], contributor: 'id' }))
      .toContain('there is no column "y"');
    expect(await refusal('delay,b\n1,2\n', { columns: ['dealy', 'b'] }))
      .toContain('did you mean "delay"?');
    expect(await refusal('1,2\n', { columns: ['x'] })).toContain('give an index from 0 to 1');
    expect(await refusal('a,a\n1,2\n', { columns: ['a'] })).toMatch(
      /two columns are named "a": give one of them another name, or choose it by its index/);
    expect(await refusal('a,a\n1,2\n', { columns: ['a'], flags: ['missing'] }))
      .toMatch(/another name$/);
    expect(await refusal('a,b\n1,2\n', { columns: ['a', 'a'] })).toContain('names a column twice');
    expect(await refusal('a,b\n1,2\n', { columns: ['a', 'b'], contributor: 'b' }))
      .toContain('leave it out');
    expect(await refusal('a\n1\n', { contributor: 'a' })).toContain('no column is left');
  });

  it('never shows a first line that has none of the wanted names: it may be data', async () => {
    for (const line of ['secret,1\n', 'secret,secrets\n']) {
      const message = await refusal(`${line}1,2\n`, { columns: ['minutes'], contributor: 'id' });
      expect(message).toMatch(/no column "minutes": put the names of the columns into the first line$/);
    }
    expect(await refusal('1,2\n', { columns: ['x'], flags: ['missing'] }))
      .toMatch(/it has no column names, use a file that names them$/);
  });

  it('refuses texts and ids whose bytes are not UTF-8, which would become one', async () => {
    const types = new Map([['app', { type: 'text', bytes: 8 }]] as const);
    const bytes = Buffer.from('id,app,x\na,Malm\xf6,\xf6\n', 'latin1');
    const columns = { columns: ['app'], types };
    expect(await refusal(bytes, columns)).toContain('line 2, column 2: the cell has bytes that');
    expect(await refusal(Buffer.from('id,x\n\xf6,1\n', 'latin1'), { contributor: 'id' }))
      .toContain('line 2, column 1: the cell has bytes that are not UTF-8');
    expect((await tables('id,app,x\na,Malmö,ö\n', columns))[0]!.count).toBe(1);
  });

  it('refuses a bad cell with its line and column and never shows it', async () => {
    for (const cell of [
      'secret', '0x10', 'Infinity', 'NaN', '1e999', '1 2', '1_000', '--1', 'true',
    ]) {
      const message = await refusal(`x,y\n1,2\n3,${cell}\n`);
      expect(message)
        .toMatch(/^standard input, line 3, column 2 \("y"\): not a (finite decimal )?number/);
      expect(message).not.toContain(cell);
    }
    expect(await refusal('"a\nb",y\n1,x\n')).toContain('line 3, column 2');
    expect(await refusal('5,2\n"3",x\n')).toContain('line 2, column 2');
    expect(await refusal('alice,1\nbob,2\n'))
      .toContain('line 1, column 1: neither a row of numbers nor a header');
  });

  it('refuses empty cells, or keeps their rows as NULL', async () => {
    expect(await refusal('5,2\n3,\n')).toContain('line 2, column 2 ("1"): the cell is empty');
    expect(await rows('5,2\n3, \n5,6\n', { missing: 'null' }))
      .toEqual([[5, 2], [NaN, NaN], [5, 6]]);
    expect(await rows('x\n1\n\n3\n\n\n', { missing: 'null' })).toEqual([[1], [NaN], [3]]);
    expect(await refusal('x\n1\n\n3\n')).toContain('line 3, column 1 ("x"): the cell is empty');
  });

  it('refuses lines of another length, blank lines inside and broken quotes', async () => {
    expect(await refusal('5,2\n3\n')).toContain('line 2: 1 cells where the first line has 2');
    expect(await refusal('5,2\n3,4,5\n')).toContain('line 2: 3 cells where the first line has 2');
    expect(await refusal('5,2\n\n3,4\n')).toContain('line 2: the line is blank');
    expect(await rows('5,2\n3,4\n\n\n')).toEqual([[5, 2], [3, 4]]);
    const open = await refusal('5,2\n"secret,4\n5,6\n');
    expect(open).toMatch(/line \d: a quote in the row that begins here is never closed/);
    expect(await refusal('1,2\n"3"secret,4\n')).toMatch(/line 2: text follows a closing quote/);
    const inside = await refusal('1,2\nsec"ret,4\n');
    expect(inside).toContain('line 2: a quote stands inside a cell');
    expect(inside + open).not.toContain('sec');
    await expect(tables(`1,2\n"${'x'.repeat(5_000_000)}`, {}, 1 << 16)).rejects
      .toThrow('longer than 4194304 bytes');
  });

  it('refuses a file without rows', async () => {
    expect(await refusal('')).toContain('there are no rows: add at least one');
    expect(await refusal('\n\n')).toContain('there are no rows');
  });

  it('gives an empty table for a header alone', async () => {
    const [table] = await tables('x,y\n');
    expect([table!.columns, table!.count]).toEqual([['x', 'y'], 0]);
  });
});

describe('NDJSON', () => {
  it('reads arrays and objects', async () => {
    expect(await rows('[1,2]\n[3,4]\n')).toEqual([[1, 2], [3, 4]]);
    expect(await rows('\ufeff{"y":2,"x":1}\r\n\r\n{"x":3,"y":4,"z":5}')).toEqual([[2, 1], [4, 3]]);
    expect(await rows('{"y":2,"x":1}\n{"x":3,"y":4}\n', { columns: ['x'] })).toEqual([[1], [3]]);
  });

  it('refuses bad values with line and column', async () => {
    for (const value of ['"4"', 'true', '[4]', '1e999']) {
      expect(await refusal(`{"x":1,"y":2}\n{"x":3,"y":${value}}\n`))
        .toContain('line 2, column 2 ("y"): not a finite');
    }
    expect(await refusal('[1,2]\n[3,null]\n'))
      .toContain('line 2, column 2 ("1"): the cell is empty');
    expect(await refusal('{"x":1,"y":2}\n{"x":3}\n'))
      .toContain('line 2, column 2 ("y"): the cell is empty');
    expect(await rows('{"x":1,"y":2}\n{"x":3}\n', { missing: 'null' }))
      .toEqual([[1, 2], [NaN, NaN]]);
    expect(await refusal('[1,2]\n[3]\n')).toContain('line 2: 1 values where the first line has 2');
    expect(await refusal('[1,2]\n{"x":3}\n'))
      .toContain('line 2: an object where the first line has another kind');
    expect(await refusal('[1,2]\n7\n')).toContain('line 2: neither an array nor an object');
    expect(await refusal('[[1,2],[3,4]]\n')).toContain('one row per line');
    const broken = await refusal('[1,2]\n[3,secret]\n');
    expect(broken).toContain('line 2: not JSON');
    expect(broken).not.toContain('secret');
    expect(await refusal(Buffer.from([0x5b, 0x31, 0x5d, 0x0a, 0xff, 0x0a])))
      .toContain('line 2: not UTF-8');
    expect(await refusal('')).toContain('there are no rows');
  });

  it('does not take inherited names for values', async () => {
    const inherited = await refusal('{"x":1,"constructor":2}\n{"x":1}\n');
    expect(inherited).toContain('column 2 ("constructor"): the cell is empty');
  });
});

describe('npy', () => {
  const values = [[1, 2.5], [-3, 4]];

  it.each([1, 2, 3] as const)('reads version %i', async (version) => {
    expect(await rows(npyBytes(values, { version }))).toEqual(values);
  });

  it('reads both widths, both byte orders and one axis', async () => {
    for (const type of ['<f4', '<f8', '>f4', '>f8']) {
      expect(await rows(npyBytes(values, { type }))).toEqual(values);
    }
    expect(await rows(npyBytes([[1], [2]], { shape: '(2,)' }))).toEqual([[1], [2]]);
    expect(await rows(npyBytes(values), { columns: ['1'] })).toEqual([[2.5], [4]]);
    expect(await rows(npyBytes([[7, 1], [7, 3]]), { contributor: '0' })).toEqual([[2]]);
  });

  it('refuses files that it cannot read, and says how to save them', async () => {
    expect(await refusal(npyBytes(values, { fortran: true }))).toContain('Fortran order');
    expect(await refusal(npyBytes(values, { type: '<i8' }))).toContain('not float32 or float64');
    expect(await refusal(npyBytes(values, { type: '<f2' }))).toContain('numpy.save');
    expect(await refusal(npyBytes([], { shape: '()' }))).toContain('0 axes');
    expect(await refusal(npyBytes(values, { shape: '(1, 2, 2)' }))).toContain('3 axes');
    expect(await refusal(npyBytes([], { shape: '(0, 2)' }))).toContain('no rows');
    const newer = npyBytes(values);
    newer[6] = 4;
    expect(await refusal(newer)).toContain('version 4 is not supported');
    expect(await refusal(npyBytes(values), { columns: ['x'] }))
      .toContain('give an index from 0 to 1');
    expect(await refusal(npyBytes(values).subarray(0, 9))).toContain('cut short inside');
  });

  it('refuses a bad value with row and column from 0', async () => {
    for (const value of [NaN, Infinity, -Infinity]) {
      expect(await refusal(npyBytes([[1, 2], [3, 4], [5, value]])))
        .toContain('row 2, column 1 (both from 0)');
    }
  });

  it('refuses fewer or more bytes than promised', async () => {
    const whole = npyBytes(values);
    expect(await refusal(whole.subarray(0, whole.length - 1)))
      .toContain('promises 32 bytes of numbers and 31 follow');
    const long = Buffer.concat([whole, Buffer.alloc(3)]);
    expect(await refusal(long)).toContain('promises 32 bytes of numbers and 35 follow');
    expect(await refusal(whole.subarray(0, 40))).toContain('cut short inside the .npy header');
  });
});

describe('tables', () => {
  it('reduces the rows of one id to their mean', async () => {
    expect(await rows('id,x\na,1\nb,10\na,3\n', { contributor: 'id' })).toEqual([[2], [10]]);
  });

  it('takes numbers of up to 2^64 in full', async () => {
    const late = 1_751_328_000_123;
    expect(await rows(`${late}\n-${late}\n`)).toEqual([[late], [-late]]);
    expect(await rows(`id,x\na,${late}\na,${late + 2}\n`, { contributor: 'id' }))
      .toEqual([[late + 1]]);
    expect(await rows('18446744073709551616\n-18446744073709551616\n'))
      .toEqual([[2 ** 64], [-(2 ** 64)]]);
  });

  it('names the line of a larger number', async () => {
    const rule = 'not a finite decimal number of at most 2^64 (1.8e19) in size';
    expect(await refusal('x\n1\n1e20\n')).toContain(`line 3, column 1 ("x"): ${rule}`);
    const typed = { types: new Map([['x', { type: 'number' } as const]]) };
    expect(await refusal('x\n1\n-1e20\n', typed)).toContain(`line 3, column 1 ("x"): ${rule}`);
  });

  it('keeps a contributor whose rows are all empty as a NULL row', async () => {
    const text = 'id,x\na,1\nb,\na,\nb,\n';
    expect(await rows(text, { contributor: 'id', missing: 'null' })).toEqual([[1], [NaN]]);
    const nameless = await refusal('id,x\na,1\n,2\n', { contributor: 'id' });
    expect(nameless).toContain('line 3, column 1: the contributor id is empty');
  });

  it('splits by a public list of groups and refuses an id in two of them', async () => {
    const text = 'id,g,x\na,red,1\nb,blue,2\na,red,3\nc,green,4\n';
    const found =
      await tables(text, { contributor: 'id', group: 'g', groups: ['blue', 'red', 'grey'] });
    expect(found.map((table) => [table.group, table.count, [...table.values]])).toEqual([
      ['blue', 1, [2]], ['red', 1, [2]], ['grey', 0, []],
    ]);
    const both =
      await refusal(`${text}b,red,5\n`, { contributor: 'id', group: 'g', groups: ['blue', 'red'] });
    expect(both).toContain('the contributor of 3 and 6 (line or row) is in two groups');
  });

  it('grows past one batch', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `${i},${-i}`).join('\n');
    const [table] = await tables(many, {}, 1 << 16);
    expect(table!.count).toBe(10_000);
    expect(table!.values[2 * 9_999]).toBe(9_999);
    expect(table!.values[2 * 4_096 + 1]).toBe(-4_096);
  });

  it('chooses the format by the first bytes, whatever the ending is', async () => {
    const read = async (name: string, contents: string | Buffer) => {
      const path = join(scratch, name);
      writeFileSync(path, contents);
      const request = { path, missing: 'refuse' as const };
      return [...(await readTables(request, Readable.from([])))[0]!.values];
    };
    expect(await read('a.csv', '1.0,2\n')).toEqual([1, 2]);
    expect(await read('a.ndjson', '[1,2]\n')).toEqual([1, 2]);
    expect(await read('a.jsonl', '[1,2]\n')).toEqual([1, 2]);
    expect(await read('a.npy', npyBytes([[1, 2]]))).toEqual([1, 2]);
    expect(await read('a.data', npyBytes([[1, 2]]))).toEqual([1, 2]);
    expect(await read('a.txt', '\n {"x":1,"y":2}\n')).toEqual([1, 2]);
    expect(await read('b.csv', '[1,2]\n')).toEqual([1, 2]);
    expect(await read('b.csv', npyBytes([[1, 2]]))).toEqual([1, 2]);
    expect(await read('b.ndjson', '1.5,2\n')).toEqual([1.5, 2]);
    for (const [name, kind] of [
      ['c.npy', 'a .npy file'], ['c.parquet', 'a Parquet file'], ['c.arrow', 'an Arrow file'],
    ]) {
      await expect(read(name!, '1,2\n')).rejects
        .toThrow(`it does not begin as ${kind} does: correct the name, or make the file again`);
    }
  });

  it('says what is wrong with a path', async () => {
    const request = { missing: 'refuse' as const, path: join(scratch, 'none.csv') };
    await expect(readTables(request, Readable.from([]))).rejects.toThrow('there is no such file');
    await expect(readTables({ ...request, path: scratch }, Readable.from([]))).rejects
      .toThrow('it is a folder');
  });
});

describe('a file that cannot be read', () => {
  it('with an open quote names the row in which it opens', async () => {
    const lines = Array.from({ length: 60 }, (_, i) => `${i % 5},abc`);
    const csv = (broken: string): string => ['x,name', ...lines.slice(0, 20), broken,
      ...lines.slice(20)].join('\n');
    for (const broken of ['3,"abc', '"1","c\nd']) {
      expect(await refusal(csv(broken), { columns: ['x'] }))
        .toContain('line 22: a quote in the row that begins here is never closed');
    }
  });

  it.each([
    ['by xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
    ['by bzip2', [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59]],
    ['as a ZIP archive', [0x50, 0x4b, 3, 4]],
  ])('is not taken for CSV when it is compressed %s', async (how, start) => {
    const bytes = Buffer.concat([Buffer.from(start), Buffer.alloc(40, 1)]);
    expect(await refusal(bytes)).toContain(`it is compressed ${how}: unpack it first`);
  });

  it.each([
    ['a workbook of Excel (.xlsx)', [0x50, 0x4b, 3, 4], '[Content_Types].xml'],
    ['a document of LibreOffice (.ods)', [0x50, 0x4b, 3, 4],
      'mimetypeapplication/vnd.oasis.opendocument.spreadsheet'],
    ['a workbook of an old Excel (.xls)', [0xd0, 0xcf, 0x11, 0xe0], ''],
  ])('says how the rows of a spreadsheet are saved: %s', async (what, start, entry) => {
    const header = Buffer.alloc(30, 1);
    header.set(start);
    const bytes = Buffer.concat([header, Buffer.from(entry), Buffer.alloc(40, 1)]);
    expect(await refusal(bytes)).toContain(`it is ${what}, which is not read: open it, and save`);
  });

  it('with a key that its first object lacks says so', async () => {
    const text = '{"x":1}\n{"x":2,"late":3}\n';
    expect(await refusal(text, { columns: ['x', 'late'] }))
      .toContain('line 1: the first object has no key "late": if later ones have it, give it to');
    const mended = text.replace('{"x":1}', '{"x":1,"late":null}');
    expect(await refusal(mended, { columns: ['x', 'late'] }))
      .toContain('--csv missing=null');
    expect(await refusal(text, { columns: ['X'] })).toContain('did you mean');
  });
});
