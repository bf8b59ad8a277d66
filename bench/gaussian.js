// Total variation distance between the answer of `gaussian` and the truth, at the cohort that its
// plan proposes. Needs the build: npm run bench:gaussian [-- --part whole | plane | robust]. The
// same seeds give the same figures.
import { utf8 } from '../dist/src/base/bytes.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { runOffline } from '../dist/src/estimators/run.js';
import { createKernels } from '../dist/src/numerics/kernels/index.js';
import { createMechanisms } from '../dist/src/privacy/mechanisms/index.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { seededNoise } from '../dist/src/random/insecure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { optionsOf } from './options.js';

const kernels = createKernels();
const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
const {
  part: which, seeds, dimensions,
} = optionsOf('Total variation of gaussian at the cohorts that its plans propose.', {
  part: { usual: 'all', tiny: 'robust', means: 'whole, plane, robust or all' },
  seeds: { usual: 3, tiny: 1, means: 'data sets for each line' },
  dimensions: { usual: [2, 5], tiny: [2], means: 'columns' },
});

/** The plan at the cohort that a plan for a cohort of zero proposes. */
function planned(dimension, raw) {
  const estimator = findEstimator('gaussian');
  const parameters = parseParameters(estimator.parameters, raw, { dimension });
  const facts = (cohort) => ({ dimension, cohort, participation: 'secret', target });
  const cohort = estimator.plan(parameters, facts(64)).cohortNeeded;
  return { cohort, plan: estimator.plan(parameters, facts(cohort)) };
}

function normals(seed) {
  const work = seededRandom(utf8(seed));
  return () =>
    Math.sqrt(-2 * Math.log(1 - work.uniform())) * Math.cos(2 * Math.PI * work.uniform());
}

/** Orthonormal rows in random directions. */
function axesOf(dimension, normal) {
  return kernels
    .eigenSymmetric(new Float64Array(dimension ** 2).map(() => normal()), dimension).vectors;
}

/**
 * E max(0, 1 - q / p) over 40,000 points of the truth, in the coordinates of the rows of `axes`, in
 * which the truth is diagonal.
 */
function totalVariation({ axes, deviations, centre }, estimate, dimension, normal) {
  const rank = deviations.length;
  const along = (k, of) => Array.from({ length: dimension }, (_, j) =>
    axes[k * dimension + j] * of(j)).reduce((a, b) => a + b, 0);
  const mean =
    deviations.map((deviation, k) => along(k, (j) => estimate[j] - centre[j]) / deviation);
  const covariance = new Float64Array(rank ** 2).map((_, at) => {
    const [k, l] = [Math.floor(at / rank), at % rank];
    return along(k, (i) =>
      along(l, (j) => estimate[dimension + i * dimension + j])) / deviations[k] / deviations[l];
  });
  const { values, vectors } = kernels.eigenSymmetric(covariance, rank);
  const logVolume = values.reduce((sum, value) => sum + Math.log(value), 0);
  let sum = 0;
  for (let i = 0; i < 40_000; i++) {
    const point = deviations.map(() => normal());
    let logRatio = -logVolume / 2 + point.reduce((total, entry) => total + entry ** 2 / 2, 0);
    for (let k = 0; k < rank; k++) {
      const off =
        point.reduce((total, entry, j) => total + vectors[k * rank + j] * (entry - mean[j]), 0);
      logRatio -= off ** 2 / values[k] / 2;
    }
    sum += Math.max(0, 1 - Math.exp(logRatio));
  }
  return sum / 40_000;
}

async function measure(label, dimension, raw, truthOf, hostile = null) {
  const { cohort, plan } = planned(dimension, raw);
  const distances = [];
  for (let seed = 0; seed < seeds; seed++) {
    const name = `${label} ${dimension} ${seed}`;
    const normal = normals(name);
    const { truth, row } = truthOf(normal);
    const rows = Array.from({ length: cohort }, (_, i) =>
      (hostile !== null && i < 0.02 * cohort ? hostile(truth) : row()));
    const outcome = await runOffline({
      plan, dimension, rows, work: seededRandom(utf8(name)),
      mechanisms: createMechanisms(plan.events, seededNoise(`${name} noise`)),
      assignmentHashes: seededNoise(`${name} tickets`),
    });
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    distances.push(totalVariation(truth, outcome.estimate, dimension, normal));
  }
  const said = plan.expectedError(hostile === null ? 0 : 0.02).total;
  console.log(`${label}, ${dimension} columns, cohort ${cohort}: plan ${said.toFixed(3)}, measured `
    + `${distances.map((d) => d.toFixed(3)).join(' ')}`);
}

/** Variances from 1e6 down to 1e-6 in random directions, far from zero. */
function skewed(dimension) {
  return (normal) => {
    const axes = axesOf(dimension, normal);
    const deviations =
      Array.from({ length: dimension }, (_, k) => 10 ** (3 - (6 * k) / (dimension - 1)));
    const centre = new Float64Array(dimension).fill(100);
    const row = () => {
      const out = centre.slice();
      deviations.forEach((deviation, k) => {
        const step = deviation * normal();
        for (let j = 0; j < dimension; j++) out[j] += step * axes[k * dimension + j];
      });
      return out;
    };
    return { truth: { axes, deviations, centre }, row };
  };
}

/** Integers in the span of orthogonal integer rows, away from the origin. */
function plane(basis, spread, centre) {
  return (normal) => {
    const lengths = basis.map((each) => Math.hypot(...each));
    const axes =
      Float64Array.from(basis.flatMap((each, k) => each.map((entry) => entry / lengths[k])));
    const row = () => {
      const steps = spread.map((deviation) => Math.round(deviation * normal()));
      return centre.map((entry, j) =>
        entry + basis.reduce((sum, each, k) => sum + each[j] * steps[k], 0));
    };
    return {
      truth: { axes, deviations: spread.map((deviation, k) => deviation * lengths[k]), centre },
      row,
    };
  };
}

async function whole() {
  for (const dimension of dimensions) {
    const bounds = { 'variance-low': 1e-12, 'variance-high': 1e12 };
    await measure('whole', dimension, bounds, skewed(dimension));
    await measure('whole, split', dimension, { ...bounds, cohorts: 'split' }, skewed(dimension));
  }
}

async function inPlane() {
  const raw = { subspace: 'affine' };
  await measure('plane', 2, raw, plane([[3, 4]], [40], [7, -1]));
  const basis = [[1, 1, 0, 0, 0], [1, -1, 2, 0, 0], [0, 0, 0, 3, 4]];
  await measure('plane', 5, raw, plane(basis, [8, 20, 100], [5, 0, 0, 1000, 1]));
}

async function robust() {
  const raw = { 'variance-low': 1e-2, 'variance-high': 1e2, local: 'robust' };
  const round = (dimension) => (normal) => {
    const axes = axesOf(dimension, normal);
    const truth = {
      axes, deviations: Array.from({ length: dimension }, () => 1),
      centre: new Float64Array(dimension),
    };
    return { truth, row: () => Float64Array.from({ length: dimension }, () => normal()) };
  };
  for (const dimension of dimensions) {
    await measure('robust, 2 % far', dimension, raw, round(dimension), () =>
      Float64Array.from({ length: dimension }, () => 1e6));
    await measure('robust, 2 % near', dimension, raw, round(dimension), () =>
      Float64Array.from({ length: dimension }, (_, j) => (j === 0 ? 4 : 0)));
    await measure('robust, clean', dimension, raw, round(dimension));
  }
  const far = ({ axes, deviations, centre }) =>
    centre.map((entry, j) => entry + 1e3 * deviations[0] * axes[j]);
  await measure('robust, 2 % far, variances 1e12 apart', 2, { local: 'robust' }, skewed(2), far);
}

if (which === 'all' || which === 'whole') await whole();
if (which === 'all' || which === 'plane') await inPlane();
if (which === 'all' || which === 'robust') await robust();
