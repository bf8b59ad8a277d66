// Counts, totals, means and medians of 100 to 1,000,000 people, beside published mechanisms at the
// same promise. Same seeds, same figures.
import { estimateTable } from '../../dist/src/estimate.js';
import { parseParameters } from '../../dist/src/estimators/contract/parameters.js';
import { findEstimator } from '../../dist/src/estimators/registry.js';
import { analyticGaussianSigma } from '../../dist/src/privacy/accounting/analytic-gaussian.js';
import { targetAlone } from '../../dist/src/privacy/accounting/target.js';
import { seededNoise } from '../../dist/src/random/insecure.js';
import { seededRandom } from '../../dist/src/random/work.js';
import { randomOf } from '../accuracy/random.js';
import { rootMeanSquare } from '../harness/measure.js';
import { optionsOf } from '../harness/options.js';
import { tableLines, writePart } from '../harness/pages.js';
import { hasPython } from '../harness/processes.js';
import { estimatesOf, rho, steps } from './estimates.js';

const { people, runs, python, page } = optionsOf('Everyday questions beside others.', {
  people: { usual: [100, 1e3, 1e4, 1e5, 1e6], tiny: [1e3], means: 'in a release' },
  runs: { usual: 40, tiny: 2, means: 'releases of each figure; a fifth for 1,000,000 people' },
  python: { usual: 'python3', means: 'the interpreter that has numpy, for the means' },
  page: { usual: null, means: 'page whose table is written anew' },
});
/** Around the table of docs/results/peers.md. */
const marks = ['<!-- questions: made by npm run bench:pages -- peers-questions -->',
  '<!-- end of questions -->'];
const promise = { epsilon: 1, delta: 1e-6 };
const target = targetAlone(promise);
/** Values are normal about this, with this deviation. */
const [centre, deviation] = [50, 12];
/** Public bounds of the values: ten times as wide as the values, and a narrow one. */
const [wide, narrow] = [{ low: 0, high: 1_000 }, { low: 0, high: 100 }];
/** CoinPress and the shifted clipped mean are told a mean within so many deviations of 0. */
const reach = 1_000;

const clamp = ({ low, high }) => (value) => Math.min(high, Math.max(low, value));
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);
const medianOf = (values) => values.toSorted()[values.length >> 1];

async function answerOf(name, parameters, values, seed) {
  const estimator = findEstimator(name);
  const noise = seededNoise(seed);
  const outcome = await estimateTable({
    rows: { count: values.length, values: values.slice() }, dimension: 1, estimator, target,
    parameters: parseParameters(estimator.parameters, parameters, { dimension: 1 }),
    cohort: values.length, participation: 'secret', noise, assignmentHashes: noise,
    work: seededRandom(Buffer.from(seed)),
  });
  return outcome.kind === 'value' ? outcome.estimate[0] : null;
}

/** Laplace noise of a scale, as doubles: for measuring only. */
const laplace = ({ uniform }, scale) =>
  scale * Math.log(uniform()) * (uniform() < 0.5 ? -1 : 1);

/**
 * The exponential mechanism for a median in a public range (Smith 2011): a place between two
 * values weighs exp(-epsilon |rank - n / 2| / 2) times its length. One replaced row moves a rank
 * by at most 1.
 */
function exponentialMedian(values, { low, high }, random) {
  const edges = [low, ...values.map(clamp({ low, high })).sort(), high];
  const half = values.length / 2;
  const weights = edges.slice(1).map((edge, i) =>
    (edge - edges[i]) * Math.exp(-promise.epsilon * Math.abs(i - half) / 2));
  let left = sumOf(weights) * random.uniform();
  const place = weights.findIndex((weight) => (left -= weight) <= 0);
  return edges[place] + (edges[place + 1] - edges[place]) * random.uniform();
}

/**
 * The mean in a range as the libraries of Google compute it: the sum about the middle of the range
 * and the count have half of epsilon each.
 */
function halvedMean(values, range, random) {
  const middle = (range.low + range.high) / 2;
  const scale = 2 / promise.epsilon;
  const sum = sumOf(values.map((value) => clamp(range)(value) - middle))
    + laplace(random, scale * (range.high - range.low) / 2);
  const count = Math.max(1, values.length + laplace(random, scale));
  return clamp(range)(middle + sum / count);
}

const rangeText = ({ low, high }) => `${low}..${high}`;
const discreteLaplace = (scale) => {
  const q = Math.exp(-1 / scale);
  return Math.sqrt(2 * q) / (1 - q);
};
/** Noise of a total in a range: its sensitivity is the larger end. */
const ofTotal = (of) => of(Math.max(Math.abs(narrow.low), narrow.high));
const gaussian = (sensitivity) =>
  analyticGaussianSigma(promise.epsilon, promise.delta, sensitivity);
const plainLaplace = (sensitivity) => Math.SQRT2 * sensitivity / promise.epsilon;

/** By question: Keelson's answers, and those of others; a number is a formula for the error. */
const questions = [
  { name: 'count', truth: (values) => values.length, keelson: { '': ['count', {}] },
    peers: {
      'OpenDP, discrete Laplace': discreteLaplace(1 / promise.epsilon),
      'Google, Laplace': plainLaplace(1), 'Gaussian, best for delta': gaussian(1),
    } },
  { name: 'total in 0..100', truth: (values) => sumOf(values.map(clamp(narrow))),
    keelson: { 'with range': ['sum', { range: rangeText(narrow) }],
      'cap: auto, cap-max 1e6': ['sum', { cap: 'auto', 'cap-max': 1e6 }] },
    peers: {
      'OpenDP and Google, Laplace': ofTotal(plainLaplace),
      'Gaussian, best for delta': ofTotal(gaussian),
    } },
  { name: 'mean in 0..100', truth: (values) => sumOf(values.map(clamp(narrow))) / values.length,
    keelson: { 'with range': ['mean', { range: rangeText(narrow) }] },
    peers: {
      'Google, half of epsilon for the count': (values, random) =>
        halvedMean(values, narrow, random),
    } },
  { name: 'mean, nothing known', truth: (values) => sumOf(values) / values.length,
    keelson: { 'told nothing': ['mean', {}] }, isOfPorts: true, peers: {} },
  { name: 'median', truth: medianOf,
    keelson: { 'told nothing': ['median', {}],
      'with range 0..1000': ['median', { range: rangeText(wide) }] },
    peers: {
      'exponential mechanism in 0..1000': (values, random) =>
        exponentialMedian(values, wide, random),
    } },
];

/** Errors of CoinPress and the shifted clipped mean, told the deviation and a far bound. */
function portsOf(values, seed) {
  const runsOfPorts = [
    ...steps.map((count) =>
      ({ method: 'coinpress-mean', rho, radius: reach, steps: count, seed })),
    { method: 'shifted-clipped-mean', rho, radius: reach, seed },
  ];
  return estimatesOf(python, values.map((value) => value / deviation), 1, runsOfPorts)
    .map(([estimate]) => estimate * deviation);
}

async function errorsOf({ truth, keelson, peers, isOfPorts }, count, times) {
  const errors = new Map();
  const add = (name, error) => errors.set(name, [...(errors.get(name) ?? []), error]);
  for (let run = 0; run < times; run++) {
    const seed = `${count} ${run}`.padEnd(32);
    const random = randomOf(seed);
    const values = Float64Array.from({ length: count }, () =>
      centre + deviation * random.normal());
    const right = truth(values);
    for (const [told, [name, parameters]] of Object.entries(keelson)) {
      const answer = await answerOf(name, parameters, values, seed);
      add(`Keelson${told === '' ? '' : `, ${told}`}`, answer === null ? null : answer - right);
    }
    for (const [name, of] of Object.entries(peers)) {
      if (typeof of !== 'number') add(name, of(values, random) - right);
    }
    if (isOfPorts && hasPython('numpy', python)) {
      portsOf(values, run).forEach((answer, k) =>
        add(k < steps.length ? `${steps[k]}` : 'shifted clipped mean', answer - right));
    }
  }
  return withBest(errors);
}

/** The best number of steps of CoinPress, as if somebody knew it. */
function withBest(errors) {
  const tried = steps.flatMap((count) => errors.get(`${count}`) ?? []);
  if (tried.length === 0) return errors;
  const lists = steps.map((count) => errors.get(`${count}`));
  for (const count of steps) errors.delete(`${count}`);
  return errors.set('CoinPress, best of 4 steps', lists.reduce((one, two) =>
    (rootMeanSquare(one) <= rootMeanSquare(two) ? one : two)));
}

const figureOf = (list) => {
  const answered = list.filter((error) => error !== null);
  if (answered.length < list.length / 2) return 'no answer';
  return rootMeanSquare(answered).toPrecision(3);
};

const rows = [];
for (const question of questions) {
  const byCount = [];
  for (const count of people) {
    byCount.push(await errorsOf(question, count, count >= 1e6 ? Math.ceil(runs / 5) : runs));
  }
  const measured = [...byCount[0].keys()]
    .map((name) => [name, byCount.map((errors) => figureOf(errors.get(name)))]);
  const stated = Object.entries(question.peers).filter(([, of]) => typeof of === 'number')
    .map(([name, of]) => [`${name} (formula)`, people.map(() => of.toPrecision(3))]);
  rows.push(...[...measured, ...stated].map(([name, figures]) =>
    [question.name, name, ...figures]));
}
const lines = tableLines(
  ['question', 'by', ...people.map((count) => count.toLocaleString('en'))], rows);
console.log(lines.join('\n'));
if (page !== null) writePart(page, marks, `${lines.join('\n')}\n`);
