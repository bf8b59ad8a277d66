import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csvFlag } from '../../cli/input/csv-flag.js';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const scratch = scratchFolder('csv-flag');

describe('--csv', () => {
  it('says what a file looks like', () => {
    expect(csvFlag(undefined)).toEqual({});
    expect(csvFlag('header=yes,missing=null')).toEqual({ header: 'yes', missing: 'null' });
    expect(csvFlag('separator=;,decimal=comma')).toEqual({
      form: { separator: ';', decimal: ',' },
    });
    for (const [word, separator] of [['tab', '\t'], ['pipe', '|'], ['semicolon', ';']]) {
      expect(csvFlag(`separator=${word}`)).toEqual({ form: { separator } });
    }
    expect(csvFlag('separator=comma,decimal=point')).toEqual({
      form: { separator: ',', decimal: '.' },
    });
    expect(csvFlag('thousands=space,encoding=latin1,empty=NA|-99')).toEqual({
      form: { thousands: ' ' }, encoding: 'latin1', empty: ['NA', '-99'],
    });
  });

  it.each([
    ['encodings=latin1', 'has no part "encodings": its parts are header, separator, decimal, '
      + 'thousands, encoding, empty, missing, dates, zone, table: '
      + 'did you mean "encoding"?'],
    ['seperator=;', 'did you mean "separator"?'],
    ['header=maybe', '--csv header is "maybe": write one of header=yes, header=no'],
    ['separator=x', '--csv separator is "x": write one of separator=comma'],
    ['separator=comma,decimal=comma', '--csv gives one mark two meanings'],
    ['decimal=comma,thousands=comma', '--csv gives one mark two meanings'],
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

  it('gives one answer to the same rows in every form', async () => {
    const numbers = Array.from({ length: 300 }, (_, i) => 997 + i / 4);
    const written = (separator: string, decimal: string, thousands: string): string =>
      ['Größe,x', ...numbers.map((number, i) => {
        const [whole, decimals = '0'] = String(number).split('.');
        return `${i},${whole!.replace(/(?=\d{3}$)/, whole!.length > 3 ? '\u0001' : '')}`
          + `\u0000${decimals}`;
      })].join('\n').replaceAll(',', separator).replaceAll('\u0000', decimal)
        .replaceAll('\u0001', thousands);
    const german = written(';', ',', '.');
    const forms: [string, Buffer, ...string[]][] = [
      ['usual', Buffer.from(written(',', '.', ''))],
      ['german', Buffer.from(german)],
      ['windows', Buffer.from(german.replaceAll('\n', '\r\n'), 'latin1'), 'encoding=latin1'],
      ['excel', Buffer.from(`\ufeffsep=;\n${german}`)],
      ['unicode', Buffer.from(`\ufeff${written('\t', ',', '.')}`, 'utf16le')],
      ['french', Buffer.from(written(';', ',', '\u202f'))],
      ['swiss', Buffer.from(written(';', '.', '\''))],
      ['bars', Buffer.from(written('|', '.', ','))],
      ['tabs', Buffer.from(written('\t', '.', ''))],
    ];
    const words = ['--columns', 'x', '--epsilon', '4', '--delta', '1e-6', '--set', 'spread=200'];
    const environment = { KEELSON_INSECURE_SEED: 'forms' };
    const answers = [];
    for (const [name, bytes, csv] of forms) {
      const path = join(scratch, `${name}.csv`);
      writeFileSync(path, bytes);
      answers.push(await keelson(['estimate', 'mean', path, ...words, '--json',
        ...csv === undefined ? [] : ['--csv', csv]], { environment }));
    }
    expect(answers[0]!.status).toBe(0);
    for (const [i, { stdout }] of answers.entries()) {
      expect(stdout, forms[i]![0]).toBe(answers[0]!.stdout);
    }
  });
});
