// The distance of mixture and mixture-1d from known mixtures, in total variation.
import { randomOf } from './accuracy/data.js';
import { loadFlights } from '../dist/cli/data/flights.js';
import { lineDistribution } from '../dist/src/estimators/distributions/candidates/line.js';
import { closePool, planOf, release } from './accuracy/private.js';
import { optionsOf } from './harness/options.js';

const { seeds, only } =
  optionsOf('Total variation of mixture and mixture-1d from mixtures that are known.', {
    seeds: { usual: 10, tiny: 1, means: 'data sets for each case' },
    only: { usual: '', tiny: 'line: one', means: 'cases whose name holds this' },
  });
const target = { epsilon: 1, delta: 1e-6 };

/**
 * Lower triangular root of a covariance with these standard deviations and one correlation for
 * every two columns.
 */
function rootOf(deviations, correlation) {
  const d = deviations.length;
  const root = deviations.map(() => new Array(d).fill(0));
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let rest = (i === j ? 1 : correlation) * deviations[i] * deviations[j];
      for (let k = 0; k < j; k++) rest -= root[i][k] * root[j][k];
      root[i][j] = i === j ? Math.sqrt(rest) : rest / root[j][j];
    }
  }
  return root;
}

const part = (weight, mean, deviations, correlation = 0) =>
  ({ weight, mean, root: rootOf(deviations, correlation) });
const along = (d, f) => Array.from({ length: d }, (_, j) => f(j));
const line = (weight, mean, deviation) => part(weight, [mean], [deviation]);

const spread3 = [line(0.3, 0, 0.01), line(0.4, 5, 3), line(0.3, -4000, 1000)];
const inColumns = (d) => [
  part(0.3, along(d, () => 0), along(d, () => 1)),
  part(0.4, along(d, (j) => 8 - 3 * (j % 2)), along(d, () => 2), 0.5),
  part(0.3, along(d, (j) => (j % 2 ? 9 : -9)), along(d, () => 0.5), -0.15),
];
/** Name, contributors, requested components, parts, and the promised distance. */
const cases = [
  ['line: spreads 0.01 to 1000', 1e5, 3, spread3, 0.15],
  ['line: spreads 0.01 to 1000, fewer', 2e4, 3, spread3, 0.25],
  ['line: two at one place', 1e5, 3, [line(0.5, 2, 0.1), line(0.5, 2, 10)], 0.15],
  ['line: one', 1e5, 3, [line(1, 1e6, 2)], 0.15],
  ['d = 2, three apart', 1e5, 3, inColumns(2), 0.25],
  ['d = 2, spreads 0.01 to 1000', 1e5, 3, [
    part(0.3, [0, 0], [0.01, 0.02], 0.5), part(0.4, [5, 100], [3, 1], -0.6),
    part(0.3, [-4000, 3000], [1000, 300], 0.3),
  ], 0.25],
  [
    'd = 2, two at one place', 1e5, 3, [part(0.5, [2, 3], [0.1, 0.1]), part(0.5, [2, 3], [10, 10])],
    0.25,
  ],
  ['d = 2, overlapping', 1e5, 3, [
    part(0.35, [0, 0], [1, 1]), part(0.35, [2.5, 0], [1, 1], 0.7), part(0.3, [0, 3], [1, 2], -0.4),
  ], 0.25],
  ['d = 2, nearly a line each', 1e5, 3, [
    part(0.5, [0, 0], [1, 100], 0.999), part(0.5, [5, 20], [2, 40], -0.999),
  ], 0.25],
  ['d = 2, one', 1e5, 3, [part(1, [1e6, -3], [2, 0.1], 0.9)], 0.25],
  ['d = 2, half as many', 5e4, 3, inColumns(2), 0.25],
  ['d = 3, three apart', 1e5, 3, inColumns(3), 0.25],
  ['d = 4, three apart', 1e5, 3, inColumns(4), 0.25],
  ['d = 5, three apart', 2e5, 3, inColumns(5), 0.25],
  ['d = 6, three apart', 4e5, 3, inColumns(6), 0.25],
];

function drawInto(values, at, parts, random) {
  let rest = random.uniform();
  const { mean, root } = parts.find(({ weight }) => (rest -= weight) < 0) ?? parts[0];
  const z = mean.map(() => random.normal());
  for (const [i, entry] of mean.entries()) {
    values[at + i] = root[i].reduce((sum, own, k) => sum + own * z[k], entry);
  }
}

function density(parts, row) {
  return parts.reduce((sum, { weight, mean, root }) => {
    let log = Math.log(weight);
    const z = [];
    for (const [i, entry] of mean.entries()) {
      z[i] = (row[i] - entry - z.reduce((rest, own, k) => rest + root[i][k] * own, 0)) / root[i][i];
      log -= z[i] ** 2 / 2 + Math.log(root[i][i]);
    }
    return sum + Math.exp(log);
  }, 0);
}

/**
 * Total variation from 20,000 points of each: |p - q| / (p + q) over points half from p and half
 * from q.
 */
function variation(one, two, d) {
  const random = randomOf('points');
  const row = new Float64Array(d);
  let sum = 0;
  const points = 40_000;
  for (let i = 0; i < points; i++) {
    drawInto(row, 0, i % 2 ? one : two, random);
    const [p, q] = [density(one, row), density(two, row)];
    sum += p + q > 0 ? Math.abs(p - q) / (p + q) : 1;
  }
  return sum / points;
}

function partsFrom(estimate, components, d) {
  if (d === 1) {
    return along(components, (k) => line(estimate[3 * k], estimate[3 * k + 1], estimate[3 * k + 2]))
      .filter(({ weight }) => weight > 0);
  }
  return along(components, (k) => {
    const covariance =
      estimate.slice(components * (1 + d) + k * d * d, components * (1 + d) + (k + 1) * d * d);
    const deviations = along(d, (j) => Math.sqrt(covariance[j * d + j]));
    const root = along(d, () => new Array(d).fill(0));
    for (let i = 0; i < d; i++) {
      for (let j = 0; j <= i; j++) {
        let rest = covariance[i * d + j];
        for (let m = 0; m < j; m++) rest -= root[i][m] * root[j][m];
        root[i][j] = i === j ? Math.sqrt(rest) : rest / root[j][j];
      }
    }
    return { weight: estimate[k], mean: Array
      .from(estimate.slice(components + k * d, components + (k + 1) * d)), root, deviations };
  }).filter(({ weight }) => weight > 0);
}

for (const [name, contributors, components, parts, promised] of cases.filter(([name]) =>
  name.includes(only))) {
  const d = parts[0].mean.length;
  const extra = d === 1 ? { components, column: 0 } : { components };
  const plan = planOf(d === 1
    ? 'mixture-1d' : 'mixture', { dimension: d, contributors, corruption: 0 }, target, extra);
  if (typeof plan === 'string') {
    console.log(`${name}, ${contributors}: no plan: ${plan}`);
    continue;
  }
  const distances = [];
  let used = 0;
  for (let seed = 0; seed < seeds; seed++) {
    const random = randomOf(`${name} ${seed}`);
    const values = new Float64Array(contributors * d);
    for (let at = 0; at < values.length; at += d) drawInto(values, at, parts, random);
    const started = process.cpuUsage();
    const estimate = await release(plan, values, d, { seed: `${seed}`, noise: 'seeded' });
    const { user } = process.cpuUsage(started);
    used += user / 1e6 / seeds;
    distances.push(estimate === null
      ? NaN : variation(partsFrom(estimate, components, d), parts, d));
  }
  const good = distances.filter((distance) => distance <= promised).length;
  console.log(`${name}, ${contributors}: ${good} of ${seeds} within ${promised}; `
    + `${distances.map((distance) => distance.toFixed(3)).join(' ')}; planned `
    + `${plan.expectedError(0).total.toFixed(3)}; ${used.toFixed(1)} s of CPU each`);
}
/**
 * Largest gap between the fitted and the empirical distribution of the logarithms of positive
 * delays. Each delay is spread over its minute.
 */
async function delays(count) {
  const gaps = [];
  for (let seed = 0; seed < count; seed++) {
    const random = randomOf(`delays ${seed}`);
    const values = Float64Array.from(loadFlights().columns.delay.filter((delay) => delay > 0),
      (delay) => Math.log(delay - 0.5 + random.uniform()));
    const plan = planOf(
      'mixture-1d', { dimension: 1, contributors: values.length, corruption: 0 }, target,
      { column: 0 },
    );
    if (typeof plan === 'string') throw new Error(plan);
    const estimate = await release(plan, values, 1, { seed: `${seed}`, noise: 'seeded' });
    const components = along(estimate.length / 3, (k) => estimate.slice(3 * k, 3 * k + 3))
      .filter(([weight]) => weight > 0);
    const { cdf } = lineDistribution({
      kind: 'mixture', weights: components.map(([weight]) => weight),
      parts: components.map(([, mean, deviation]) => ({ kind: 'normal', mean, deviation })),
    });
    values.sort();
    gaps.push(values.reduce(
      (most, value, i) => Math.max(most, Math.abs(cdf(value) - (i + 0.5) / values.length)), 0,
    ));
    if (seed === 0) console.log(`line: logarithms of ${values.length} positive delays:`);
  }
  console.log('  largest gap of the distribution functions '
    + `${gaps.map((gap) => gap.toFixed(3)).join(' ')}`);
}

if ('line: delays'.includes(only)) await delays(seeds);
await closePool();
