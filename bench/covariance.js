// Relative errors of covariance: from every row beside CoinPress's, within bounds 1e24 apart, after
// linear maps, and without bounds at the cohort that its plan names. Needs the build: npm run
// bench:covariance [-- --seeds 5] [-- --part rows].
import { findEstimator } from '../dist/src/estimators/registry.js';
import { createKernels } from '../dist/src/numerics/kernels/index.js';
import { makeRows } from './accuracy/data.js';
import { closePool, planOf, release } from './accuracy/private.js';
import { mapOf, mappedRows, relativeErrorMatrix } from './linear.js';
import { optionsOf } from './options.js';

const options = optionsOf('Relative spectral errors of covariance.', {
  seeds: { usual: 5, tiny: 1, means: 'data sets for each figure' },
  part: { usual: 'all', tiny: 'bounded', means: 'rows, bounded, unbounded or all' },
  contributors: { usual: 2e5, tiny: 2e4, means: 'rows within bounds' },
  dimensions: { usual: [5, 10], tiny: [2], means: 'columns of the rows within bounds' },
});
const { seeds, part, contributors: bounded } = options;
const target = { epsilon: 1, delta: 1e-6 };
const kernels = createKernels();

/** The eigenvalue of the relative error with the largest absolute value. */
function spectral(estimate, map) {
  const error = Float64Array.from(relativeErrorMatrix(estimate, map));
  const dimension = map.length;
  const symmetric = error.map((entry, at) =>
    (entry + error[(at % dimension) * dimension + Math.floor(at / dimension)]) / 2);
  const { values } = kernels.eigenSymmetric(symmetric, dimension);
  return Math.max(-values[0], values.at(-1));
}

const described = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return `median ${sorted[list.length >> 1].toFixed(3)}, worst ${sorted.at(-1).toFixed(3)} of `
    + `${list.length}`;
};

async function errors(plan, shape, mapFor, errorOf = spectral) {
  const list = [];
  for (let seed = 0; seed < seeds; seed++) {
    const { values } = makeRows('none', { ...shape, corruption: 0, seed });
    const map = mapFor(seed);
    const estimate = await release(
      plan, mappedRows(values, map), shape.dimension, { seed: `${seed}`, noise: 'seeded' },
    );
    list.push(estimate === null ? Infinity : errorOf(estimate, map));
  }
  return errorOf === spectral ? described(list)
    : Math.sqrt(list.reduce((sum, error) => sum + error ** 2, 0) / seeds).toFixed(4);
}

const frobenius = (estimate, map) => Math.hypot(...relativeErrorMatrix(estimate, map));

// Columns, rows, and errors of CoinPress with its best steps and bounds told, at condition 1, 31.
const beside = [
  [5, 5000, 0.208, 0.188], [5, 20000, 0.047, 0.046], [10, 8000, 0.55, 0.36],
  [10, 20000, 0.156, 0.136], [10, 100000, 0.036, 0.038],
];
const wanted = ['rows', 'all'].includes(part) ? beside : [];
for (const [dimension, contributors, ...told] of wanted) {
  const shape = { dimension, contributors, corruption: 0 };
  const plan = planOf('covariance', shape, target, { scale: 'auto' });
  if (typeof plan === 'string') throw new Error(plan);
  for (const [at, condition] of [1, 31, 1e4].entries()) {
    const mapFor = (seed) => mapOf(dimension, condition, seed);
    const found = await errors(plan, shape, mapFor, frobenius);
    console.log(`from every row, d = ${dimension}, n = ${contributors}, condition ${condition}: `
      + `relative Frobenius error ${found}, CoinPress ${told[at] ?? 'not run'}`);
  }
}

console.log('errors: || S^-1/2 (estimate) S^-1/2 - I || in spectral norm; epsilon 1, delta 1e-6');
const wide = { scale: 'auto', 'variance-low': 1e-12, 'variance-high': 1e12 };
for (const dimension of ['bounded', 'all'].includes(part) ? options.dimensions : []) {
  const shape = { dimension, contributors: bounded, corruption: 0 };
  const plan = planOf('covariance', shape, target, wide);
  if (typeof plan === 'string') {
    console.log(`bounded, d = ${dimension}: ${plan}`);
    continue;
  }
  // Variances from 1e-6 to 1e6, well within the bounds.
  for (const [name, condition, size] of [
    ['condition 1e12', 1e12, 1e-3], ['the same rows, smaller by 1e2', 1e12, 1e-5],
    ['condition 1', 1, 1],
  ]) {
    console.log(`bounded 1e-12..1e12, d = ${dimension}, n = ${bounded}, ${name}: `
      + await errors(plan, shape, (seed) => mapOf(dimension, condition, `${seed} ${name}`, size)));
  }
}
for (const dimension of ['unbounded', 'all'].includes(part) ? [2, 5, 10] : []) {
  const raw = { preconditioner: 'unbounded' };
  const few = findEstimator('covariance').name;
  const small = { dimension, contributors: 2e3, corruption: 0 };
  console.log(`unbounded, d = ${dimension}, n = 2e3: ${planOf(few, small, target, raw)}`);
  let contributors = small.contributors;
  while (typeof planOf(few, { ...small, contributors }, target, raw) === 'string') {
    contributors = Math.ceil(contributors * 1.1);
  }
  const shape = { ...small, contributors };
  // Groups know their matrices unless some column is a mixture of others to within a millionth.
  console.log(`unbounded, d = ${dimension}, n = ${contributors}, condition 1e4, variances about `
    + '1e-60: '
    + await errors(planOf(few, shape, target, raw), shape, (seed) =>
      mapOf(dimension, 1e4, seed, 1e-30)));
}
await closePool();
