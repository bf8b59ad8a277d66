import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { dataSource } from '../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../support/offline.js';
import { root } from '../../support/sources.js';

const textOf = (file: string): string =>
  readFileSync(`${root}node_modules/vega-datasets/data/${file}`, 'utf8');
const ofCsv = (file: string, column: string): number[] =>
  parse<Record<string, string>>(textOf(file), { columns: true })
    .map((row) => Number(row[column]));

/** Columns of which few rows carry the deviation. */
const columns: readonly (readonly [string, number, () => number[]])[] = [
  ['deaths by disasters', 10_000, () => ofCsv('disasters.csv', 'Deaths')],
  ['deaths by disasters', 20_000, () => ofCsv('disasters.csv', 'Deaths')],
  ['populations', 10_000, () =>
    (JSON.parse(textOf('gapminder.json')) as { pop: number }[]).map(({ pop }) => pop)],
  ['distances of earthquakes', 20_000, () =>
    (JSON.parse(textOf('earthquakes.json')) as {
      features: { properties: { dmin: number | null } }[];
    }).features.flatMap(({ properties: { dmin } }) => (dmin === null ? [] : [dmin]))],
  ['costs of bird strikes', 50_000, () => ofCsv('birdstrikes.csv', 'Cost Total $')],
  ['repairs after bird strikes', 50_000, () => ofCsv('birdstrikes.csv', 'Cost Repair')],
];

describe('the mean of a real column that few rows decide', () => {
  it.each(columns)('is within three half-widths of the truth, or has none: '
    + '%s, %i contributors', async (name, cohort, valuesOf) => {
    const values = valuesOf();
    const truth = values.reduce((sum, value) => sum + value, 0) / values.length;
    const plan = planOf('mean', {}, factsOf(1, cohort, 1));
    for (let round = 0; round < 3; round++) {
      const data = dataSource(`${name} ${cohort} ${round}`);
      const rows = Array.from({ length: cohort }, () =>
        Float64Array.of(values[data.below(values.length)]!));
      const outcome = await releaseOf(plan, 1, rows, `${name} ${cohort} ${round}`);
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      const { low, high } = outcome.interval95!;
      expect(Math.abs(outcome.estimate[0]! - truth)).toBeLessThan(3 * ((high[0]! - low[0]!) / 2));
      if (high[0] === Infinity) {
        expect(outcome.findings!.map(({ reason }) => reason))
          .toEqual(expect.arrayContaining([expect.stringMatching(/end-unseen|mostly-one-value/)]));
      }
    }
  });
});

it('a column of spending, nearly all zero, is near its mean, or has no interval', async () => {
  const cohort = 10_000;
  const plan = planOf('mean', {}, factsOf(1, cohort, 1));
  const truth = 0.03 * Math.exp(3 + 1.2 ** 2 / 2);
  let stated = 0;
  for (let round = 0; round < 24; round++) {
    const data = dataSource(`spending ${round}`);
    const amounts = data.normals(cohort);
    const rows = Array.from(amounts, (normal) =>
      Float64Array.of(data.below(100) < 3 ? Math.exp(3 + 1.2 * normal) : 0));
    const outcome = await releaseOf(plan, 1, rows, `spending ${round}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const { low, high } = outcome.interval95!;
    expect(Math.abs(outcome.estimate[0]! - truth)).toBeLessThan(3 * ((high[0]! - low[0]!) / 2));
    stated += Number(high[0]! < Infinity);
  }
  // Half of the mean is in some 50 rows that no count shows.
  expect(stated).toBeLessThanOrEqual(1);
});

it('the mean cuts nothing off two values of which one lies at the edge of a bin', async () => {
  const [cohort, far] = [50_000, 1e6];
  const plan = planOf('mean', {}, factsOf(1, cohort, 1));
  for (let round = 0; round < 4; round++) {
    const data = dataSource(`two values ${round}`);
    const rows = Array.from({ length: cohort }, () => Float64Array.of(data.below(2) * far));
    const own = rows.reduce((sum, row) => sum + row[0]!, 0) / cohort;
    const outcome = await releaseOf(plan, 1, rows, `two values ${round}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    expect(Math.abs(outcome.estimate[0]! - own)).toBeLessThan(0.015 * (far / 2));
  }
});

it('prime-heavy is within three half-widths of the truth of a column with one row far out', async (
) => {
  const values = (JSON.parse(textOf('political-contributions.json')) as {
    Transfers_to_Authorized_Committees: number;
  }[]).map((record) => record.Transfers_to_Authorized_Committees);
  const truth = values.reduce((sum, value) => sum + value, 0) / values.length;
  const cohort = 10_000;
  const plan = planOf('prime-heavy', { spread: 1_000 }, factsOf(1, cohort, 1));
  for (let round = 0; round < 12; round++) {
    const data = dataSource(`transfers ${round}`);
    const rows = Array.from({ length: cohort }, () =>
      Float64Array.of(values[data.below(values.length)]!));
    const outcome = await releaseOf(plan, 1, rows, `transfers ${round}`);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const { low, high } = outcome.interval95!;
    expect(Math.abs(outcome.estimate[0]! - truth)).toBeLessThan(3 * ((high[0]! - low[0]!) / 2));
  }
});
