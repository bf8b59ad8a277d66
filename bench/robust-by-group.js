// The accuracy of each way to answer "the usual value per group" when some people lie: the page
// docs/results/robust-by-group.md.
import { writeFileSync } from 'node:fs';
import { createMechanisms } from '../dist/src/privacy/mechanisms/index.js';
import { forEachKey } from '../dist/src/estimators/keyed/each.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { runOffline } from '../dist/src/estimators/run.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { analyticGaussianSigma } from '../dist/src/privacy/accounting/analytic-gaussian.js';
import { seededNoise } from '../dist/src/random/insecure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { randomOf } from './accuracy/data.js';
import { rootMeanSquare } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { tableLines } from './harness/pages.js';

const { people, runs, page } = optionsOf('Answers per group when some people lie.', {
  people: { usual: 100_000, tiny: 30_000, means: 'in all groups together' },
  runs: { usual: 5, tiny: 1, means: 'seeds' },
  page: { usual: null, means: 'file of the page' },
});
const keys = 8;
const highest = 240;
const delta = 1e-6;
/** The liars, their share in each key, and the share that robust-mean is asked to resist. */
const crowds = [
  ['nobody lies', () => 0, 0.05],
  ['2 % of each group lie', () => 0.02, 0.05],
  ['5 % of each group lie', () => 0.05, 0.05],
  ['all liars in the smallest group, 10 % of it', (key) => (key === keys - 1 ? 0.1 : 0), 0.1],
];

/** Sizes fall like 1/sqrt(k). Honest minutes are exponential; liars send the highest value. */
function dataOf(liars, seed) {
  const random = randomOf(seed);
  const weights = Array.from({ length: keys }, (_, key) => 1 / Math.sqrt(key + 1));
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const rows = [];
  const truth = weights.map((weight, key) => {
    const size = Math.round((people * weight) / all);
    const values = [];
    for (let person = 0; person < size; person++) {
      const isLiar = person < liars(key) * size;
      const minutes = Math.min(highest, -(10 + 5 * key) * Math.log(1 - random.uniform()));
      if (!isLiar) values.push(minutes);
      rows.push(Float64Array.of(key, isLiar ? highest : minutes));
    }
    values.sort((one, other) => one - other);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { mean, median: values[values.length >> 1] };
  });
  return { rows, truth };
}

/** Keelson's estimators, each under its own rule for neighbours: one person replaced. */
const ours = [
  ['Keelson `mean`, range 0..240', 'mean', { range: `0..${highest}` }, 'mean'],
  ['Keelson `robust-mean` for each group', 'robust-mean', {}, 'mean'],
  ['Keelson `quantile` for each group: the median', 'quantile',
    { range: `0..${highest}`, probabilities: [0.5] }, 'median'],
];

async function answerOf([, name, usual, of], { rows, truth }, corruption, epsilon, seed) {
  const found = findEstimator(name);
  const given = name === 'robust-mean' ? { ...usual, corruption } : usual;
  const estimator = found.keyed?.includes('public') ? found : forEachKey(found);
  const plan = estimator.plan(parseParameters(found.parameters, given, { dimension: 1 }), {
    dimension: 2, cohort: people, participation: 'secret',
    keys: { list: 'public', count: keys, groupsMax: 1 },
    target: privacyTarget({ epsilon, delta }),
  });
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  const outcome = await runOffline({
    plan, dimension: 2, rows,
    mechanisms: createMechanisms(plan.events, seededNoise(`${seed} noise`)),
    assignmentHashes: seededNoise(`${seed} hashes`), work: seededRandom(new Uint8Array(8)),
  });
  if (outcome.kind === 'refused') return truth.map(() => null);
  const interval = outcome.intervalIfFalse95 ?? outcome.interval95;
  return truth.map((exact, key) => (outcome.answered?.[key] === false ? null : {
    error: outcome.estimate[key] - exact[of],
    holds: interval !== undefined
      && interval.low[key] <= exact[of] && exact[of] <= interval.high[key],
    hasInterval: interval !== undefined,
  }));
}

/**
 * A sum and a count per key with noise, as Google's libraries and OpenDP make them: values are
 * clipped to 0..240, half of the privacy for each, neighbours one person more or less.
 */
function plainOf({ rows, truth }, epsilon, seed) {
  const random = randomOf(`${seed} plain`);
  const sums = new Float64Array(keys);
  const counts = new Float64Array(keys);
  for (const [key, value] of rows) {
    sums[key] += value;
    counts[key] += 1;
  }
  const sigma = analyticGaussianSigma(epsilon / 2, delta / 2);
  return truth.map(({ mean }, key) => {
    const count = counts[key] + sigma * random.normal();
    const estimate = (sums[key] + highest * sigma * random.normal()) / count;
    const half = 1.96 * sigma * Math.hypot(highest, estimate) / count;
    return { error: estimate - mean, holds: Math.abs(estimate - mean) <= half };
  });
}

function rowOf(name, epsilon, crowd, results) {
  const all = results.flat();
  const answered = all.filter((answer) => answer !== null);
  const worst = Math.max(...answered.map(({ error }) => Math.abs(error)));
  const root = rootMeanSquare(answered.map(({ error }) => error));
  const holds = answered.filter((answer) => answer.holds).length;
  return [name, epsilon, crowd, root.toFixed(2), worst.toFixed(2),
    answered.some(({ hasInterval }) => hasInterval === false)
      ? 'has none' : `${holds} of ${answered.length}`, `${all.length - answered.length}`];
}

const rows = [];
for (const [crowd, liars, corruption] of crowds) {
  for (const epsilon of [1, 2, 4]) {
    const sets = Array.from({ length: runs }, (_, run) => dataOf(liars, `${crowd} ${run}`));
    const seed = (run) => `${crowd} ${epsilon} ${run}`;
    rows.push(rowOf('plain sum over plain count', epsilon, crowd,
      sets.map((data, run) => plainOf(data, epsilon, seed(run)))));
    for (const way of ours) {
      const results = [];
      for (const [run, data] of sets.entries()) {
        results.push(await answerOf(way, data, corruption, epsilon, seed(run)));
      }
      rows.push(rowOf(way[0], epsilon, crowd, results));
    }
  }
}
const head = ['way', 'epsilon', 'who lies', 'error', 'worst group', 'interval holds', 'no answer'];
const table = tableLines(head, rows).join('\n');
console.log(table);
if (page !== null) {
  writeFileSync(page, `# Answers per group when people lie

How long a ride usually takes in each of ${keys} regions, in minutes, when some people lie. There are
${people.toLocaleString('en')} people, and each is in one region. The largest region has three times as many people as
the smallest. Honest minutes are exponential with means from 10 to 45. Liars send ${highest}, the highest value that is allowed.
Delta is 1e-6.

- **Plain sum over plain count** is what Google's differential privacy libraries and OpenDP offer for such a question. Values are
  clipped to 0..${highest}, and the sum and the count of each region get Gaussian noise, half of the privacy for each. The noise
  here is the smallest that the formulas allow, for neighbours with one person more or less. Its interval is of the noise alone.
- **Keelson's \`mean\`** with a range does the same for neighbours with one person replaced, which also hides in which region a
  person is. It promises nothing against liars.
- **Keelson's \`robust-mean\` and \`quantile\`** answer for each region by themselves. The interval of \`robust-mean\` is the one that
  holds if a twentieth of a region lies (a tenth in the last rows, by \`corruption: 0.1\`).

Errors are distances from the mean of the honest people of a region, and for the median from their median: the root mean square
over regions and ${runs} seeds, and the largest one. An interval holds when the honest value is in it.

${table}

\`npm run bench:pages -- robust-by-group --page docs/results/robust-by-group.md\` measures and writes this page.
`);
}
