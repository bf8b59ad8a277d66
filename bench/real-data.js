// What the robust mean is worth on shapes that real columns have: each figure beside its bar. Needs
// the build: npm run bench:real-data [-- --part clean]. Same seeds, same figures.
import { loadFlights } from '../dist/cli/data/flights.js';
import { attacks, makeRows, shapes } from './accuracy/data.js';
import { closePool, outcomeOf, planOf } from './accuracy/private.js';
import { randomOf } from './accuracy/random.js';
import { barsOf, cellsOf } from './real-data-bars.js';
import { keptLines } from './kept-lines.js';
import { optionsOf } from './options.js';

const parts = ['clean', 'attacks', 'normal', 'diagnosis', 'flights'];
const options = optionsOf('Means of shapes that real columns have, beside their bars.', {
  part: { usual: 'all', means: `all, or some of ${parts.join(', ')}` },
  seeds: { usual: 5, tiny: 1, means: 'data sets of each attack; clean shapes have 4 times more' },
  contributors: { usual: 1e5, tiny: 4e3, means: 'rows under attack; clean shapes have a half' },
  dimension: { usual: 10, tiny: 2, means: 'columns' },
  estimator: { usual: 'robust-mean', means: 'any mean' },
  scale: { usual: 'auto', tiny: '1', means: 'auto or 1, the true deviation' },
  set: { usual: 'shape=any', means: 'more parameters, name=value, separated by commas' },
  rows: { usual: 'normal,exponential,lognormal,condition-1e4', tiny: 'normal',
    means: 'shapes under attack' },
  minutes: { usual: 1e3, means: 'ends after this long; --out keeps what there is' },
  out: { usual: null, means: 'file of results: one JSON line each; known ones are not run again' },
});
const target = { epsilon: 1, delta: 1e-6 };
/** What epsilon 1 and delta 1e-6 are as zCDP. */
const rho = 0.0244;

const settings = Object.fromEntries(options.set.split(',').map((text) => text.split('=', 2)));
const difference = (left, right) => left.map((entry, j) => entry - right[j]);
/** Every column has deviation 1. */
const distance = (left, right) => Math.hypot(...difference([...left], right));

/** The clipped mean about the true mean, with the true deviations and the noise of all rho. */
function clippedMean({ values, truth }, dimension, seed) {
  const count = values.length / dimension;
  const radius = 1.35 * Math.sqrt(dimension) + 3;
  const sums = new Float64Array(dimension);
  for (let at = 0; at < values.length; at += dimension) {
    let square = 0;
    for (let j = 0; j < dimension; j++) square += (values[at + j] - truth[j]) ** 2;
    const factor = Math.min(1, radius / Math.sqrt(square));
    for (let j = 0; j < dimension; j++) sums[j] += factor * (values[at + j] - truth[j]);
  }
  const { normal } = randomOf(`${seed} clipped mean`);
  const noise = 2 * radius / Math.sqrt(2 * rho);
  return truth.map((entry, j) => entry + (sums[j] + noise * normal()) / count);
}

/**
 * One release beside the truth. `error` is from the honest rows' mean, in deviations along
 * uncorrelated directions; `fromTruth` and `clipped` are in deviations of the columns.
 */
async function measured({ part, rows, attack, contributors, dimension, parameters, seed }, made) {
  const at = { part, rows, attack, contributors, dimension, seed };
  const shape = { dimension, contributors, corruption: 0.05 };
  const plan = planOf(options.estimator, shape, target, { scale: options.scale, ...parameters });
  if (typeof plan === 'string') return { ...at, kind: 'infeasible', text: plan };
  const outcome = await outcomeOf(plan, made.values, dimension, {
    seed: `${part} ${rows} ${attack} ${seed}`, noise: 'seeded',
  });
  if (outcome.kind === 'refused') return { ...at, kind: 'refused', reason: outcome.reason };
  const { estimate, interval95, intervalIfHostile95, radiusIfHostile95, scale, findings } = outcome;
  // The columns that an interval holds for. null: the release has no such interval.
  const holding = (interval) => (interval === undefined ? null : estimate.filter((_, j) =>
    interval.low[j] <= made.truth[j] && made.truth[j] <= interval.high[j]).length / dimension);
  const own = scale ?? estimate.map(() => 1);
  const inScales = Math.hypot(...difference(estimate, made.honestMean).map((entry, j) =>
    entry / own[j]));
  return {
    ...at, kind: 'value',
    error: Math.hypot(...made.inDeviations(difference(estimate, made.honestMean))),
    fromTruth: distance(estimate, made.truth),
    clipped: distance(clippedMean(made, dimension, seed), made.truth),
    holds: holding(interval95), holdsIfHostile: holding(intervalIfHostile95),
    radius: radiusIfHostile95 ?? null, inScales,
    scale: scale === undefined ? null : [Math.min(...scale), Math.max(...scale)],
    findings: findings === undefined ? null : findings.map(({ reason }) => reason),
  };
}

/** Flights in deviations of their columns, as rows of a benchmark. */
function flightRows(contributors, seed) {
  const columns = [loadFlights().columns.delay, loadFlights().columns.distance];
  const means = columns.map((column) =>
    column.reduce((sum, value) => sum + value, 0) / column.length);
  const deviations = columns.map((column, j) => Math.sqrt(
    column.reduce((sum, value) => sum + (value - means[j]) ** 2, 0) / column.length));
  const { uniform } = randomOf(`flights ${seed}`);
  const values = new Float64Array(2 * contributors);
  const sums = [0, 0];
  for (let i = 0; i < contributors; i++) {
    const row = Math.floor(uniform() * columns[0].length);
    for (let j = 0; j < 2; j++) {
      values[2 * i + j] = columns[j][row] / deviations[j];
      sums[j] += values[2 * i + j];
    }
  }
  return {
    values, truth: Float64Array.from(means, (mean, j) => mean / deviations[j]),
    honestMean: sums.map((sum) => sum / contributors), inDeviations: (entries) => [...entries],
  };
}

/** Every run of the parts that are wanted. */
function* wantedRuns() {
  const { seeds, contributors, dimension } = options;
  const run = (part, rows, attack, count, more = {}) =>
    Array.from({ length: more.seeds ?? seeds }, (_, seed) => ({
      part, rows, attack, contributors: count, dimension, parameters: settings, seed, ...more,
    }));
  const names = Object.keys(shapes).filter((name) => name !== 'pareto');
  const many = { seeds: 4 * seeds };
  for (const rows of names) yield* run('clean', rows, 'none', contributors / 2, many);
  for (const rows of options.rows.split(',')) {
    for (const attack of Object.keys(attacks)) yield* run('attacks', rows, attack, contributors);
  }
  for (const rows of ['normal', 'condition-1e4']) {
    for (const attack of Object.keys(attacks)) {
      yield* run('normal', rows, attack, contributors, { parameters: { shape: 'normal' } });
    }
  }
  for (const count of [contributors / 5, contributors]) {
    for (const rows of count === contributors
      ? ['normal', 'exponential', 'likert', 'bimodal'] : ['normal', 'lognormal', 'zero-inflated']) {
      yield* run('diagnosis', rows, 'none', count, many);
    }
  }
  yield* run('flights', 'flights', 'none', 2 * contributors, { ...many, dimension: 2 });
}

const keyOf = ({ part, rows, attack, contributors, dimension, seed }) =>
  [part, rows, attack, contributors, dimension, seed].join(' ');

async function measure(kept) {
  const end = performance.now() + options.minutes * 60_000;
  const chosen = options.part === 'all' ? parts : options.part.split(',');
  for (const run of wantedRuns()) {
    if (!chosen.includes(run.part) || kept.has(run)) continue;
    if (performance.now() > end) return false;
    const made = run.rows === 'flights' ? flightRows(run.contributors, run.seed)
      : makeRows(run.attack, { corruption: 0.05, ...run });
    kept.add([await measured(run, made)]);
  }
  return true;
}

const kept = keptLines(options.out, keyOf);
const isComplete = await measure(kept);
await closePool();
for (const text of cellsOf(kept.lines)) console.log(text);
console.log(isComplete ? 'every run is there' : 'time is up: run again with the same --out');
for (const text of barsOf(kept.lines)) console.log(text);
