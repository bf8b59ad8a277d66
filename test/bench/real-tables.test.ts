import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { verdictsOf, type TableLine } from '../../bench/real-tables/report.js';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';

/** A line of results, as bench/real-tables/run.js writes it. */
interface Line {
  readonly table: string;
  readonly study: string;
  readonly estimator: string;
  readonly kind: 'value' | 'refused' | 'infeasible';
  readonly column?: string;
  readonly error?: number;
  readonly half?: number | null;
  readonly isCovered?: boolean | null;
  readonly isForeseen?: boolean;
  /** True if the release says why this number has no interval. null: it has one. */
  readonly saysWhy?: boolean | null;
}

const folder = scratchFolder('tables');

async function linesFor(name: string, words: readonly string[]): Promise<readonly Line[]> {
  const out = join(folder, name);
  await promisify(execFile)(process.execPath, [
    'bench/real-tables/run.js', '--seeds', '1', '--contributors', '20000', '--columns', 'each',
    '--out', out, ...words,
  ], { cwd: root });
  return readFileSync(out, 'utf8').split('\n').filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Line);
}

/** With skewed, discrete and constant columns, and entries that are missing. */
const tables = 'cars,movies,penguins,political-contributions,weather';
/** With columns of which few rows carry the deviation. */
const hardTables = 'birdstrikes,disasters,earthquakes,gapminder,github';

describe('studies of real columns', { tags: ['slow'] }, () => {
  it('have the quantiles of every column, or say why not', async () => {
    const lines = await linesFor('quantile', ['--tables', tables, '--estimators', 'quantile']);
    expect(new Set(lines.map(({ table, study }) => `${table} ${study}`)).size).toBe(41);
    const wrong = lines.filter((line) => (line.kind === 'value'
      ? (line.error ?? Infinity) > 0.1 : line.isForeseen !== true));
    expect(wrong).toEqual([]);
    // Fewer than a quarter of the movies have this number.
    expect(lines.filter(({ kind }) => kind === 'refused').map(({ study }) => study))
      .toEqual(['US DVD Sales']);
  });

  it('have means of heavy-tailed columns within their intervals', async () => {
    const lines = await linesFor('heavy', ['--tables', tables, '--estimators', 'heavy-tailed']);
    const values = lines.filter(({ kind }) => kind === 'value');
    expect(values.length).toBeGreaterThan(30);
    expect(values.filter(({ error, half }) => (error ?? 0) > 3 * (half ?? 0))).toEqual([]);
    const holding = values.filter(({ isCovered }) => isCovered).length;
    expect(holding / values.length).toBeGreaterThanOrEqual(0.93);
  });

  // robust-mean leaves out crowds, also honest ones; its interval holds the mean of all as well.
  it.each([
    ['mean', 0.93, `${tables},${hardTables}`], ['robust-mean', 0.93, tables],
    ['prime-heavy', 0.93, tables], ['prime', 0.93, tables],
    ['stable-mean', 0.93, tables], ['resilience', 0.93, tables],
  ])('have a %s of every column, in its interval', async (name, share, chosen) => {
    const lines = await linesFor(name, ['--tables', chosen, '--estimators', name]);
    // Also of columns that are always or nearly always the same. Releases say that these have no
    // interval.
    expect(lines.filter(({ kind, isForeseen }) => kind !== 'value' && isForeseen !== true))
      .toEqual([]);
    const asked = lines.filter(({ kind, saysWhy }) => kind === 'value' && saysWhy !== true);
    expect(asked.length).toBeGreaterThan(30);
    const stated = asked.filter(({ half }) => half !== null);
    expect(stated.filter(({ error, half }) => error! > 3 * half!)).toEqual([]);
    const holding = asked.filter(({ isCovered }) => isCovered).length;
    expect(holding / asked.length).toBeGreaterThanOrEqual(share);
  });

  // A few rows far out, which noise hides in some releases; and rows in the open last bin.
  it.each([
    ['mean,robust-mean', 'gapminder', '10000', '3'],
    ['robust-mean', 'birdstrikes', '200000', '1'],
  ])('have a %s of all columns of %s, with an interval or the reason for none', async (
    names, table, contributors, seeds,
  ) => {
    const lines = await linesFor(`whole ${table}`, [
      '--tables', table, '--estimators', names, '--columns', 'whole',
      '--contributors', contributors, '--seeds', seeds,
    ]);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.filter(({ kind, saysWhy }) => kind !== 'value' || saysWhy === false)).toEqual([]);
    const stated = lines.filter(({ half }) => half !== null);
    expect(stated.filter(({ error, half }) => error! > 3 * half!)).toEqual([]);
  });
});

describe('the report of real tables', () => {
  const number: TableLine = {
    estimator: 'mean', kind: 'value', error: 0.01, half: 0.02, isCovered: true, saysWhy: null,
  };
  const without = { ...number, half: null, isCovered: false };
  const fieldsOf = (lines: readonly TableLine[]): readonly string[] =>
    verdictsOf(lines).at(-1)!.split('|').map((text) => text.trim());

  it('counts an interval without an end as one that does not hold', () => {
    const [, , numbers, , , holds, , saysWhy, saysNot] =
      fieldsOf([number, { ...without, saysWhy: false }]);
    expect([numbers, holds, saysWhy, saysNot]).toEqual(['2', '0.500', '0', '1']);
  });

  it('counts it apart where the release says why', () => {
    const [, , numbers, , , holds, , saysWhy, saysNot] =
      fieldsOf([number, { ...without, saysWhy: true }]);
    expect([numbers, holds, saysWhy, saysNot]).toEqual(['2', '1.000', '1', '0']);
  });

  // Columns are correlated, so rows are wider than their spread along some direction.
  it('have a prime-heavy of all columns, in its interval', { tags: ['slow'] }, async () => {
    const lines = await linesFor('whole', [
      '--tables', tables, '--estimators', 'prime-heavy', '--columns', 'whole',
    ]);
    const stated = lines.filter(({ kind }) => kind === 'value');
    expect(stated.length).toBeGreaterThan(10);
    expect(stated.filter(({ error, half }) => error! > 3 * half!)).toEqual([]);
    const holding = stated.filter(({ isCovered }) => isCovered).length;
    expect(holding / stated.length).toBeGreaterThanOrEqual(0.93);
    expect(Math.max(...stated.map(({ error }) => error!))).toBeLessThan(0.2);
  });
});
