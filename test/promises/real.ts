import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { randomOf } from '../../bench/accuracy/data.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';
import { root } from '../support/sources.js';
import { medianOf } from './measure.js';
import { pageAsked } from './page-asked.js';

/** Columns of a public table of the package vega-datasets: every one that is a measurement. */
export interface RealTable {
  readonly file: string;
  readonly about: string;
  readonly columns: readonly string[];
}

export const realTables: readonly RealTable[] = [
  { file: 'countries.json', about: 'births and lives by country and year',
    columns: ['fertility', 'life_expect'] },
  { file: 'flights-airport.csv', about: 'flights between two airports', columns: ['count'] },
  { file: 'jobs.json', about: 'people in a job by year and sex', columns: ['count', 'perc'] },
  { file: 'platformer-terrain.json', about: 'tiles of a game',
    columns: ['x', 'y', 'lumosity', 'saturation'] },
  { file: 'population.json', about: 'people by age and year', columns: ['age', 'people'] },
  { file: 'seattle-weather.csv', about: 'weather by day',
    columns: ['precipitation', 'temp_max', 'temp_min', 'wind'] },
  { file: 'seattle-weather-hourly-normals.csv', about: 'weather by hour',
    columns: ['pressure', 'temperature', 'wind'] },
  { file: 'sp500-2000.csv', about: 'an index of shares by day',
    columns: ['open', 'high', 'low', 'close', 'volume'] },
  { file: 'unemployment.tsv', about: 'unemployment by county', columns: ['rate'] },
  { file: 'unemployment-across-industries.json', about: 'unemployment by month and industry',
    columns: ['count', 'rate'] },
  { file: 'windvectors.csv', about: 'winds by place', columns: ['dir', 'speed'] },
  { file: 'zipcodes.csv', about: 'places of postal codes', columns: ['latitude', 'longitude'] },
];

/** The rows of which every column is a number. */
function rowsOf({ file, columns }: RealTable): Float64Array[] {
  const text = readFileSync(`${root}node_modules/vega-datasets/data/${file}`, 'utf8');
  const records = file.endsWith('.json') ? JSON.parse(text) as Record<string, unknown>[]
    : parse<Record<string, unknown>>(text, {
      columns: true, delimiter: file.endsWith('.tsv') ? '\t' : ',',
    });
  return records
    .filter((record) => columns.every((name) => Number.isFinite(parseFloat(String(record[name])))))
    .map((record) => Float64Array.from(columns, (name) => Number(record[name])));
}

export interface RealFigures {
  /** Of `asked` ends of `interval95`, how many are finite. */
  readonly finite: number;
  readonly ends: number;
  /** Of the intervals with both ends finite, how many there are, and how many hold the mean. */
  readonly closed: number;
  readonly held: number;
  /** Distance of an answer from the mean, at most, in half widths of its interval. */
  readonly farthest: number;
  /** Median share of the rows left out, as the releases say. */
  readonly removed: number;
}

/** The share that may lie, as stated. Nobody does. */
const corruption = 0.05;

/**
 * Releases of `robust-mean` about people who have rows of the table, drawn with replacement; the
 * truth is the mean of the table. The same arguments give the same figures.
 */
export async function realFigures(
  table: RealTable, people: number, seeds: number,
): Promise<RealFigures> {
  const rows = rowsOf(table);
  const { length } = table.columns;
  const mean = Array.from({ length }, (_, j) =>
    rows.reduce((sum, row) => sum + row[j]!, 0) / rows.length);
  const plan = planOf('robust-mean', { corruption }, factsOf(length, people, 1));
  const leftOut: number[] = [];
  let [finite, closed, held, farthest] = [0, 0, 0, 0];
  for (let seed = 0; seed < seeds; seed++) {
    const name = `real ${table.file} ${people} ${seed}`;
    const { uniform } = randomOf(name);
    const drawn =
      Array.from({ length: people }, () => rows[Math.floor(uniform() * rows.length)]!);
    const outcome = await releaseOf(plan, length, drawn, name);
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const { low, high } = outcome.interval95!;
    mean.forEach((truth, j) => {
      const ends = [low[j]!, high[j]!].filter(Number.isFinite).length;
      finite += ends;
      if (ends < 2) return;
      closed += 1;
      if (low[j]! <= truth && truth <= high[j]!) held += 1;
      const half = (high[j]! - low[j]!) / 2;
      farthest = Math.max(farthest, Math.abs(outcome.estimate[j]! - truth) / half);
    });
    const apart = outcome.findings?.find(({ reason }) => reason === 'cluster-apart');
    leftOut.push(apart?.amounts[0] ?? 0);
  }
  return {
    finite, ends: 2 * seeds * length, closed, held, farthest, removed: medianOf(leftOut),
  };
}

/** What figures of clean real columns may be. */
export function isKept(
  { finite, ends, closed, held, farthest, removed }: RealFigures,
): boolean {
  return finite >= 0.97 * ends && held >= 0.93 * closed && farthest <= 3
    && removed <= 1.5 * corruption;
}

const intro = `# Means of real columns

\`robust-mean\` at its defaults, epsilon 1 and delta 1e-6, over public tables of the package vega-datasets. People have rows of a table,
drawn with replacement, and nobody lies: a twentieth might. \`node scripts/real-means.js\` writes this page; the same code gives the same
figures.

| column | what it is |
|---|---|
| held | of the intervals with both ends finite, how many \`interval95\` hold the mean of the table |
| finite | of the ends of these intervals, how many are finite |
| farthest | distance of an answer from that mean, at most, in half widths of its interval |
| left out | median share of the rows left out as a cluster, as the releases say |

| table | columns | people | held | finite | farthest | left out |
|---|---|---|---|---|---|---|
`;

const short = (value: number): string => String(Number(value.toPrecision(2)));

/**
 * @param args - `--tiny` for one release over each table, and the page that is written.
 * @returns 1 where a table is not kept.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { isTiny, page } = pageAsked(args);
  let [text, missed] = [intro, 0];
  for (const table of realTables) {
    for (const people of isTiny ? [20_000] : [20_000, 100_000]) {
      const figures = await realFigures(table, people, isTiny ? 1 : 12);
      if (!isTiny && !isKept(figures)) missed += 1;
      const { finite, ends, closed, held, farthest, removed } = figures;
      text += `| ${table.about} | ${table.columns.join(', ')} | ${people} | ${held} of ${closed} | `
        + `${finite} of ${ends} | ${short(farthest)} | ${short(removed)} |\n`;
    }
  }
  writeFileSync(page, text);
  process.stdout.write(`${missed} tables are not answered as they must be\n`);
  return missed === 0 ? 0 : 1;
}
