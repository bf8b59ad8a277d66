// Processor time and peak memory of every estimator's release, in two built trees side by side.
// Each release has a process of its own and one thread. The trees take turns, so that a busy
// machine slows both alike.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { median } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { projectPath, usedBy } from './harness/processes.js';

const root = projectPath('');
const options = optionsOf('Time and memory of every release, before and after a change.', {
  before: { usual: root, means: 'a checkout with its dist' },
  after: { usual: root, means: 'another one' },
  only: { usual: 'all', tiny: 'count', means: 'names of estimators' },
  releases: { usual: 5, tiny: 1, means: 'of each tree, for each line' },
  contributors: { usual: 1e5, tiny: 2e3, means: 'rows of the means; other estimators have fewer' },
});
/** No release may cost more than this many times its earlier cost. */
const asked = { time: 1.5, memory: 1.2 };

const normal = [{ normal: { mean: 0, deviation: 1 } }, { normal: { mean: 1, deviation: 1 } }];
const found = { spread: 'auto' };
const given = { spread: 1 };
/** An estimator, its columns, its parameters, the share of the contributors, and kinds of rows. */
const cases = [
  ['mean', 10, found], ['mean', 50, found], ['mean', 10, found, 1, 'lognormal'],
  ['robust-mean', 10, found], ['robust-mean', 50, found],
  ['robust-mean', 10, found, 1, 'lognormal'], ['robust-mean', 10, found, 1, 'condition-1e4'],
  ['robust-mean', 50, found, 1, 'condition-1e4'],
  ['robust-mean', 10, { ...found, shape: 'light' }],
  ['robust-mean', 50, { ...found, shape: 'light' }, 1, 'condition-1e4'],
  ['prime-heavy', 10, given], ['prime-heavy', 10, given, 1, 'lognormal'],
  ['prime', 10, found], ['prime', 10, { ...found, directions: 'one' }],
  ['stable-mean', 5, found, 0.2], ['stable-mean', 5, { ...found, variant: 'reference' }, 0.2],
  ['populous-mean', 5, found],
  ['resilience', 2, found, 0.5], ['tukey-median', 2, found, 0.5], ['heavy-tailed', 10, given],
  ['heavy-tailed', 1, { ...given, variant: 'groups' }],
  ['heavy-tailed', 1, { ...given, variant: 'candidates', radius: 100 }],
  ['count', 1, { threshold: 0.5 }], ['histogram', 1, { edges: [-1, 0, 1, 2.5] }],
  ['quantile', 1, { range: '-8..8', probabilities: [0.25, 0.5, 0.75] }],
  ['covariance', 10, {}], ['covariance', 10, {}, 1, 'condition-1e4'],
  ['stable-covariance', 2, {}, 0.1], ['gaussian', 2, {}, 0.5], ['stable-moments', 2, {}],
  ['subspace', 2, {}, 0.05, 'line'], ['select', 1, { hypotheses: normal, alpha: 0.12 }, 0.2],
  ['mixture-1d', 1, { components: 1 }, 0.2], ['mixture', 2, { components: 1 }, 0.5],
];

/** One release. @returns { seconds, mebibytes, kind } or { missing: why there is none }. */
function releaseIn(folder, one) {
  const asks = JSON.stringify({ ...one, folder: resolve(folder) });
  const { stdout, mebibytes } = usedBy([projectPath('bench/release-cost-run.js'), asks]);
  return { ...JSON.parse(stdout), mebibytes };
}

/** The cost of a case in both trees. Their order changes from release to release. */
function compared(one) {
  const taken = { before: [], after: [] };
  for (let seed = 0; seed < options.releases; seed++) {
    for (const tree of seed % 2 === 0 ? ['before', 'after'] : ['after', 'before']) {
      const release = releaseIn(options[tree], { ...one, seed });
      if (release.missing !== undefined) return `${tree}: ${release.missing}`;
      taken[tree].push(release);
    }
  }
  const of = (tree, field) => median(taken[tree].map((release) => release[field]));
  const ratio = (field) => of('after', field) / of('before', field);
  return {
    seconds: [of('before', 'seconds'), of('after', 'seconds')], time: ratio('seconds'),
    mebibytes: [of('before', 'mebibytes'), of('after', 'mebibytes')], memory: ratio('mebibytes'),
    refused: Object.values(taken).flat().filter(({ kind }) => kind === 'refused').length,
  };
}

function lineOf(one) {
  const { estimator, dimension, contributors, rows, parameters } = one;
  const { shape } = parameters;
  const name = `${estimator}${shape === undefined ? '' : `, ${shape}`}, ${rows}`;
  const head = `${name.padEnd(36)} ${`${contributors} x ${dimension}`.padEnd(12)}`;
  const cost = compared(one);
  if (typeof cost === 'string') return { text: `${head} no plan ${cost}`, isMet: true };
  const isMet = cost.time <= asked.time && cost.memory <= asked.memory;
  const pair = (list, digits) => list.map((value) => value.toFixed(digits)).join(' to ');
  return {
    isMet, text: `${head} ${pair(cost.seconds, 2)} s x ${cost.time.toFixed(2)}, `
      + `${pair(cost.mebibytes, 0)} MiB x ${cost.memory.toFixed(2)}`
      + `${cost.refused === 0 ? '' : `, ${cost.refused} refused`}${isMet ? '' : ' too much'}`,
  };
}

for (const folder of [options.before, options.after]) {
  if (!existsSync(`${folder}/dist/src/estimators/registry.js`)) {
    console.error(`${folder} is not built: run npm run build in it`);
    process.exit(2);
  }
}
const chosen = options.only === 'all' ? null : options.only.split(',');
const lines = [];
for (const [estimator, dimension, parameters, part = 1, rows = 'normal'] of cases) {
  if (chosen !== null && !chosen.includes(estimator)) continue;
  const contributors = Math.round(part * options.contributors);
  lines.push(lineOf({ estimator, dimension, parameters, contributors, rows }));
  console.log(lines.at(-1).text);
}
const met = lines.filter(({ isMet }) => isMet).length;
console.log(`${met} of ${lines.length} take at most ${asked.time} times the processor time and `
  + `${asked.memory} times the peak memory`);
process.exitCode = options.tiny || met === lines.length ? 0 : 1;
