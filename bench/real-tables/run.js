// Every private mean and the quantiles on every numeric column of public tables. Needs the build:
// npm run bench:real-tables -- --help. Same seeds, same figures.
import { writeFileSync } from 'node:fs';
import { closePool, outcomeOf, planOf } from '../accuracy/private.js';
import { randomOf } from '../accuracy/random.js';
import { keptLines } from '../kept-lines.js';
import { optionsOf } from '../options.js';
import { pageOf, verdictsOf } from './report.js';
import { rangeOf, readTable, tables } from './tables.js';

const options = optionsOf('Private means and quantiles of real columns.', {
  tables: { usual: 'all', tiny: 'political-contributions,penguins', means: 'names of tables' },
  contributors: {
    usual: [1e3, 1e4, 5e4, 2e5], tiny: [2e4], means: 'sizes of the cohorts, drawn from the table',
  },
  estimators: {
    usual: 'mean,robust-mean,prime-heavy,quantile', tiny: 'mean,quantile', means: 'names, or all',
  },
  seeds: { usual: 3, tiny: 1, means: 'cohorts of each size' },
  columns: { usual: 'each', means: 'each (one study per column) or whole (one per table)' },
  minutes: { usual: 1e3, means: 'ends after this long; --out keeps what there is' },
  out: { usual: null, means: 'file of results: one JSON line each; known ones are not run again' },
  page: { usual: null, means: 'file to write the report of all lines of --out into' },
});

/** All but `heavy-tailed-pure`, which has no plan with a delta. */
const everyEstimator = [
  'mean', 'robust-mean', 'prime-heavy', 'prime', 'spectral-filter', 'stable-mean',
  'stable-mean-dual', 'populous-mean', 'resilience', 'tukey-median', 'heavy-tailed',
  'heavy-tailed-1d', 'quantile',
];
/** These have no scale of their own: a person gives about the deviation. */
const needScale = new Set(['prime-heavy', 'heavy-tailed', 'heavy-tailed-1d']);
const target = { epsilon: 1, delta: 1e-6 };
const probabilities = [0.25, 0.5, 0.75];
/** A row of a whole table has at most this many columns. */
const columnsMaximum = 10;

const oneDigit = (value) => Number(value.toPrecision(1));

function parametersFor(estimator, columns) {
  if (estimator === 'quantile') return { ...rangeOf(columns[0]), probabilities };
  // `shape` is a parameter of robust-mean alone.
  if (!needScale.has(estimator)) return { scale: 'auto', shape: 'any' };
  return { scale: columns.map(({ deviation }) => (deviation > 0 ? oneDigit(deviation) : 1)) };
}

/** The value at a share of the sorted numbers, as `quantile` defines it. */
const quantileOf = ({ sorted }, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** What each number of an answer should be, in the order of the answer. */
function truthsOf(estimator, columns) {
  if (estimator === 'quantile') return probabilities.map((share) => quantileOf(columns[0], share));
  // The Tukey median of one column is its median.
  if (estimator === 'tukey-median') return columns.map((column) => quantileOf(column, 0.5));
  return columns.map(({ mean }) => mean);
}

/** Contributors, each with a random row of the table. A row is whole or counts as missing. */
function cohortOf(columns, contributors, seed) {
  const { uniform } = randomOf(seed);
  const dimension = columns.length;
  const values = new Float64Array(contributors * dimension);
  const rows = columns[0].values.length;
  for (let i = 0; i < contributors; i++) {
    const row = Math.floor(uniform() * rows);
    for (let j = 0; j < dimension; j++) values[i * dimension + j] = columns[j].values[row];
  }
  return values;
}

/** The rows without a missing entry: those are the ones that contribute. */
const completeRows = (columns) => columns[0].values.flatMap((_, row) =>
  (columns.every(({ values }) => !Number.isNaN(values[row])) ? [row] : []));

/** The first columns of a table, with the means and deviations of complete rows. */
function wholeColumns(columns) {
  const used = columns.slice(0, columnsMaximum);
  const complete = completeRows(used);
  return used.map((column) => {
    const own = complete.map((row) => column.values[row]);
    const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
    const variance = own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / own.length;
    const deviation = Math.sqrt(variance);
    return {
      ...column, mean, deviation, unit: deviation > 0 ? deviation : Math.max(1, Math.abs(mean)),
    };
  });
}

const rounded = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : null);

/** One number of an answer beside the truth. Errors and half-widths are in the column's unit. */
function judged(outcome, at, truth, unit) {
  const estimate = outcome.estimate[at];
  const holds = (interval) => (interval === undefined
    ? null : interval.low[at] <= truth && truth <= interval.high[at]);
  const half = (interval) => (interval === undefined
    ? null : rounded((interval.high[at] - interval.low[at]) / 2 / unit));
  const { interval95, intervalIfHostile95 } = outcome;
  return {
    error: rounded(Math.abs(estimate - truth) / unit), half: half(interval95),
    isCovered: holds(interval95), halfIfHostile: half(intervalIfHostile95),
    isCoveredIfHostile: holds(intervalIfHostile95),
    scale: outcome.scale === undefined ? null : rounded(outcome.scale[at] / unit),
    findings: (outcome.findings ?? []).map(({ reason }) => reason),
  };
}

/** One release of one study. @returns a line for each number of its answer, or one in all. */
async function linesOf({ estimator, columns, contributors, seed, label }, table) {
  const at = { table, estimator, contributors, seed, study: label };
  const shape = { dimension: columns.length, contributors, corruption: 0.05 };
  const plan = planOf(estimator, shape, target, parametersFor(estimator, columns));
  if (typeof plan === 'string') return [{ ...at, kind: 'infeasible', text: plan }];
  const values = cohortOf(columns, contributors, `${table} ${label} ${contributors} ${seed}`);
  const outcome = await outcomeOf(plan, values, columns.length, {
    seed: `${estimator} ${table} ${label} ${contributors} ${seed}`, noise: 'seeded',
  });
  if (outcome.kind === 'refused') {
    // Plans need a quarter of the cohort. In a table, a public share of rows has an entry missing.
    const isForeseen = completeRows(columns).length < columns[0].values.length / 4;
    return [{ ...at, kind: 'refused', reason: outcome.reason, isForeseen }];
  }
  return truthsOf(estimator, columns).map((truth, k) => {
    const column = columns[estimator === 'quantile' ? 0 : k];
    const part = estimator === 'quantile' ? ` at ${probabilities[k]}` : '';
    return {
      ...at, kind: 'value', column: `${column.name}${part}`,
      ...judged(outcome, k, truth, column.unit),
    };
  });
}

function studiesOf({ columns }) {
  if (options.columns === 'each') {
    return columns.map((column) => ({ label: column.name, columns: [column] }));
  }
  return columns.length < 2 ? [] : [{ label: 'all columns', columns: wholeColumns(columns) }];
}

const keyOf = ({ table, study, estimator, contributors, seed }) =>
  [table, study, estimator, contributors, seed].join(' ');

function* wantedRuns(table) {
  const estimators = options.estimators === 'all' ? everyEstimator : options.estimators.split(',');
  for (const study of studiesOf(table)) {
    for (const contributors of options.contributors) {
      for (const estimator of estimators) {
        if (study.columns.length > 1 && estimator === 'quantile') continue;
        for (let seed = 0; seed < options.seeds; seed++) {
          yield { ...study, estimator, contributors, seed };
        }
      }
    }
  }
}

async function measure(kept) {
  const end = performance.now() + options.minutes * 60_000;
  const chosen = options.tables === 'all' ? null : options.tables.split(',');
  for (const entry of tables.filter(({ name }) => chosen === null || chosen.includes(name))) {
    const table = readTable(entry);
    for (const run of wantedRuns(table)) {
      if (performance.now() > end) return false;
      if (kept.has({ ...run, table: table.name, study: run.label })) continue;
      kept.add(await linesOf(run, table.name));
    }
  }
  return true;
}

const kept = keptLines(options.out, keyOf);
const isComplete = options.page !== null || await measure(kept);
await closePool();
console.log(isComplete ? 'every run is there' : 'time is up: run again with the same --out');
for (const text of verdictsOf(kept.lines)) console.log(text);
if (options.page !== null) {
  const read = tables.map((entry) => ({ ...entry, ...readTable(entry) }));
  writeFileSync(options.page, pageOf(kept.lines, read));
}
