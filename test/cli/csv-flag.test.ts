import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { csvFlag } from '../../cli/input/csv-flag.js';
import { keelson } from '../support/command.js';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-csv-flag-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('--csv', () => {
  it('says what a file looks like', () => {
    expect(csvFlag(undefined)).toEqual({});
    expect(csvFlag('header=yes,missing=null')).toEqual({ header: 'yes', missing: 'null' });
    expect(csvFlag('separator=;,decimal=comma')).toEqual({
      form: { separator: ';', decimal: ',', thousands: '' },
    });
    for (const [word, separator] of [['tab', '\t'], ['pipe', '|'], ['semicolon', ';']]) {
      expect(csvFlag(`separator=${word}`)).toMatchObject({ form: { separator, decimal: '.' } });
    }
    expect(csvFlag('separator=comma,decimal=point')).toEqual({});
  });

  it.each([
    ['encoding=latin1', 'has no part "encoding": its parts are header, separator, decimal, '
      + 'missing'],
    ['seperator=;', 'did you mean "separator"?'],
    ['header=maybe', '--csv header is "maybe": write one of header=yes, header=no'],
    ['separator=x', '--csv separator is "x": write one of separator=comma'],
    ['decimal=comma', 'commas stand between the cells too'],
    ['header=yes,header=no', '--csv sets "header" twice'],
    ['header', '--csv takes key=value, not "header"'],
    ['separator=,', '--csv takes key=value'],
  ])('%s is refused', (text, message) => {
    expect(() => csvFlag(text)).toThrow(message);
  });

  it('names only the parts that the command takes', () => {
    expect(() => csvFlag('missing=null', ['header', 'separator', 'decimal']))
      .toThrow('its parts are header, separator, decimal');
  });

  it('gives the answer of the same rows in the usual form', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => [i / 4, i % 2]);
    const [usual, german] = [join(scratch, 'usual.csv'), join(scratch, 'german.csv')];
    writeFileSync(usual, rows.map((row) => row.join(',')).join('\n'));
    writeFileSync(german, rows.map((row) => row.map((cell) => String(cell).replace('.', ','))
      .join(';')).join('\n'));
    const words = ['--epsilon', '4', '--delta', '1e-6', '--set', 'scale=20', '--json'];
    const environment = { KEELSON_INSECURE_SEED: 'forms' };
    const answers = await Promise.all([[usual], [german, '--csv', 'separator=;,decimal=comma']]
      .map((own) => keelson(['estimate', 'mean', ...own, ...words], { environment })));
    expect(answers[0]!.status).toBe(0);
    expect(answers[1]).toEqual(answers[0]);
  });
});
