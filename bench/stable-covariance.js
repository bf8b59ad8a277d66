// Relative Frobenius errors of stable-covariance, and of covariance beside it, under every attack of the accuracy
// benchmark. Needs the build: npm run bench:stable-covariance [-- dimensions] [-- contributors] [-- seeds] [-- condition].
import { attacks, makeRows, randomOf } from './accuracy/data.js';
import { closePool, planOf, release } from './accuracy/private.js';

const [dimensions = '4,10', contributors = '1e5', seeds = '5', condition = '100'] = process.argv.slice(2);
const corruption = 0.05;
const target = { epsilon: 1, delta: 1e-6 };

/** A map whose singular values are spread over sqrt(condition), and what it makes of rows of covariance I. */
function mapOf(dimension, spread, seed) {
  const random = randomOf(`map ${seed}`);
  const rotation = () => {
    const rows = Array.from({ length: dimension }, () => Float64Array.from({ length: dimension }, () => random.normal()));
    rows.forEach((row, i) => {
      for (let k = 0; k < i; k++) {
        const along = row.reduce((sum, entry, j) => sum + entry * rows[k][j], 0);
        for (let j = 0; j < dimension; j++) row[j] -= along * rows[k][j];
      }
      const length = Math.hypot(...row);
      for (let j = 0; j < dimension; j++) row[j] /= length;
    });
    return rows;
  };
  const [left, right] = [rotation(), rotation()];
  const sizes = left.map((_, k) => spread ** (dimension === 1 ? 0 : k / (dimension - 1) / 2));
  return left.map((row) => Float64Array.from({ length: dimension }, (_, j) =>
    row.reduce((sum, entry, k) => sum + entry * sizes[k] * right[k][j], 0)));
}

/** || M^-1 S M^-T - I ||, M the map, by solving M X = S twice. */
function relativeError(estimate, map) {
  const dimension = map.length;
  const solve = (matrix) => {
    const a = map.map((row, i) => [...row, ...matrix[i]]);
    for (let k = 0; k < dimension; k++) {
      const pivot = a.reduce((best, row, i) => (i >= k && Math.abs(row[k]) > Math.abs(a[best][k]) ? i : best), k);
      [a[k], a[pivot]] = [a[pivot], a[k]];
      for (let i = 0; i < dimension; i++) {
        if (i === k) continue;
        const factor = a[i][k] / a[k][k];
        for (let j = k; j < 2 * dimension; j++) a[i][j] -= factor * a[k][j];
      }
    }
    return a.map((row, k) => row.slice(dimension).map((entry) => entry / row[k]));
  };
  const transpose = (matrix) => matrix.map((_, i) => matrix.map((row) => row[i]));
  const rows = Array.from({ length: dimension }, (_, i) => estimate.slice(i * dimension, (i + 1) * dimension));
  const whole = solve(transpose(solve(rows)));
  return Math.hypot(...whole.flatMap((row, i) => row.map((entry, j) => entry - (i === j ? 1 : 0))));
}

const sorted = (list) => [...list].sort((a, b) => a - b);
const described = (list) => (list.length === 0 ? 'refused'
  : `${sorted(list)[list.length >> 1].toFixed(3)} ${Math.max(...list).toFixed(3)}`);

for (const dimension of dimensions.split(',').map(Number)) {
  const shape = { dimension, contributors: Number(contributors), corruption };
  const plans = [['stable-covariance', { scale: 'auto', condition }], ['covariance', { 'variance-low': 1e-3 / Number(condition), 'variance-high': 100 * Number(condition) }]]
    .map(([name, parameters]) => ({ name, plan: planOf(name, shape, target, parameters) }));
  console.log(`\nd = ${dimension}, n = ${shape.contributors}, corruption ${corruption}, epsilon 1, delta 1e-6, condition `
    + `${condition}; relative Frobenius errors: median and worst of ${seeds}`);
  for (const { name, plan } of plans) {
    console.log(typeof plan === 'string' ? `${name}: ${plan}`
      : `${name}: promised ${plan.expectedError(0).total.toFixed(3)} clean, ${plan.expectedError(corruption).total.toFixed(3)} under attack`);
  }
  console.log(['attack', ...plans.map(({ name }) => name)].map((text) => text.padEnd(22)).join(''));
  for (const attack of Object.keys(attacks)) {
    const cells = plans.map(() => []);
    for (let seed = 0; seed < Number(seeds); seed++) {
      const { values } = makeRows(attack, { ...shape, corruption: attack === 'none' ? 0 : corruption, seed });
      const map = mapOf(dimension, Number(condition), seed);
      const mapped = new Float64Array(values.length);
      for (let at = 0; at < values.length; at += dimension) {
        for (let i = 0; i < dimension; i++) {
          let sum = 0;
          for (let j = 0; j < dimension; j++) sum += map[i][j] * values[at + j];
          mapped[at + i] = sum;
        }
      }
      for (const [k, { name, plan }] of plans.entries()) {
        if (typeof plan === 'string') continue;
        const estimate = await release(plan, mapped, dimension, { seed: `${seed} ${name}`, noise: 'seeded' });
        if (estimate !== null) cells[k].push(relativeError(estimate, map));
      }
    }
    console.log([attack, ...cells.map(described)].map((text) => text.padEnd(22)).join(''));
  }
}
await closePool();
