import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { scratchFolder } from '../support/scratch.js';

const folder = scratchFolder('dialects');

function file(name: string, bytes: string | Buffer): string {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
}

/** Small public numbers that look like data, from a linear congruential generator. */
function numbers(count: number, below: number): readonly number[] {
  let state = 7;
  return Array.from({ length: count }, () => {
    state = (1_103_515_245 * state + 12_345) % 2 ** 31;
    return state % below;
  });
}

const people = 2_000;
const cents = numbers(2 * people, 1_000_000);

interface Dialect {
  readonly separator: string;
  readonly decimal: string;
  readonly thousands?: string;
  readonly end?: string;
  readonly first?: string;
  readonly sign?: string;
  readonly encode?: (text: string) => Buffer;
}

/** One table of two columns of amounts, and of a day, as programs of several countries write it. */
function written(
  { separator, decimal, thousands = '', end = '\n', first = '', sign = '', encode }: Dialect,
): string | Buffer {
  const amount = (value: number): string => {
    const whole = String(Math.floor(value / 100)).replace(/\B(?=(?:\d{3})+$)/g, thousands);
    return `${whole}${decimal}${String(value % 100).padStart(2, '0')}${sign}`;
  };
  const quoted = (cell: string): string => (cell.includes(separator) ? `"${cell}"` : cell);
  const lines = Array.from({ length: people }, (_, i) =>
    [amount(cents[2 * i]!), amount(cents[2 * i + 1]!)].map(quoted).join(separator));
  const text = `${first}${[['Miete', 'Löhne'].join(separator), ...lines].join(end)}${end}`;
  return encode === undefined ? text : encode(text);
}

const dialects: Readonly<Record<string, Dialect & { readonly csv?: string }>> = {
  usual: { separator: ',', decimal: '.' },
  German: { separator: ';', decimal: ',', thousands: '.' },
  French: { separator: ';', decimal: ',', thousands: '\u202f', sign: '\u202f€' },
  Swiss: { separator: ';', decimal: '.', thousands: '\u2019', end: '\r\n' },
  American: { separator: ',', decimal: '.', thousands: ',' },
  tabs: {
    separator: '\t', decimal: ',', encode: (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  },
  Excel: { separator: ';', decimal: ',', first: '\ufeffsep=;\r\n', end: '\r\n' },
  Latin: {
    separator: '|', decimal: '.', csv: 'encoding=latin1',
    encode: (text) => Buffer.from(text, 'latin1'),
  },
};

describe('one table in eight dialects', () => {
  it.each([
    ['mean', ['--set', 'range=0..10000,0..10000']],
    ['robust-mean', ['--set', 'spread=3000,3000']],
  ] as const)(
    'has one answer, to the byte: %s', async (estimator, more) => {
      const outputs = new Map<string, string>();
      for (const [name, dialect] of Object.entries(dialects)) {
        const run = await keelson([
          'estimate', estimator, file(`${name}.csv`, written(dialect)), '--columns', 'Miete,Löhne',
          '--epsilon', '1', '--delta', '1e-6', ...more, '--json',
          ...dialect.csv === undefined ? [] : ['--csv', dialect.csv],
        ], { environment: { KEELSON_INSECURE_SEED: 'dialects' } });
        expect(run.status, `${name}: ${run.stderr}`).toBe(0);
        // Advice depends on the rows.
        expect(run.stdout).not.toMatch(/separator|decimal=|€/);
        outputs.set(name, run.stdout);
      }
      expect(outputs.size).toBe(8);
      expect(new Set(outputs.values()).size).toBe(1);
    });
});

/** A message without the folder, in one line. */
const plain = (text: string): string => text.replaceAll(`${folder}/`, '').replace(/\s+/g, ' ');

async function run(line: string) {
  const words = line.match(/"[^"]*"|\S+/g)!.map((word) => word.replaceAll('"', ''));
  const [command, question, name, ...rest] = words;
  const { status, stdout, stderr } = await keelson(
    [command!, question!, join(folder, name!), ...rest],
    { environment: { KEELSON_INSECURE_SEED: 'an hour' } },
  );
  return { status, stdout: plain(stdout), stderr: plain(stderr) };
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/**
 * The first hour of an analyst with three files, as she gets them: each refusal names what she
 * types next, and each answer is near what a spreadsheet would show.
 */
describe('an analyst with three European files', () => {
  it('answers about rents of a city, exported from Excel', async () => {
    const rents = numbers(3_000, 200_000).map((each) => each + 40_000);
    const amount = (value: number): string => `${String(Math.floor(value / 100))
      .replace(/\B(?=(?:\d{3})+$)/g, '.')},${twoDigits(value % 100)} €`;
    file('mieten.csv', `\ufeffsep=;\r\nBezirk;Miete\r\n${rents.map((rent, i) =>
      `${['Süd', 'Nord'][i % 2]};${amount(rent)}\r\n`).join('')}`);
    const privacy = '--epsilon 1 --delta 1e-6';
    const { status, stdout, stderr } =
      await run(`estimate median mieten.csv --columns Miete ${privacy}`);
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('separator=;,decimal=comma,thousands=point');
    expect(stderr).toContain('numbers with €, which are read without that');
    const truth = [...rents].sort((one, other) => one - other)[1_500]! / 100;
    const [, shown] = /Miete ([\d.]+)/.exec(stdout)!;
    expect(Math.abs(Number(shown) - truth)).toBeLessThan(60);
    const split = await run(`estimate mean mieten.csv --columns Miete --group-by Bezirk --groups `
      + `Nord,Süd --set range=0..3000 ${privacy}`);
    expect([split.status, split.stdout]).toEqual([0, expect.stringMatching(/"Süd" +\d/)]);
  });

  it('counts trips of a shared bicycle by week, from a file with local times', async () => {
    const minutes = numbers(3_000, 28 * 24 * 60);
    file('fahrten.csv', `Kunden_ID;Beginn;Dauer\n${minutes.map((minute, i) => {
      const [day, hour] = [Math.floor(minute / 1440) + 2, Math.floor(minute / 60) % 24];
      return `K${i};${twoDigits(day)}.11.2026 ${twoDigits(hour)}:${twoDigits(minute % 60)};`
        + `${i % 50},5\n`;
    }).join('')}`);
    const asked = 'estimate median fahrten.csv --columns Beginn --epsilon 1 --delta 1e-6';
    expect((await run(asked)).stderr).toContain('with --type Beginn=time');
    expect((await run(`${asked} --type Beginn=time`)).stderr)
      .toContain('--csv zone=Europe/Berlin');
    const timed = await run(`${asked} --type Beginn=time --csv zone=Europe/Berlin`);
    expect([timed.status, timed.stdout]).toEqual([0, expect.stringMatching(/Beginn 2026-11-1[4-7]/)]);
    const weekly = await run('estimate histogram fahrten.csv --columns Beginn --type '
      + 'Beginn=week:2026-W45..2026-W48 --epsilon 1 --delta 1e-6');
    expect(weekly.status, weekly.stderr).toBe(0);
    const counts = [...weekly.stdout.matchAll(/2026-W4\d (\d+)/g)].map(([, count]) => Number(count));
    expect(counts).toHaveLength(4);
    counts.forEach((count) => expect(Math.abs(count - 750)).toBeLessThan(120));
  });

  it('compares shares from a file of tabs whose dates and numbers are unclear', async () => {
    const shares = numbers(2_000, 1_000);
    const percent = (share: number): string => (share / 10).toFixed(1).replace('.', ',');
    file('quoten.tsv', `Datum\tQuote\n${shares.map((share, i) =>
      `${i % 12 + 1}/${i % 11 + 1}/2026\t${percent(share)} %\n`).join('')}`);
    const asked = 'estimate mean quoten.tsv --columns Quote --epsilon 1 --delta 1e-6';
    const { status, stdout, stderr } = await run(`${asked} --set range=0..100`);
    expect(status, stderr).toBe(0);
    expect(stderr).toContain('5 % is read as 5');
    const truth = shares.reduce((sum, each) => sum + each, 0) / 10 / shares.length;
    expect(Math.abs(Number(/Quote ([\d.]+)/.exec(stdout)![1]) - truth)).toBeLessThan(1);
    const dates = 'estimate histogram quoten.tsv --columns Datum --type '
      + 'Datum=month:2026-01..2026-12 --epsilon 1 --delta 1e-6';
    expect((await run(dates)).stderr).toContain('pass --csv dates=dmy or --csv dates=mdy');
    const months = await run(`${dates} --csv dates=dmy`);
    expect([months.status, months.stdout]).toEqual([0, expect.stringContaining('2026-11')]);
    expect(months.stdout).toMatch(/2026-12 -?\d\d? /);
  });
});
