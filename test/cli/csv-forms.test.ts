import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { readCsv } from '../../cli/input/csv.js';
import { FormNumbers, usualForm, type CsvForm } from '../../cli/input/csv-form.js';
import type { RowOptions } from '../../cli/input/rows.js';
import { utf8 } from '../../src/base/bytes.js';
import { dataSource, type DataSource } from '../support/data.js';
import { rowsRead } from '../support/rows-read.js';

const forms: readonly CsvForm[] = (['.', ',', '\'', ' ', '\u00a0', ''] as const)
  .flatMap((thousands) => (['.', ','] as const).flatMap((decimal) =>
    ([',', ';', '\t', '|'] as const).map((separator) => ({ separator, decimal, thousands }))))
  .filter(({ separator, decimal, thousands }) =>
    new Set([separator, decimal, thousands]).size === 3);
const named = forms.map((form) => [JSON.stringify(Object.values(form)), form] as const);

const digits = (data: DataSource, count: number): string =>
  Array.from({ length: count }, () => String(data.below(10))).join('');

/** A number as a program writes it in this form. */
function written(data: DataSource, { decimal, thousands }: CsvForm): string {
  const groups = [digits(data, 1 + data.below(3))];
  for (let more = data.below(5); more > 0; more--) groups.push(digits(data, 3));
  const whole = groups.join(data.below(3) === 0 ? '' : thousands);
  const sign = ['', '', '-', '+'][data.below(4)]!;
  const decimals = data.below(2) === 0 ? decimal + digits(data, data.below(8)) : '';
  return sign + whole + decimals + (data.below(20) === 0 ? `e${data.below(9) - 4}` : '');
}

/** Cells that other forms would take for numbers, and broken ones. */
const odd = [
  '1.5', '1,5', '1.234', '1,234', '1.234.567', '1,234,567', '1.234,5', '1,234.5', '12.34.567',
  '1\'234', '1\'23', '1 234', '1\u00a0234', '1 2345', '1234 567', ' 7 ', '.5', ',5', '5.', '5,',
  '-', '', '1..5', '1,,5', '1e3', '1,5e2', '1.234e1', '00012', '.', ',', '1234567890123456,25',
  '9007199254740993', 'x',
];

/** The number in a cell, found by cutting it at the marks of a form. */
function numberOf(cell: string, { separator, decimal, thousands }: CsvForm): number | undefined {
  const [mantissa, exponent, ...rest] = cell.trim().toLowerCase().split('e');
  const sign = /^[+-]/.exec(mantissa!)?.[0] ?? '';
  const [whole, decimals = '', ...others] = mantissa!.slice(sign.length).split(decimal);
  // In quotes beside commas between cells, commas stand between thousands if they can mean nothing
  // else: where a point or a second comma follows.
  const isUsual = separator === ',' && decimal === '.' && thousands === '';
  const isClear = mantissa!.includes('.') || whole!.split(',').length > 2;
  const mark = isUsual && isClear && exponent === undefined ? ',' : thousands;
  const groups = mark === '' ? [whole!] : whole!.split(mark);
  const areDigits = (text: string): boolean =>
    [...text].every((each) => '0123456789'.includes(each));
  const isGrouped = groups.length === 1
    || groups.every(({ length }, i) => length === 3 || (i === 0 && length >= 1 && length < 3));
  const power = exponent === undefined ? 0 : Number(exponent);
  if (rest.length + others.length > 0 || !isGrouped || ![...groups, decimals].every(areDigits)
    || groups.join('') + decimals === '' || exponent === '' || !Number.isInteger(power)) {
    return undefined;
  }
  const value = Number(`${sign}${groups.join('')}.${decimals}e${power}`.replace('.e', 'e')
    .replace(/^([+-]?)\./, '$10.'));
  return Number.isFinite(value) ? value : undefined;
}

/** A file of an id and two numbers, of which some are odd. */
function fileOf(data: DataSource, form: CsvForm, isOdd: boolean): string {
  const ending = data.below(2) === 0 ? '\n' : '\r\n';
  const quoted = (cell: string): string =>
    (cell.includes(form.separator) || data.below(300) === 0 ? `"${cell}"` : cell);
  const lines = Array.from({ length: 1 + data.below(40) }, () => {
    const cells = [`p${data.below(9)}`, written(data, form), written(data, form)];
    if (isOdd && data.below(30) === 0) cells[1 + data.below(2)] = odd[data.below(odd.length)]!;
    return cells.map(quoted).join(form.separator);
  });
  return [['id', 'a', 'b'].join(form.separator), ...lines, ''].join(ending);
}

/** What a file holds by csv-parse and `numberOf`. */
function expected(text: string, form: CsvForm): unknown {
  const records: string[][] = parse(text, { delimiter: form.separator, from: 2 });
  const cells = records.flatMap(([, ...numbers], row) =>
    numbers.map((cell, i) => ({ value: numberOf(cell, form), cell, row, i })));
  const bad = cells.find(({ cell, value }) => cell.trim() !== '' && value === undefined);
  if (bad !== undefined) {
    return { message: expect.stringContaining(`f, line ${bad.row + 2}, column ${bad.i + 2} `) as string };
  }
  return {
    columns: ['a', 'b'], groups: [],
    values: cells.map(({ value }) => (Object.is(value, -0) ? '-0' : value ?? NaN)),
    positions: records.map((_, i) => i + 2), contributors: records.map(([id]) => id),
  };
}

const optionsOf = (form: CsvForm): RowOptions =>
  ({ source: 'f', missing: 'null', columns: ['a', 'b'], contributor: 'id', form, empty: [] });

describe('CSV in other forms', () => {
  it.each(named)('gives what csv-parse and cutting at the marks give: %s', async (name, form) => {
    const data = dataSource(`form ${name}`);
    for (let i = 0; i < 60; i++) {
      const text = fileOf(data, form, i % 2 === 0);
      const found = await rowsRead(readCsv, utf8(text), optionsOf(form), 1 + data.below(500));
      expect(found, JSON.stringify(text)).toEqual(expected(text, form));
    }
  });

  it.each(named)('takes no odd cell for another number: %s', async (_, form) => {
    for (const cell of odd) {
      const held = numberOf(cell, form);
      const numbers = new FormNumbers(form);
      expect(numbers.parse(cell), cell).toBe(held);
      const quoted = cell.includes(form.separator) ? `"${cell}"` : cell;
      const text = [['id', 'a', 'b'], ['p', '1', '2'], ['q', quoted, '3']]
        .map((cells) => `${cells.join(form.separator)}\n`).join('');
      expect(await rowsRead(readCsv, utf8(text), optionsOf(form), 1000), text)
        .toEqual(expected(text, form));
    }
  });

  it('tells names from rows by the numbers of the form', async () => {
    const read = (text: string, form: CsvForm): Promise<unknown> =>
      rowsRead(readCsv, utf8(text), { source: 'f', missing: 'refuse', form }, 1000);
    const german: CsvForm = { separator: ';', decimal: ',', thousands: '.' };
    expect(await read('1.000;2,5\n3;4\n', german)).toMatchObject({ values: [1000, 2.5, 3, 4] });
    expect(await read('1,000;2.5\n3;4\n', { ...german, decimal: '.', thousands: ',' }))
      .toMatchObject({ values: [1000, 2.5, 3, 4] });
    expect(await read('2.5;3.5\n3;4\n', german)).toMatchObject({ columns: ['2.5', '3.5'] });
    const years = `2020;2021\n${'1.234,5;2\n'.repeat(12)}`;
    expect(await read(years, german)).toMatchObject({ columns: ['2020', '2021'] });
  });

  it.each([
    ['decimal commas of one row', 'a;b\n1,5;2,5\n'], ['decimal commas alone', 'a\n1,5\n'],
    ['groups of digits', 'a,b\n1 234,2\n'], ['groups by apostrophes', 'a,b\n1\'234,2\n'],
    ['groups by points', 'a,b\n1.234.567,2\n'],
  ])('is refused where no form is given: %s', async (_, text) => {
    for (const columns of [undefined, ['a']]) {
      const options: RowOptions = {
        source: 'f', missing: 'refuse', ...(columns !== undefined && { columns }),
      };
      expect(await rowsRead(readCsv, utf8(text), options, 1000)).toHaveProperty('message');
    }
  });

  it('has three marks that differ', () => {
    expect(new FormNumbers(usualForm).parse('1.5')).toBe(1.5);
    expect(() => new FormNumbers({ separator: ',', decimal: ',', thousands: '' }))
      .toThrow('differ');
    expect(() => new FormNumbers({ separator: ';', decimal: ',', thousands: ',' }))
      .toThrow('differ');
  });
});
