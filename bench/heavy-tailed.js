// Errors of the heavy-tailed estimators beside what their plans say, and beside the clipped mean on
// real delays. Needs the build: npm run bench:heavy [-- --part one | columns | flights]. Same
// seeds, same figures.
import { utf8 } from '../dist/src/base/bytes.js';
import { loadFlights } from '../dist/cli/data/flights.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { runOffline } from '../dist/src/estimators/run.js';
import { createMechanisms } from '../dist/src/privacy/mechanisms/index.js';
import { resolvePureTarget, privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { seededNoise } from '../dist/src/random/insecure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { optionsOf } from './options.js';

const {
  part, runs: repeats, contributors,
} = optionsOf('Errors of the heavy-tailed estimators beside their plans.', {
  part: { usual: 'all', means: 'one, columns, flights or all' },
  runs: { usual: 1, tiny: 0.01, means: 'this many times the usual number of runs' },
  contributors: {
    usual: 1, tiny: 0.2, means: 'this many times the usual number of rows (columns and flights)',
  },
});
/** At least two, so that there is a spread. */
const repeated = (usual) => Math.max(2, Math.round(repeats * usual));
const epsilonOne = privacyTarget({ epsilon: 1, delta: 1e-6 });

function planOf(name, raw, { dimension, cohort, target }) {
  const estimator = findEstimator(name);
  const plan = estimator.plan(parseParameters(estimator.parameters, raw, { dimension }),
    { dimension, cohort, participation: 'secret', target });
  if (plan.kind === 'infeasible') throw new Error(`${plan.reason}: ${plan.remedy}`);
  return plan;
}

async function release(plan, dimension, rows, seed) {
  const outcome = await runOffline({
    plan, dimension, rows, work: seededRandom(utf8(seed)),
    mechanisms: createMechanisms(plan.events, seededNoise(`${seed} noise`)),
    assignmentHashes: seededNoise(`${seed} tickets`),
  });
  if (outcome.kind === 'refused') throw new Error(outcome.text);
  return outcome.estimate;
}

function source(seed) {
  const work = seededRandom(utf8(seed));
  const uniform = () => 1 - work.uniform();
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  // The sum of three squared normals: an exponential of mean 2 and one square more.
  const student = () => normal() / Math.sqrt((-2 * Math.log(uniform()) + normal() ** 2) / 3);
  return { uniform, normal, student };
}

const sorted = (list) => [...list].sort((a, b) => a - b);
const middle = (list) => sorted(list)[Math.floor(list.length / 2)];
const short = (value) => value.toPrecision(3);

async function one() {
  const [cohort, runs, truth] = [10_000, repeated(200), 5_000];
  const target = resolvePureTarget({ epsilon: 1, delta: 0 });
  for (const groups of [9, 1]) {
    const raw = { privacy: 'pure', radius: 1e4, scale: Math.sqrt(3), groups };
    const plan = planOf('heavy-tailed-1d', raw, { dimension: 1, cohort, target });
    const errors = [];
    const trimmedErrors = [];
    for (let run = 0; run < runs; run++) {
      const { student } = source(`one ${run}`);
      const rows = Array.from({ length: cohort }, () => [truth + student()]);
      errors.push((await release(plan, 1, rows, `one ${groups} ${run}`))[0] - truth);
      const kept = sorted(rows.map(([value]) => value)).slice(0.05 * cohort, 0.95 * cohort);
      trimmedErrors.push(kept.reduce((sum, value) => sum + value, 0) / kept.length - truth);
    }
    const mean = errors.reduce((sum, error) => sum + error, 0) / runs;
    const deviation =
      Math.sqrt(errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / (runs - 1));
    const noise = plan.facts.noiseInScales * plan.facts.scale;
    const allowed = 3 * middle(trimmedErrors.map(Math.abs)) + noise;
    console.log(`t(3), n = ${cohort}, pure epsilon 1, ${groups} groups: mean of ${runs} runs off `
      + `by ${short(mean)} = ${short(mean / (deviation / Math.sqrt(runs)))} standard errors; `
      + 'median error '
      + `${short(middle(errors.map(Math.abs)))}, allowed ${short(allowed)}; plan ${short(
        plan.expectedError(0).total * plan.facts.scale)}`);
  }
}

const shapes = {
  'student t(3)': { draw: ({ student }) => student(), mean: 0, deviation: Math.sqrt(3) },
  'pareto(3)': {
    draw: ({ uniform }) => uniform() ** (-1 / 3), mean: 1.5, deviation: Math.sqrt(0.75),
  },
  lognormal: {
    draw: ({ normal }) => Math.exp(normal()), mean: Math.exp(0.5),
    deviation: Math.sqrt((Math.E - 1) * Math.E),
  },
};

async function columns() {
  const [dimension, cohort, seeds] = [20, contributors * 100_000, repeated(10)];
  for (const [name, { draw, mean, deviation }] of Object.entries(shapes)) {
    const plan =
      planOf('heavy-tailed', { scale: deviation }, { dimension, cohort, target: epsilonOne });
    for (const hostile of [0, 0.05]) {
      const ratios = [];
      const moves = [];
      const bound = plan.expectedError(hostile).total;
      for (let seed = 0; seed < seeds; seed++) {
        const random = source(`${name} ${seed}`);
        const rows =
          Array.from({ length: cohort }, (_, i) => Float64Array.from({ length: dimension },
            () => draw(random) + (i < hostile * cohort ? 1e6 : 0)));
        const estimate = await release(plan, dimension, rows, `${name} ${hostile} ${seed}`);
        const error = Math.hypot(...estimate.map((value) => value - mean)) / deviation;
        ratios.push(error / bound);
        moves.push(error);
      }
      const within = ratios.filter((ratio) => ratio <= (hostile === 0 ? 1.5 : 1)).length;
      console.log(`${name}, d = 20, n = ${cohort}, ${100 * hostile} % far: error `
        + `${short(middle(moves))} scales, plan says ${short(bound)}, largest ratio `
        + `${short(Math.max(...ratios))}, within bound ${within} of ${seeds}`);
    }
  }
}

async function flights() {
  const { delay } = loadFlights().columns;
  const truth = delay.reduce((sum, value) => sum + value, 0) / delay.length;
  for (const scale of [20, 40]) {
    for (const cohort of [2_000, 20_000, 200_000].map((usual) =>
      Math.max(2_000, contributors * usual))) {
      const line = [];
      for (const [name, raw] of [['heavy-tailed', { scale }], ['mean', { scale }]]) {
        const plan = planOf(name, raw, { dimension: 1, cohort, target: epsilonOne });
        let squares = 0;
        const runs = repeated(20);
        for (let run = 0; run < runs; run++) {
          const { uniform } = source(`flights ${cohort} ${run}`);
          const rows = Array.from({ length: cohort }, () =>
            [delay[Math.floor((1 - uniform()) * delay.length)]]);
          squares += ((await release(plan, 1, rows, `flights ${name} ${cohort} ${run}`))[0]
            - truth) ** 2 / runs;
        }
        line.push(`${name} errs by ${short(Math.sqrt(squares))} (plan `
          + `${short(scale * plan.expectedError(0).total)})`);
      }
      console.log(`flight delays (mean ${short(truth)} minutes), scale ${scale}, n = ${cohort}: `
        + `${line.join(', ')}`);
    }
  }
}

const parts = { one, columns, flights };
for (const name of part === 'all' ? Object.keys(parts) : [part]) await parts[name]();
