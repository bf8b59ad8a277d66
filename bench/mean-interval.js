// The interval of the mean of one column: how often it holds the truth, has both ends, and how wide
// it is, for clean rows and for clusters that stand apart.
import { estimateTable } from '../dist/src/estimate.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { seededNoise } from '../dist/src/random/insecure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { randomOf } from './accuracy/data.js';
import { optionsOf } from './harness/options.js';

const { people, runs, set, tiny } = optionsOf('The interval of the mean of one column.', {
  people: { usual: [10_000, 30_000], tiny: [10_000], means: 'in a release' },
  runs: { usual: 100, tiny: 2, means: 'releases of each kind of rows' },
  set: { usual: 'clean', means: 'clean, held or clusters' },
});
const mean = findEstimator('mean');
const target = privacyTarget({ epsilon: 1, delta: 1e-6 });

const exponential = ({ uniform }) => -Math.log(1 - uniform());
const lognormal = (width) => ({ normal }) => Math.exp(width * normal());
const pareto = (order) => ({ uniform }) => (1 - uniform()) ** (-1 / order) - 1;
const laplace = (random) => (random.uniform() < 0.5 ? -1 : 1) * exponential(random);
/** Of whole or half degrees: normal over the root of a mean square. */
const student = (degrees) => ({ normal }) => {
  let square = 0;
  for (let i = 0; i < degrees; i++) square += normal() ** 2;
  return normal() / Math.sqrt(square / degrees);
};
/** Rows of each shape with the mean of its law; null: that of the table itself. */
const clean = {
  normal: [({ normal }) => normal(), 0],
  exponential: [exponential, 1],
  'lognormal 1': [lognormal(1), Math.exp(0.5)],
  'lognormal 1.5': [lognormal(1.5), Math.exp(1.125)],
  'lognormal 2': [lognormal(2), null],
  't 3': [student(3), 0],
  'pareto 1.5': [pareto(1.5), null],
  'pareto 2': [pareto(2), null],
  'pareto 2.5': [pareto(2.5), 1 / 1.5],
  '90 % zeros': [(random) => (random.uniform() < 0.1 ? exponential(random) : 0), 0.1],
  '50 % zeros': [(random) => (random.uniform() < 0.5 ? lognormal(1)(random) : 0),
    Math.exp(0.5) / 2],
  uniform: [({ uniform }) => uniform(), 0.5],
  bimodal: [({ uniform, normal }) => (uniform() < 0.3 ? -2 + normal() / 2 : 1 + normal() / 2),
    0.1],
};
const held = {
  laplace: [laplace, 0],
  'weibull .6': [(random) => exponential(random) ** (1 / 0.6), 1.504575488251556],
  'weibull 2': [(random) => Math.sqrt(exponential(random)), Math.sqrt(Math.PI) / 2],
  'log-logistic 3': [({ uniform }) => (1 / (1 - uniform()) - 1) ** (1 / 3),
    (Math.PI / 3) / Math.sin(Math.PI / 3)],
  't 5': [student(5), 0],
  '5 % at 8': [({ uniform, normal }) => (uniform() < 0.05 ? 8 + 3 * normal() : normal()), 0.4],
  triangle: [({ uniform }) => uniform() + uniform(), 1],
  'steps of 5': [({ normal }) => 5 * Math.round(3 * normal()), 0],
  'sum of two': [(random) => exponential(random) - exponential(random) / 2, 0.5],
  'cubed normal': [({ normal }) => normal() ** 3, 0],
};

/** A crowd of some people at a distance, or over an octave about it, or at it on both sides. */
const crowd = (base, count, distance, kind) => (random, i) => {
  if (i >= count) return base(random);
  const place = kind === 'octave' ? distance * 2 ** (random.uniform() - 0.5) : distance;
  return kind === 'two-sided' && random.uniform() < 0.5 ? -place : place;
};
const clusters = Object.fromEntries([10, 100, 1e4, 1e7].flatMap((distance) => [
  ['point', 1.3], ['octave', 1.8], ['two-sided', 1.8],
].map(([kind, times]) => [`${kind} at ${distance}`,
  [crowd(clean.normal[0], Math.ceil(52 * times), distance, kind), null]])));

function unitOf(entry) {
  const random = randomOf('unit');
  const sample = Float64Array.from({ length: 40_000 }, () => entry(random, Infinity)).sort();
  const middle = (sample[30_000] - sample[10_000]) / 1.349;
  const average = sample.reduce((sum, value) => sum + value, 0) / sample.length;
  return middle > 1e-9 ? middle
    : Math.sqrt(sample.reduce((sum, value) => sum + (value - average) ** 2, 0) / sample.length);
}

async function measured([name, [entry, law]], count) {
  const spread = unitOf(entry);
  const parameters = parseParameters(mean.parameters, { spread }, { dimension: 1 });
  const found = { held: 0, finite: 0, squares: 0, widths: [], clusters: 0 };
  for (let run = 0; run < runs; run++) {
    const seed = `${name} ${count} ${run}`;
    const random = randomOf(seed);
    const values = Float64Array.from({ length: count }, (_, i) => entry(random, i));
    const truth = law ?? values.reduce((sum, value) => sum + value, 0) / count;
    const noise = seededNoise(seed);
    const outcome = await estimateTable({
      rows: { count, values }, dimension: 1, estimator: mean, target, parameters, cohort: count,
      participation: 'secret', noise, assignmentHashes: noise,
      work: seededRandom(Buffer.from(seed)),
    });
    if (outcome.kind !== 'value') continue;
    const { estimate: [estimate], interval95: { low: [low], high: [high] } } = outcome;
    found.squares += ((estimate - truth) / spread) ** 2 / runs;
    found.clusters += Number((outcome.findings ?? [])
      .some(({ reason }) => reason === 'cluster-far'));
    found.held += Number(low <= truth && truth <= high);
    if (high - low < Infinity) {
      found.finite += 1;
      found.widths.push((high - low) / 2 / spread);
    }
  }
  return found;
}

for (const count of people) {
  const ratios = [];
  let [allHeld, all] = [0, 0];
  for (const kind of Object.entries({ clean, held, clusters }[set])) {
    const { held: holds, finite, squares, widths, clusters } = await measured(kind, count);
    const rms = Math.sqrt(squares);
    const half = widths.sort((one, two) => one - two)[widths.length >> 1] ?? NaN;
    const ratio = half / (1.96 * rms);
    ratios.push(ratio);
    allHeld += holds;
    all += runs;
    console.log([
      String(count).padStart(7), kind[0].padEnd(18), `rms ${rms.toFixed(4)}`,
      `held ${(holds / runs).toFixed(3)}`, `finite ${(finite / runs).toFixed(3)}`,
      `half ${half.toFixed(4)}`, `ratio ${ratio.toFixed(2)}`,
      `cluster-far ${(clusters / runs).toFixed(2)}`,
    ].join('  '));
  }
  const middle = ratios.sort((one, two) => one - two)[ratios.length >> 1];
  console.log(`${count}: held over all ${(allHeld / all).toFixed(4)}, median ratio `
    + `${middle.toFixed(2)}${tiny ? ' (tiny)' : ''}`);
}
