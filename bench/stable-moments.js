// Does stable-moments tell a uniform, a normal and a Laplace column apart by their kurtosis, also
// with far rows? Needs the build: npm run bench:stable-moments [-- --seeds 20] [-- --contributors
// 200000].
import { randomOf } from './accuracy/data.js';
import { closePool, planOf, release } from './accuracy/private.js';
import { optionsOf } from './options.js';

const { seeds, contributors } =
  optionsOf('Whether stable-moments tells three columns apart by their kurtosis.', {
    seeds: { usual: 20, tiny: 1, means: 'data sets for each line' },
    contributors: { usual: 2e5, tiny: 1e5, means: 'rows' },
  });
const target = { epsilon: 1, delta: 1e-6 };

for (const far of [0, 0.02]) {
  const plan = planOf(
    'stable-moments', { dimension: 3, contributors, corruption: far }, target,
    // What the Laplace column needs; guarded against nobody, nothing is needed.
    { scale: 'auto', ...(far === 0 ? {} : { tails: 12 }) },
  );
  if (typeof plan === 'string') throw new Error(plan);
  let right = 0;
  const all = [[], [], []];
  for (let seed = 0; seed < seeds; seed++) {
    const random = randomOf(`moments ${seed}`);
    const values = new Float64Array(3 * contributors);
    for (let at = 0; at < values.length; at += 3) {
      if (random.uniform() < far) {
        values.fill(1000, at, at + 3);
        continue;
      }
      values[at] = Math.sqrt(12) * (random.uniform() - 0.5);
      values[at + 1] = 5 + 10 * random.normal();
      values[at + 2] =
        (Math.sign(random.uniform() - 0.5) * Math.log(random.uniform())) / Math.SQRT2;
    }
    const estimate = await release(plan, values, 3, { seed: `${seed}`, noise: 'seeded' });
    if (estimate === null) continue;
    const kurtosis = estimate.slice(-3);
    kurtosis.forEach((entry, k) => all[k].push(entry));
    right += kurtosis[0] < -0.6 && Math.abs(kurtosis[1]) < 0.6 && kurtosis[2] > 1.2 ? 1 : 0;
  }
  const range = (list) => `${Math.min(...list).toFixed(2)} to ${Math.max(...list).toFixed(2)}`;
  console.log(`${100 * far} % at 1000: told apart in ${right} of ${seeds}; excess kurtosis of the `
    + `uniform column ${range(all[0])}, of the normal one ${range(all[1])}, of the Laplace one `
    + `${range(all[2])}`);
}
await closePool();
