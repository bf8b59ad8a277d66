import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { cutSign } from '../../cli/input/csv-signs.js';
import { csvFlag } from '../../cli/input/csv-flag.js';
import { readRows } from '../../cli/input/open.js';

describe('a number with a sign', () => {
  it.each([
    ['1.234,56 €', '1.234,56', '€'], ['$1,234.56', '1,234.56', '$'], ['-$5', '-5', '$'],
    ['€ -5,00', '-5,00', '€'], ['12,5 %', '12,5', '%'], ['12.5%', '12.5', '%'],
    ['CHF 1\'234.50', '1\'234.50', 'CHF'], ['1 234,50\u00a0zł', '1 234,50', 'zł'],
    ['US$ .5', '.5', 'US$'], ['120 kr', '120', 'kr'], ['7. EUR', '7.', 'EUR'], ['₹5', '5', '₹'],
  ])('is cut apart: %s', (cell, text, sign) => {
    expect(cutSign(cell)).toEqual({ text, sign });
  });

  it.each(['', '5', '€', '%', '5 % %', '€5 %', '€5€', '5 XYZ', 'ABCD 5', 'A1', '1e3', '%5', '-'])(
    'is none: %s', (cell) => {
      expect(cutSign(cell)).toBeUndefined();
    });
});

async function read(text: string, csv?: string): Promise<{
  readonly cells: readonly number[]; readonly notes: readonly string[];
}> {
  const notes: string[] = [];
  const cells: number[] = [];
  const request = {
    path: '-', missing: 'refuse' as const, onNote: (note: string) => notes.push(note),
    ...csvFlag(csv),
  };
  for await (const { values } of readRows(request, Readable.from([text]))) cells.push(...values);
  return { cells, notes };
}

async function refusal(text: string): Promise<string> {
  return read(text).then(() => 'was read', (error: unknown) => (error as Error).message);
}

describe('columns of numbers with signs', () => {
  it('are read without them, in words', async () => {
    const { cells, notes } =
      await read('Preis;Anteil\n1.234,56 €;12,5 %\n-7,00 €;3 %\n1.000.000,5 €;99,25 %\n');
    expect(cells).toEqual([1234.56, 12.5, -7, 3, 1000000.5, 99.25]);
    expect(notes).toHaveLength(2);
    expect(notes.join('\n')).toMatch(/decimal=comma,thousands=point[^]*with % and €.*5 % is read/);
    expect(notes.join('\n')).not.toMatch(/1234|12,5/);
    expect((await read('price,n\n"$1,234.56",1\n$7.5,2\n')).cells).toEqual([1234.56, 1, 7.5, 2]);
    expect((await read('price;n\n$1,234.56;1\n$7.5;2\n$8.25;2\n')).cells)
      .toEqual([1234.56, 1, 7.5, 2, 8.25, 2]);
    expect((await read('price\n$7.5\n$8.25\n')).cells).toEqual([7.5, 8.25]);
  });

  it('have commas between thousands in quotes, where they can be nothing else', async () => {
    const rows = 'price,n\n"1,234.56",1\n"-1,234,567",2\n';
    expect((await read(rows)).cells).toEqual([1234.56, 1, -1234567, 2]);
    const unclear = `${rows}"1,234",3\n5,4\n`;
    expect(await refusal(unclear)).toContain('line 4, column 1 ("price"): a comma in a number');
    expect((await read(unclear, 'thousands=comma')).cells.slice(4)).toEqual([1234, 3, 5, 4]);
    expect((await read('n,m\n1,234\n5,678\n', 'thousands=comma')).cells)
      .toEqual([1, 234, 5, 678]);
  });

  it.each([
    ['price\n$7.5\n8.25\n', 'line 3, column 1 ("price"): the number has another sign'],
    ['price\n7.5\n$8.25\n', 'line 3, column 1 ("price"): the number has another sign'],
    ['price\n$7.5\n8.25 €\n', 'line 3, column 1 ("price"): the number has another sign'],
    ['rate\n0.5\n5 %\n', 'line 3, column 1 ("rate"): the number has another sign'],
    [`price\n${'7.5\n'.repeat(20_000)}$8.25\n`, 'line 20002, column 1 ("price"): the number has'],
    ['price\n$7.5\n$x\n', 'line 3, column 1 ("price"): not a number'],
    ['Preis;n\n1.234 €;1\n2.345 €;2\n', 'pass --csv decimal=comma or --csv decimal=point'],
  ])('are refused where they may be of different units', async (text, why) => {
    expect(await refusal(text)).toContain(why);
  });

  it('leave an empty cell empty, and a first line of them a row', async () => {
    expect((await read('price,n\n$7.5,1\nNA,2\n', 'missing=null')).cells).toEqual([7.5, 1, NaN, 2]);
    expect((await read('$7.5,$1.5\n$8.5,$2.5\n')).cells).toEqual([7.5, 1.5, 8.5, 2.5]);
  });
});
