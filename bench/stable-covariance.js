// Relative Frobenius errors of stable-covariance, and of covariance beside it, under every attack of the accuracy
// benchmark. Needs the build: npm run bench:stable-covariance [-- dimensions] [-- contributors] [-- seeds] [-- condition].
import { attacks, makeRows } from './accuracy/data.js';
import { closePool, planOf, release } from './accuracy/private.js';
import { mapOf, mappedRows, relativeErrorMatrix } from './linear.js';

const [dimensions = '4,10', contributors = '1e5', seeds = '5', condition = '100'] = process.argv.slice(2);
const corruption = 0.05;
const target = { epsilon: 1, delta: 1e-6 };

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
      const mapped = mappedRows(values, map);
      for (const [k, { name, plan }] of plans.entries()) {
        if (typeof plan === 'string') continue;
        const estimate = await release(plan, mapped, dimension, { seed: `${seed} ${name}`, noise: 'seeded' });
        if (estimate !== null) cells[k].push(Math.hypot(...relativeErrorMatrix(estimate, map)));
      }
    }
    console.log([attack, ...cells.map(described)].map((text) => text.padEnd(22)).join(''));
  }
}
await closePool();
