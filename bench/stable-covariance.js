// Relative Frobenius errors of stable-covariance, and of covariance beside it, under every attack
// of the accuracy benchmark. Needs the build: npm run bench:stable-covariance [-- --dimensions
// 4,10] [-- --contributors 100000].
import { attacks, makeRows } from './accuracy/data.js';
import { closePool, planOf, release } from './accuracy/private.js';
import { mapOf, mappedRows, relativeErrorMatrix } from './linear.js';
import { optionsOf } from './options.js';

const {
  dimensions, contributors, seeds, condition,
} = optionsOf('Errors of both covariances under every attack.', {
  dimensions: { usual: [4, 10], tiny: [2], means: 'columns, a table each' },
  contributors: { usual: 1e5, tiny: 2e4, means: 'rows' },
  seeds: { usual: 5, tiny: 1, means: 'data sets for each figure' },
  condition: { usual: 100, means: 'largest over least deviation' },
});
const corruption = 0.05;
const target = { epsilon: 1, delta: 1e-6 };

const sorted = (list) => [...list].sort((a, b) => a - b);
const described = (list) => (list.length === 0 ? 'refused'
  : `${sorted(list)[list.length >> 1].toFixed(3)} ${Math.max(...list).toFixed(3)}`);

for (const dimension of dimensions) {
  const shape = { dimension, contributors, corruption };
  const plans = [
    ['stable-covariance', { scale: 'auto', condition }],
    ['covariance', { 'variance-low': 1e-3 / condition, 'variance-high': 100 * condition }],
  ]
    .map(([name, parameters]) => ({ name, plan: planOf(name, shape, target, parameters) }));
  console.log(`\nd = ${dimension}, n = ${shape.contributors}, corruption ${corruption}, epsilon 1, `
    + `delta 1e-6, condition ${condition}; relative Frobenius errors: median and worst of `
    + `${seeds}`);
  for (const { name, plan } of plans) {
    console.log(typeof plan === 'string' ? `${name}: ${plan}`
      : `${name}: promised ${plan.expectedError(0).total.toFixed(3)} clean, `
        + `${plan.expectedError(corruption).total.toFixed(3)} under attack`);
  }
  console.log(['attack', ...plans.map(({ name }) => name)].map((text) => text.padEnd(22)).join(''));
  for (const attack of Object.keys(attacks)) {
    const cells = plans.map(() => []);
    for (let seed = 0; seed < seeds; seed++) {
      const { values } =
        makeRows(attack, { ...shape, corruption: attack === 'none' ? 0 : corruption, seed });
      const map = mapOf(dimension, condition, seed);
      const mapped = mappedRows(values, map);
      for (const [k, { name, plan }] of plans.entries()) {
        if (typeof plan === 'string') continue;
        const estimate =
          await release(plan, mapped, dimension, { seed: `${seed} ${name}`, noise: 'seeded' });
        if (estimate !== null) cells[k].push(Math.hypot(...relativeErrorMatrix(estimate, map)));
      }
    }
    console.log([attack, ...cells.map(described)].map((text) => text.padEnd(22)).join(''));
  }
}
await closePool();
