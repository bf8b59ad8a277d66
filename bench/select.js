// How long select takes for long lists and many rows, and how often its promise holds. Needs the
// build: npm run bench:select [-- --rows 1000000] [-- --problems 100]; --rows 0: no timing.
import { randomOf } from './accuracy/data.js';
import { closePool, planOf, release } from './accuracy/private.js';
import { lineDistribution } from '../dist/src/estimators/distributions/candidates/line.js';
import { readLineShape } from '../dist/src/estimators/distributions/candidates/shapes.js';
import { optionsOf } from './options.js';

const { rows, problems, length } =
  optionsOf('Time of select for long lists, and how often its promise holds.', {
    rows: { usual: 1e6, tiny: 1e5, means: 'for the timing, 0 for none' },
    problems: { usual: 100, tiny: 2, means: 'whose answer is known' },
    length: { usual: 2000, tiny: 20, means: 'entries of the lists' },
  });
const target = { epsilon: 1, delta: 1e-6 };
const short = (value) => Number(value.toPrecision(4));
const normal = (mean, deviation) =>
  ({ normal: { mean: short(mean), deviation: short(deviation) } });

/** A list of mixtures at all scales, each of the requested number of normals. */
function listOf(length, normals, random) {
  return Array.from({ length }, () => {
    const parts = Array.from({ length: normals }, () =>
      normal(100 * random.normal(), 10 ** (4 * random.uniform() - 2)));
    return normals === 1 ? parts[0] : {
      mixture: { weights: normals === 3 ? [0.2, 0.3, 0.5] : parts.map(() => 1 / normals), parts },
    };
  });
}

async function timed(name, hypotheses, rows, dimension = 1) {
  const random = randomOf(`rows ${name}`);
  const values = new Float64Array(rows * dimension);
  for (let i = 0; i < values.length; i++) values[i] = 30 * random.normal();
  const plan = planOf(
    'select', { dimension, contributors: rows, corruption: 0 }, target, { hypotheses, alpha: 0.05 },
  );
  if (typeof plan === 'string') throw new Error(plan);
  const started = performance.now();
  const used = process.cpuUsage();
  await release(plan, values, dimension, { seed: name, noise: 'seeded' });
  const { user } = process.cpuUsage(used);
  console.log(`${name}, ${hypotheses.length} x ${rows}: `
    + `${((performance.now() - started) / 1000).toFixed(1)} s, ${(user / 1e6).toFixed(1)} s of `
    + 'CPU');
}

/** Largest difference of two distributions over all sets, from their densities on a fine grid. */
function variation(one, two) {
  const [left, right] = [one, two].map((shape) => lineDistribution(readLineShape(shape, 'x')));
  let sum = 0;
  const step = 0.01;
  for (let x = -60; x < 60;
      x += step) sum += Math.abs(Math.exp(left.logDensity(x)) - Math.exp(right.logDensity(x)));
  return (sum * step) / 2;
}

/**
 * Problems with a known answer: rows of one entry, with a share alpha of hostile rows at one place.
 */
async function promise(count) {
  const alpha = 0.05;
  let kept = 0;
  let worst = 0;
  for (let problem = 0; problem < count; problem++) {
    const random = randomOf(`problem ${problem}`);
    const list = Array.from({ length: 60 }, (_, i) => {
      const [place, width] = [4 * random.normal(), 0.5 + 2 * random.uniform()];
      if (i % 4 === 1) return { laplace: { centre: place, scale: width } };
      if (i % 4 === 2) return { student: { centre: place, scale: width, freedom: 3 } };
      if (i % 4 === 3) return {
        mixture: { weights: [0.5, 0.5], parts: [normal(place, width), normal(-place, 1)] },
      };
      return normal(place, width);
    });
    const contributors = 40_000;
    const plan = planOf(
      'select', { dimension: 1, contributors, corruption: alpha }, target,
      { hypotheses: list, alpha },
    );
    if (typeof plan === 'string') throw new Error(plan);
    const truth = list[Math.floor(random.uniform() * list.length)];
    const { sample } = lineDistribution(readLineShape(truth, 'x'));
    const hostile = 10 * random.normal();
    const values = Float64Array.from({ length: contributors }, () =>
      (random.uniform() < alpha ? hostile : sample({ uniform: random.uniform })));
    const answer = await release(plan, values, 1, { seed: `${problem}`, noise: 'seeded' });
    const distance = variation(list[answer[0]], truth);
    worst = Math.max(worst, distance);
    // The promise is 4 alpha from the distribution of all rows, hostile ones included, and 5 alpha
    // from the truth.
    if (distance <= 4 * alpha) kept += 1;
  }
  console.log(`promise: within ${4 * alpha} of the honest rows' distribution in ${kept} of `
    + `${count}; worst ${worst.toFixed(3)}`);
}

if (rows > 0) {
  const random = randomOf('lists');
  await timed('normals', listOf(length, 1, random), rows);
  await timed('mixtures of three', listOf(length, 3, random), rows);
  await timed('Student t', Array.from({ length }, () => (
    {
      student: {
        centre: 100 * random.normal(), scale: 10 ** (4 * random.uniform() - 2),
        freedom: 1 + 9 * random.uniform(),
      },
    })),
    rows);
  await timed('three columns', Array.from({ length: Math.min(length, 300) }, () => ({
    normal: {
      mean: [0, 1, 2].map(() => 50 * random.normal()),
      covariance: [[900, 0, 0], [0, 900, 200], [0, 200, 900]],
    },
  })), Math.min(rows, 1e5), 3);
}
await promise(problems);
await closePool();
