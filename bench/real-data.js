// The accuracy of the robust mean on shapes that real columns have: each figure beside its bar.
// Same seeds, same figures.
import { writeFileSync } from 'node:fs';
import { attacks, shapes } from './accuracy/data.js';
import { closePool } from './accuracy/private.js';
import { optionsOf } from './harness/options.js';
import { measuredRuns, piecesOptions } from './harness/over-cores.js';
import { writePart } from './harness/pages.js';
import { hasPython } from './harness/processes.js';
import { barsOf, summaryOf } from './real-data-bars.js';
import { guideTable, pageOf } from './real-data-page.js';
import { measured } from './real-data-runs.js';

const parts = [
  'clean', 'fewer', 'one-column', 'attacks', 'normal', 'diagnosis', 'flights', 'covariance',
  'small',
];
const options = optionsOf('Means of shapes that real columns have, beside their bars.', {
  part: { usual: 'all', means: `all, or some of ${parts.join(', ')}` },
  seeds: { usual: 11, tiny: 1, means: 'data sets of each attack; of clean shapes twice as many' },
  contributors: { usual: 1e5, tiny: 4e3, means: 'rows under attack; clean shapes have a half' },
  dimension: { usual: 10, tiny: 2, means: 'columns' },
  spread: { usual: 'auto,1', tiny: '1', means: 'auto and 1, the true deviation, or one of them' },
  set: { usual: 'shape=any', means: 'more parameters, name=value, separated by commas' },
  rows: { usual: 'normal,exponential,lognormal,condition-1e4', tiny: 'normal',
    means: 'shapes under attack' },
  attack: { usual: 'all', means: 'names of attacks, or all' },
  covariances: { usual: [5, 5e3, 5, 2e4, 10, 8e3, 10, 2e4, 10, 1e5], tiny: [2, 5e3],
    means: 'columns and rows for the covariance, in pairs' },
  small: { usual: [10, 1e3, 10, 1.6e3, 10, 3e3, 50, 4e3], tiny: [2, 1e3],
    means: 'columns and rows of small cohorts, in pairs' },
  python: { usual: 'python3', means: 'the interpreter that has numpy, for CoinPress' },
  ...piecesOptions,
  page: { usual: null, means: 'file to write the bars and tables of all lines of --out into' },
  guide: { usual: null, means: 'page of which the table of attacks is written anew' },
});
const { seeds, contributors, dimension } = options;
const settings = Object.fromEntries(options.set.split(',').map((text) => text.split('=', 2)));

const times = (count, run) => Array.from({ length: count }, (_, seed) => ({ ...run, seed }));
const pairsOf = (list) => list.flatMap((_, k) => (k % 2 === 0 ? [list.slice(k, k + 2)] : []));
const general = { attack: 'none', dimension, parameters: settings, estimator: 'robust-mean' };
/** Pareto rows have no fourth moment. No bar is about them. */
const shapeNames = Object.keys(shapes).filter((name) => name !== 'pareto');

function* cleanRuns() {
  for (const columns of new Set([dimension, 2])) {
    for (const rows of shapeNames) {
      const run = { ...general, part: 'clean', rows, contributors: contributors / 2 };
      yield* times(2 * seeds, { ...run, dimension: columns });
    }
    yield* times(2 * seeds, { ...general, part: 'clean', rows: 'normal', dimension: columns,
      contributors: contributors / 2, estimator: 'mean' });
  }
  for (const rows of shapeNames) {
    yield* times(2 * seeds, { ...general, part: 'fewer', rows, contributors: contributors / 5 });
  }
  for (const rows of ['exponential', 'lognormal', 'zero-inflated']) {
    yield* times(2 * seeds, { ...general, part: 'one-column', rows, dimension: 1,
      contributors: contributors / 10 });
  }
}

function* hostileRuns() {
  const chosen = options.attack === 'all' ? Object.keys(attacks) : options.attack.split(',');
  const asked = options.rows.split(',');
  for (const attack of chosen) {
    for (const rows of asked) {
      yield* times(seeds, { ...general, part: 'attacks', rows, attack, contributors });
    }
    for (const rows of ['normal', 'condition-1e4'].filter((name) => asked.includes(name))) {
      yield* times(seeds, { ...general, part: 'normal', rows, attack, contributors,
        parameters: { shape: 'light' } });
    }
  }
}

function* diagnosisRuns() {
  const wanted = [
    { count: contributors / 5, names: ['normal', 'lognormal', 'zero-inflated'] },
    { count: contributors, names: ['normal', 'exponential', 'likert', 'bimodal'] },
  ];
  for (const { count, names } of wanted) {
    for (const rows of names) {
      yield* times((rows === 'normal' ? 5 : 2) * seeds,
        { ...general, part: 'diagnosis', rows, contributors: count });
    }
  }
  for (const count of [contributors / 5, 2 * contributors]) {
    yield* times(2 * seeds, { ...general, part: 'flights', rows: 'flights', dimension: 2,
      contributors: count });
  }
}

function* peerRuns() {
  for (const [columns, count] of pairsOf(options.covariances)) {
    for (const condition of [1, 31]) {
      yield* times(seeds, { part: 'covariance', rows: `condition ${condition}`, condition,
        dimension: columns, contributors: count, estimator: 'covariance' });
    }
  }
  for (const [columns, count] of pairsOf(options.small)) {
    for (const reach of [10, 1000]) {
      const run = { part: 'small', reach, dimension: columns, contributors: count };
      const rows = `within ${reach}`;
      yield* times(2 * seeds, { ...run, rows, estimator: 'mean', parameters: {} });
      for (const [shape, more] of [['any', ''], ['normal', ', shape: light']]) {
        yield* times(2 * seeds, { ...run, rows: `${rows}${more}`, estimator: 'robust-mean',
          parameters: { shape } });
      }
    }
  }
}

function wantedRuns() {
  const chosen = options.part === 'all' ? parts : options.part.split(',');
  const hasPeers = hasPython('numpy', options.python);
  if (!hasPeers) console.log(`CoinPress is left out: ${options.python} has no numpy`);
  const peers = hasPeers ? peerRuns() : [];
  return [...cleanRuns(), ...hostileRuns(), ...diagnosisRuns(), ...peers].filter(({ part }) =>
    chosen.includes(part));
}

const keyOf = ({ part, estimator, rows, attack, contributors: count, dimension: columns, seed }) =>
  [part, estimator, rows, attack, count, columns, seed].join(' ');

const lines = await measuredRuns(wantedRuns(), (run) =>
  measured(run, { spreads: options.spread.split(','), python: options.python }), keyOf, options);
await closePool();
const bars = barsOf(lines);
for (const text of summaryOf(bars)) console.log(text);
if (options.page !== null) writeFileSync(options.page, pageOf(lines, bars));
/** Around the table in docs/guides/robust-means.md. */
const marks = ['<!-- attacks: made by npm run bench:pages -- bars -->', '<!-- end of attacks -->'];
if (options.guide !== null) writePart(options.guide, marks, guideTable(lines));
