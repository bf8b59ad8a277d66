// The interval of a mean, a total or a median of one column: how often it holds the truth, has both
// ends, and how wide it is, for shapes, for groups that stand apart, and for public tables.
import { estimateTable, planTable } from '../dist/src/estimate.js';
import { parseParameters } from '../dist/src/estimators/contract/parameters.js';
import { findEstimator } from '../dist/src/estimators/registry.js';
import { targetAlone } from '../dist/src/privacy/accounting/target.js';
import { seededNoise } from '../dist/src/random/insecure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { randomOf } from './accuracy/data.js';
import { optionsOf } from './harness/options.js';
import { kindsOf, largeSample } from './intervals/kinds.js';

const { question, people, runs, set, epsilon, delta, tiny } = optionsOf(
  'The interval of a mean, a total or a median of one column.', {
    question: { usual: 'mean', means: 'mean, total (cap: auto) or median' },
    people: { usual: [10_000, 30_000], tiny: [10_000], means: 'in a release' },
    runs: { usual: 100, tiny: 2, means: 'releases of each kind of rows' },
    set: { usual: 'clean', means: 'clean, held, totals, clusters or real' },
    epsilon: { usual: 1, means: 'of a release' },
    delta: { usual: 1e-6, means: 'of a release; 0 for a total or a median is pure' },
  });
const target = targetAlone({ epsilon, delta });
const mean = findEstimator('mean');
/** A group of so many is seen by a mean, which needs a delta, and people enough. */
const seenFrom = () => planTable({
  rows: { count: people[0] }, dimension: 1, estimator: mean, participation: 'secret',
  target: targetAlone({ epsilon, delta: delta || 1e-6 }),
  parameters: parseParameters(mean.parameters, { spread: 1 }, { dimension: 1 }),
}).facts.clusterSeenFrom;
const sampleSize = tiny ? 100_000 : 2_000_000;

const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);
const meanOf = (values) => sumOf(values) / values.length;

/** The usual width of sorted entries: from their quartiles, or their deviation where they meet. */
function widthOf(sorted) {
  const at = (share) => sorted[Math.floor(share * sorted.length)];
  const middle = (at(0.75) - at(0.25)) / 1.349;
  const average = meanOf(sorted);
  return middle > 1e-9 * Math.abs(at(0.75)) ? middle
    : Math.sqrt(meanOf(sorted.map((value) => (value - average) ** 2)));
}

/**
 * What is asked, by question, of a kind of rows: how an entry is drawn, what the estimator is told,
 * and the truth of the rows of one release. `unit` is that of the printed errors.
 */
const asked = {
  mean([entry, law], sorted) {
    const unit = widthOf(sorted);
    return {
      estimator: 'mean', entry, unit: () => unit,
      // Whoever has a table knows no spread.
      parameters: { spread: set === 'real' ? 'auto' : unit },
      truth: (values) => law ?? meanOf(values),
    };
  },
  total([entry], sorted) {
    // No value is negative. A table's largest is a guess of its owner, some ten times too large.
    const unit = set === 'real' ? 1 : 100 / (widthOf(sorted) || 1);
    const capMax = set === 'real'
      ? 10 ** Math.ceil(Math.log10(sorted.at(-1)) + 0.5) : 1e7;
    return {
      estimator: 'sum', entry: (random, i) => Math.min(capMax, unit * Math.abs(entry(random, i))),
      unit: sumOf, parameters: { cap: 'auto', 'cap-max': capMax }, truth: sumOf,
    };
  },
  median([entry], sorted) {
    const [unit, truth] = [widthOf(sorted), sorted[sorted.length >> 1]];
    return {
      estimator: 'median', entry, unit: () => unit, parameters: {}, truth: () => truth,
    };
  },
}[question];

async function measured([name, kind], count) {
  const { estimator, entry, unit, parameters, truth } =
    asked(kind, largeSample(kind[0], sampleSize));
  const asks = findEstimator(estimator);
  const found = { answered: 0, held: 0, finite: 0, squares: 0, widths: [], clusters: 0 };
  for (let run = 0; run < runs; run++) {
    const seed = `${name} ${count} ${run}`;
    const random = randomOf(seed);
    const values = Float64Array.from({ length: count }, (_, i) => entry(random, i));
    const [right, scale] = [truth(values), unit(values)];
    const noise = seededNoise(seed);
    const outcome = await estimateTable({
      rows: { count, values }, dimension: 1, estimator: asks, target, cohort: count,
      parameters: parseParameters(asks.parameters, parameters, { dimension: 1 }),
      participation: 'secret', noise, assignmentHashes: noise,
      work: seededRandom(Buffer.from(seed)),
    });
    if (outcome.kind !== 'value') continue;
    const { estimate: [estimate], interval95 } = outcome;
    const [low, high] = [interval95?.low[0] ?? -Infinity, interval95?.high[0] ?? Infinity];
    found.answered += 1;
    found.squares += ((estimate - right) / scale) ** 2;
    found.clusters += Number((outcome.findings ?? [])
      .some(({ reason }) => reason === 'cluster-far'));
    found.held += Number(low <= right && right <= high);
    if (high - low < Infinity) {
      found.finite += 1;
      found.widths.push((high - low) / 2 / scale);
    }
  }
  return found;
}

for (const count of people) {
  const ratios = [];
  let [allHeld, all] = [0, 0];
  for (const kind of Object.entries(kindsOf(set, seenFrom))) {
    const { answered, held, finite, squares, widths, clusters } = await measured(kind, count);
    const rms = Math.sqrt(squares / answered);
    const half = widths.sort((one, two) => one - two)[widths.length >> 1] ?? NaN;
    const ratio = half / (1.96 * rms);
    if (Number.isFinite(ratio)) ratios.push(ratio);
    allHeld += held;
    all += answered;
    console.log([
      String(count).padStart(7), kind[0].padEnd(34), `answered ${(answered / runs).toFixed(3)}`,
      `rms ${rms.toPrecision(3)}`,
      `held ${(held / answered).toFixed(3)}`, `finite ${(finite / answered).toFixed(3)}`,
      `half ${half.toPrecision(3)}`, `ratio ${ratio.toFixed(2)}`,
      `cluster-far ${(clusters / answered).toFixed(2)}`,
    ].join('  '));
  }
  const middle = ratios.sort((one, two) => one - two)[ratios.length >> 1];
  console.log(`${count}: held over all ${(allHeld / all).toFixed(4)}, median ratio `
    + `${middle.toFixed(2)}${tiny ? ' (tiny)' : ''}`);
}
