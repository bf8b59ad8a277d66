// Every private mean and the quantiles on every numeric column of public tables. Same seeds, same
// figures.
import { writeFileSync } from 'node:fs';
import { closePool, outcomeOf, planOf } from '../accuracy/private.js';
import { randomOf } from '../accuracy/random.js';
import { optionsOf } from '../harness/options.js';
import { measuredRuns, piecesOptions } from '../harness/over-cores.js';
import { pageOf, recommended, verdictsOf } from './report.js';
import { rangeOf, readTable, tables } from './tables.js';

const options = optionsOf('Private means and quantiles of real columns.', {
  tables: { usual: 'all', tiny: 'political-contributions,penguins', means: 'names of tables' },
  contributors: {
    usual: [1e3, 1e4, 5e4, 2e5], tiny: [2e4], means: 'sizes of the cohorts, drawn from the table',
  },
  estimators: {
    usual: 'all', tiny: 'mean,quantile',
    means: 'names, or all: then those that are not recommended have --others and one seed',
  },
  others: { usual: 2e4, means: 'size of the cohort of estimators that are not recommended' },
  seeds: { usual: 3, tiny: 1, means: 'cohorts of each size' },
  columns: {
    usual: 'both', tiny: 'each',
    means: 'each (one study per column), whole (one per table) or both',
  },
  ...piecesOptions,
  page: { usual: null, means: 'file to write the report of all lines of --out into' },
});

const everyEstimator = [
  ...recommended, 'prime', 'stable-mean', 'populous-mean',
  'resilience', 'tukey-median', 'heavy-tailed',
];
/** These have no spread of their own: a person states an approximate deviation. */
const needSpread = new Set(['prime-heavy', 'heavy-tailed']);
const target = { epsilon: 1, delta: 1e-6 };
const probabilities = [0.25, 0.5, 0.75];
/** A row of a whole table has at most this many columns. */
const columnsMaximum = 10;

const oneDigit = (value) => Number(value.toPrecision(1));

function parametersFor(estimator, columns) {
  if (estimator === 'quantile') return { ...rangeOf(columns[0]), probabilities };
  // `shape` is a parameter of robust-mean alone.
  if (!needSpread.has(estimator)) return { spread: 'auto', shape: 'any' };
  return { spread: columns.map(({ deviation }) => (deviation > 0 ? oneDigit(deviation) : 1)) };
}

/** The value at a share of the sorted numbers, as `quantile` defines it. */
const quantileOf = ({ sorted }, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** The true value of each number of an answer, in the order of the answer. */
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

/** These findings state that the distance of a column's mean from the answer is unknown. */
const reasonsForNoInterval = new Set(['mostly-one-value', 'end-unseen']);

/**
 * One interval beside the truth. half: null where there is none, or where it has no end. holds:
 * null where there is none; an interval without an end holds nothing.
 */
function judgedInterval(interval, at, truth, unit) {
  if (interval === undefined) return { half: null, holds: null };
  const [low, high] = [interval.low[at], interval.high[at]];
  const isFinite = Number.isFinite(low) && Number.isFinite(high);
  return {
    half: isFinite ? rounded((high - low) / 2 / unit) : null,
    holds: isFinite && low <= truth && truth <= high,
  };
}

/** One number of an answer beside the truth. Errors and half-widths are in the column's unit. */
function judged(outcome, at, truth, unit) {
  const { interval95, intervalIfFalse95, spread, findings = [] } = outcome;
  const own = judgedInterval(interval95, at, truth, unit);
  const ifFalse = judgedInterval(intervalIfFalse95, at, truth, unit);
  const reasons = findings.filter(({ columns }) => columns.length === 0 || columns.includes(at))
    .map(({ reason }) => reason);
  return {
    error: rounded(Math.abs(outcome.estimate[at] - truth) / unit),
    half: own.half, isCovered: own.holds, halfIfFalse: ifFalse.half,
    isCoveredIfFalse: ifFalse.holds,
    spread: spread === undefined ? null : rounded(spread[at] / unit), findings: reasons,
    // True if the release explains why the interval has no end. null: it has both ends.
    saysWhy: own.holds !== null && own.half === null
      ? reasons.some((reason) => reasonsForNoInterval.has(reason)) : null,
  };
}

/** One release of one study. @returns a line for each number of its answer, or one in all. */
async function linesOf(run) {
  const { table, study, estimator, contributors, seed } = run;
  const at = { table, estimator, contributors, seed, study };
  const columns = columnsOf(run);
  const shape = { dimension: columns.length, contributors, corruption: 0.05 };
  const plan = planOf(estimator, shape, target, parametersFor(estimator, columns));
  if (typeof plan === 'string') return [{ ...at, kind: 'infeasible', text: plan }];
  const values = cohortOf(columns, contributors, `${table} ${study} ${contributors} ${seed}`);
  const outcome = await outcomeOf(plan, values, columns.length, {
    seed: `${estimator} ${table} ${study} ${contributors} ${seed}`, noise: 'seeded',
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

/** Each table is read once. */
const readTables = new Map();
function tableNamed(name) {
  if (!readTables.has(name)) {
    readTables.set(name, readTable(tables.find((entry) => entry.name === name)));
  }
  return readTables.get(name);
}

/** The studies of a table: of single columns, and of all together. */
function studiesOf({ columns }, kinds) {
  return [
    ...(kinds === 'whole' ? [] : columns.map(({ name }) => ({ study: name, isWhole: false }))),
    ...(kinds === 'each' || columns.length < 2 ? [] : [{ study: 'all columns', isWhole: true }]),
  ];
}

/** The columns of a run's study. Those of the last study are kept. */
let lastStudy = { name: null, columns: [] };
function columnsOf({ table, study, isWhole }) {
  const name = `${table} ${study}`;
  if (lastStudy.name !== name) {
    const { columns } = tableNamed(table);
    const own = isWhole ? wholeColumns(columns) : columns.filter((column) => column.name === study);
    lastStudy = { name, columns: own };
  }
  return lastStudy.columns;
}

const keyOf = ({ table, study, estimator, contributors, seed }) =>
  [table, study, estimator, contributors, seed].join(' ');

/** The estimators, each with the cohorts that it is measured on. */
function cohortsOfEstimators() {
  const isAll = options.estimators === 'all';
  return (isAll ? everyEstimator : options.estimators.split(',')).map((estimator) =>
    (isAll && !recommended.includes(estimator)
      ? { estimator, sizes: [options.others], seeds: 1 }
      : { estimator, sizes: options.contributors, seeds: options.seeds }));
}

function* wantedRuns() {
  const chosen = options.tables === 'all'
    ? tables.map(({ name }) => name) : options.tables.split(',');
  for (const { estimator, sizes, seeds } of cohortsOfEstimators()) {
    for (const table of chosen) {
      for (const study of studiesOf(tableNamed(table), options.columns)) {
        if (study.isWhole && estimator === 'quantile') continue;
        for (const contributors of sizes) {
          for (let seed = 0; seed < seeds; seed++) {
            yield { table, ...study, estimator, contributors, seed };
          }
        }
      }
    }
  }
}

const lines = await measuredRuns([...wantedRuns()], linesOf, keyOf, options);
await closePool();
for (const text of verdictsOf(lines)) console.log(text);
if (options.page !== null) {
  const read = tables.map((entry) => ({ ...entry, ...tableNamed(entry.name) }));
  writeFileSync(options.page, pageOf(lines, read));
}
