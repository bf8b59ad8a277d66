// Keelson beside two published private estimators: CoinPress (mean and covariance) and the shifted
// clipped mean of Huang, Liang and Yi. Needs python3 and numpy. Same seeds, same figures.
import { findEstimator } from '../../dist/src/estimators/registry.js';
import { makeRows } from '../accuracy/data.js';
import { closePool, planOf, release } from '../accuracy/private.js';
import { mapOf, mappedRows, relativeErrorMatrix } from '../linear.js';
import { rootMeanSquare } from '../harness/measure.js';
import { optionsOf } from '../harness/options.js';
import { tableLines, writePart } from '../harness/pages.js';
import { hasPython } from '../harness/processes.js';
import { estimatesOf, rho, steps } from './estimates.js';

const options = optionsOf('Keelson beside CoinPress and the shifted clipped mean.', {
  part: { usual: 'all', means: 'mean, covariance or all' },
  seeds: { usual: 11, tiny: 1, means: 'data sets for each figure' },
  contributors: { usual: [1e3, 1e4, 1e5], tiny: [5e3], means: 'rows for the mean' },
  covariances: { usual: [5, 2e4, 10, 2e4, 10, 1e5], tiny: [2, 2e4],
    means: 'columns and rows for the covariance, in pairs' },
  dimension: { usual: 10, tiny: 2, means: 'columns for the mean' },
  rows: { usual: 'normal,lognormal,gamma-correlated', tiny: 'lognormal', means: 'shapes' },
  python: { usual: 'python3', means: 'the interpreter that has numpy' },
  page: { usual: null, means: 'page whose tables are written anew' },
});
/** Around the tables of docs/results/peers.md. */
const marks = ['<!-- tables: made by npm run bench:pages -- peers -->', '<!-- end of tables -->'];
const target = { epsilon: 1, delta: 1e-6 };
/** The public bound that peers get: every mean is within this many deviations of 0. */
const reach = 10;

const short = (value) => (Number.isFinite(value) ? value.toPrecision(3) : 'refused');
const figureOf = (list) => (list.includes('no plan') ? 'no plan' : short(rootMeanSquare(list)));

function print(title, errors) {
  console.log(title);
  for (const [name, list] of errors) console.log(`  ${name.padEnd(44)} ${figureOf(list)}`);
}

/** A line for each setting, in Markdown. @param settings - { facts by name, errors by method }. */
function tableOf(settings) {
  const [{ facts, errors }] = settings;
  return tableLines([...Object.keys(facts), ...errors.keys()], settings.map((setting) =>
    [...Object.values(setting.facts), ...[...setting.errors.values()].map(figureOf)]));
}

const add = (errors, name, error) => errors.set(name, [...(errors.get(name) ?? []), error]);

/** The best number of steps, as if somebody knew it. */
function withBestSteps(errors) {
  const tried = steps.map((count) => errors.get(`CoinPress, ${count} steps`));
  for (const count of steps) errors.delete(`CoinPress, ${count} steps`);
  const best = tried.reduce((left, right) =>
    (rootMeanSquare(left) <= rootMeanSquare(right) ? left : right));
  return errors.set(`CoinPress, best of ${steps.length} steps`, best);
}

/**
 * Keelson's answers: with deviations that it finds or is given, and with the facts that peers get.
 */
function keelsonMeans() {
  const found = ['mean', 'robust-mean'].flatMap((name) => [
    { name, parameters: { spread: 'auto', shape: 'any' }, told: 'told nothing' },
    { name, parameters: { spread: '1', shape: 'any' }, told: 'told the deviations' },
  ]);
  const hasRange = (name) => findEstimator(name).parameters.some((known) => known.name === 'range');
  return [...found, ...['mean', 'robust-mean'].filter(hasRange).map((name) => ({
    name, parameters: { spread: '1', shape: 'any', range: `-${reach}..${reach}` },
    told: 'told the deviations and a range',
  }))];
}

async function means(rows, contributors) {
  const { dimension } = options;
  const shape = { rows, dimension, contributors, corruption: 0 };
  const errors = new Map();
  for (let seed = 0; seed < options.seeds; seed++) {
    const { values, truth, honestMean } = makeRows('none', { ...shape, seed });
    const off = (estimate) => Math.hypot(...estimate.map((entry, j) => entry - truth[j]));
    add(errors, 'mean of the rows, without privacy', off([...honestMean]));
    for (const { name, parameters, told } of keelsonMeans()) {
      const plan = planOf(name, shape, target, parameters);
      if (typeof plan === 'string') {
        add(errors, `${name}, ${told}`, 'no plan');
        continue;
      }
      const estimate = await release(plan, values, dimension, { seed: `${seed}`, noise: 'seeded' });
      add(errors, `${name}, ${told}`, estimate === null ? Infinity : off(estimate));
    }
    const radius = reach * Math.sqrt(dimension);
    const runs = [
      ...steps.map((count) => ({ method: 'coinpress-mean', rho, radius, steps: count, seed })),
      { method: 'shifted-clipped-mean', rho, radius, seed },
    ];
    estimatesOf(options.python, values, dimension, runs).forEach((estimate, k) =>
      add(errors, k < steps.length ? `CoinPress, ${steps[k]} steps` : 'shifted clipped mean',
        off(estimate)));
  }
  print(`mean, ${rows}, d = ${dimension}, n = ${contributors}; root mean square errors`,
    withBestSteps(errors));
  return { facts: { rows, n: contributors.toLocaleString('en') }, errors };
}

async function covariances(dimension, contributors, condition) {
  const shape = { dimension, contributors, corruption: 0 };
  const errors = new Map();
  for (let seed = 0; seed < options.seeds; seed++) {
    const map = mapOf(dimension, condition, `${seed} peers`);
    const values = mappedRows(makeRows('none', { ...shape, seed }).values, map);
    const off = (estimate) => Math.hypot(...relativeErrorMatrix(estimate, map));
    for (const [told, parameters] of [
      ['nothing', {}],
      ['the bounds', { 'variance-low': 1, 'variance-high': Math.max(2, condition) }],
    ]) {
      // Without a spread, planOf gives that of the accuracy benchmark, 1.
      const plan = planOf('covariance', shape, target, { spread: 'auto', ...parameters });
      const estimate = typeof plan === 'string'
        ? null : await release(plan, values, dimension, { seed: `${seed}`, noise: 'seeded' });
      add(errors, `covariance, told ${told}`, typeof plan === 'string' ? 'no plan'
        : estimate === null ? Infinity : off(estimate));
    }
    const runs = steps.map((count) =>
      ({ method: 'coinpress-covariance', rho, bound: condition, steps: count, seed }));
    estimatesOf(options.python, values, dimension, runs).forEach((found, k) =>
      add(errors, `CoinPress, ${steps[k]} steps`, off(found)));
  }
  print(`covariance, d = ${dimension}, n = ${contributors}, condition ${condition}; root mean square `
    + 'of relative Frobenius errors', withBestSteps(errors));
  return { facts: { d: dimension, n: contributors.toLocaleString('en'), condition }, errors };
}

async function measured() {
  const [ofMeans, ofCovariances] = [[], []];
  if (options.part !== 'covariance') {
    for (const rows of options.rows.split(',')) {
      for (const contributors of options.contributors) {
        ofMeans.push(await means(rows, contributors));
      }
    }
  }
  if (options.part !== 'mean') {
    for (let k = 0; k + 1 < options.covariances.length; k += 2) {
      for (const condition of [1, 31]) {
        ofCovariances.push(
          await covariances(options.covariances[k], options.covariances[k + 1], condition),
        );
      }
    }
  }
  return [ofMeans, ofCovariances];
}

/** Both tables, for the page. */
const tablesOf = ([ofMeans, ofCovariances]) => [
  `Means in ${options.dimension} columns: distances from the true mean in deviations of the columns, `
    + `root mean square of ${options.seeds} data sets.`,
  '', ...tableOf(ofMeans), '',
  `Covariances: relative Frobenius errors, root mean square of ${options.seeds} data sets.`,
  '', ...tableOf(ofCovariances), '',
].join('\n');

if (options.page !== null && options.part !== 'all') {
  console.error('--page writes all tables: leave out --part');
  process.exitCode = 2;
} else if (!hasPython('numpy', options.python)) {
  console.log(`peers are left out: ${options.python} has no numpy (on Debian: python3-numpy)`);
} else {
  const settings = await measured();
  if (options.page !== null) writePart(options.page, marks, tablesOf(settings));
}
await closePool();
