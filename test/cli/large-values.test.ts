// @module-tag long
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { npyBytes } from '../support/npy.js';
import { scratchFolder } from '../support/scratch.js';
import { arrowBytes, parquetBytes } from '../support/table-files.js';

const scratch = scratchFolder('large');
const place = (name: string, contents: string | Uint8Array): string => {
  const path = join(scratch, name);
  writeFileSync(path, contents);
  return path;
};

const [yearStart, yearEnd, july] = [Date.UTC(2025, 0), Date.UTC(2026, 0), Date.UTC(2025, 6)];
/** Times in a year in milliseconds: denser in its first half, all different. */
const times = Array.from({ length: 2_000 }, (_, i) =>
  yearStart + Math.round((yearEnd - yearStart) * ((i * 787 % 2_000 + 0.5) / 2_000) ** 1.5));
const sorted = [...times].sort((left, right) => left - right);
const mean = times.reduce((sum, time) => sum + (time - yearStart) / times.length, yearStart);
const csv = place('times.csv', `at_ms\n${times.join('\n')}\n`);
const week = 7 * 86_400_000;
const edges = [yearStart, july, yearEnd];
const year = ['--set', `range=${yearStart}..${yearEnd}`];

interface Answer {
  readonly estimate: readonly number[];
  readonly labels?: readonly string[];
}
const seeded = { environment: { KEELSON_INSECURE_SEED: 'a test' } };

async function estimate(...words: string[]): Promise<Answer> {
  const { status, stdout, stderr } = await keelson(
    ['estimate', ...words, '--epsilon', '20', '--delta', '1e-6', '--json'], seeded,
  );
  expect(stderr).not.toMatch(/error/);
  expect(status).toBe(0);
  return JSON.parse(stdout) as Answer;
}

async function refusal(...words: string[]): Promise<string> {
  const { status, stderr } = await keelson(words, seeded);
  expect(status).toBe(2);
  return stderr;
}

function expectNear(
  actual: readonly number[], expected: readonly number[], within: number,
): void {
  expect(actual.length).toBe(expected.length);
  actual.forEach((number, i) => {
    expect(Math.abs(number - expected[i]!), `${number} for ${expected[i]!}`).toBeLessThan(within);
  });
}

describe('times in milliseconds, in a file', () => {
  const quartiles = [0.25, 0.5, 0.75].map((part) => sorted[Math.floor(part * times.length)]!);

  it('have their own quartiles', async () => {
    const { estimate: found } = await estimate('quantile', csv, ...year);
    expectNear(found, quartiles, week);
  });

  it('are counted on both sides of a time, and in bins', async () => {
    const later = times.filter((time) => time >= july).length;
    const counted = await estimate('count', csv, '--set', `threshold=${july}`);
    expectNear(counted.estimate, [later], 3);
    const bins = await estimate('histogram', csv, '--set', `edges=${edges.join(',')}`);
    expectNear(bins.estimate, [0, times.length - later, later, 0], 5);
  });

  it('have their own mean, given a range and without', async () => {
    const ranged = await estimate('mean', csv, '--set', `range=${yearStart}..${yearEnd}`);
    expectNear(ranged.estimate, [mean], week);
    expectNear((await estimate('mean', csv, '--set', 'spread=1e10')).estimate, [mean], week);
    expectNear((await estimate('robust-mean', csv)).estimate, [mean], 4 * week);
  });

  it('have their own distribution', async () => {
    const { estimate: found, labels } = await estimate('distribution', csv, ...year);
    const middle = labels!.findIndex((label) => label.startsWith('median of'));
    expect(middle).toBeGreaterThanOrEqual(0);
    expectNear([found[middle]!], [quartiles[1]!], week);
  });

  it('are the same in every kind of file', async () => {
    const values = times.map((time) => [time]);
    const cells = [{ name: 'at_ms', type: 'double' as const, values: times }];
    const whole = [{ name: 'at_ms', type: 'int64' as const, values: times.map(BigInt) }];
    const { estimate: expected } = await estimate('quantile', csv, ...year);
    for (const file of [
      place('times.npy', npyBytes(values)),
      place('times.ndjson', times.map((time) => `{"at_ms":${time}}\n`).join('')),
      place('times.parquet', parquetBytes(cells)),
      place('whole.parquet', parquetBytes(whole)),
      place('times.arrow', arrowBytes(cells)),
      place('whole.arrow', arrowBytes(whole)),
    ]) expect((await estimate('quantile', file, ...year)).estimate, file).toEqual(expected);
  });

  it('are the same in a test of a question and in its numbers', async () => {
    const study = place('times.yaml', `study: times
columns:
  at_ms: { type: integer, low: ${yearStart}, high: ${yearEnd} }
cohort: 2000
epoch: { every: 1d }
questions:
  later: { estimator: count, where: { at_ms: { at-least: ${july} } }, part: 50 }
  middle: { estimator: quantile, columns: [at_ms], where: { at_ms: { below: ${july} } },
    parameters: { probabilities: [0.5] }, part: 50 }
privacy: { epsilon: 40, delta: 1e-6 }
budget: { epsilon: 40, delta: 1e-5 }
`);
    const { status, stdout } =
      await keelson(['estimate', '--study', study, csv, '--json'], seeded);
    expect(status).toBe(0);
    const { questions: { later, middle } } =
      JSON.parse(stdout) as { questions: Record<'later' | 'middle', Answer> };
    const early = sorted.filter((time) => time < july);
    expectNear(later.estimate, [times.length - early.length], 3);
    expectNear(middle.estimate, [early[Math.floor(early.length / 2)]!], week);
  });
});

describe('totals of large numbers', () => {
  it('are not cut', async () => {
    const rows = Array.from({ length: 1_000 }, (_, i) => 2e15 + (i % 7) * 1e12);
    const file = place('large.csv', `x\n${rows.join('\n')}\n`);
    const total = rows.reduce((sum, value) => sum + value);
    expectNear(
      (await estimate('sum', file, '--set', 'cap=4e15')).estimate, [total], 0.01 * total,
    );
    expectNear((await estimate('sum', file, '--set', 'range=-4e18..4e18')).estimate,
      [total], 10 * 8e18);
  });

  it('of a person’s rows are added in full', async () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => `p${i % 500},${9e18}`);
    const file = place('people.csv', `id,x\n${rows.join('\n')}\n`);
    const words = ['--contributor', 'id', '--columns', 'x', '--set', 'range=0..9.1e18'];
    expectNear((await estimate('mean', file, ...words)).estimate, [9e18], 1e17);
  });
});

describe('numbers beyond 2^64', () => {
  const rule = 'not a finite decimal number of at most 2^64 (1.8e19) in size';

  it('are refused by line or row in every kind of file', async () => {
    const cells = [{ name: 'x', type: 'double' as const, values: [1, 1e20] }];
    for (const [file, text] of [
      [place('far.csv', 'x\n1\n1e20\n'), `line 3, column 1 ("x"): ${rule}`],
      [place('far.ndjson', '{"x":1}\n{"x":-1e20}\n'), `line 2, column 1 ("x"): ${rule}`],
      [place('far.parquet', parquetBytes(cells)), `row 2, column 1 ("x"): ${rule}`],
      [place('far.arrow', arrowBytes(cells)), `row 2, column 1 ("x"): ${rule}`],
      [place('far.npy', npyBytes([[1], [1e20]])), 'row 1, column 0 (both from 0): not a finite '
        + 'number of at most 2^64'],
    ] as const) {
      expect(await refusal(
        'estimate', 'mean', file, '--set', 'spread=1', '--epsilon', '1', '--delta', '1e-6',
      )).toContain(text);
    }
  });

  it.each([
    ['count', 'threshold=1e20', '--set threshold'],
    ['share', 'threshold=-1e20', '--set threshold'],
    ['mean', 'range=0..1e20', '--set range'],
    ['sum', 'cap=1e20', '--set cap'],
    ['ratio', 'cap=1,1e20', '--set cap'],
    ['histogram', 'edges=0,1e20', '--set edges'],
    ['quantile', 'range=0..1e20', '--set range'],
    ['distribution', 'edges=0,1e20', '--set edges'],
    ['tukey-median', 'radius=1e20', '--set radius'],
  ])('are no parameters of %s: %s', async (estimator, set, path) => {
    const columns = estimator === 'ratio' ? '2' : '1';
    const spread = estimator === 'tukey-median' ? ['--set', 'spread=1'] : [];
    const told = await refusal('plan', estimator,
      '--cohort', '2000', '--participation', 'secret', '--columns', columns,
      '--epsilon', '1', '--delta', '1e-6', '--set', set, ...spread);
    expect(told).toMatch(new RegExp(`${path} is .*2\\^64 \\(1\\.8e19\\)`, 's'));
  });

  it.each([
    ['a test', 'x: number', 'where: { x: { below: 1e20 } }', /with 100000000000000000000, beyond what/],
    ['a value', 'x: number', 'where: { x: 1e20 }', /at most 2\^64/],
    ['a whole number', 'x: integer', 'where: { x: { at-least: 1e17 } }', /at most 2\^53 - 1/],
    ['a column', 'x: { type: number, low: 0, high: 1e20 }', '', /at most 2\^64/],
  ])('are refused in a study file: %s', async (_, column, where, rule) => {
    const study = place('far.yaml', `study: far
columns:
  ${column}
cohort: 2000
epoch: { every: 1d }
questions:
  people: { estimator: count${where === '' ? '' : `, ${where}`} }
privacy: { epsilon: 4, delta: 1e-6 }
budget: { epsilon: 40, delta: 1e-5 }
`);
    expect(await refusal('plan', study)).toMatch(rule);
  });
});
